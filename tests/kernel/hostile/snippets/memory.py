# %% a list that grows
# status: limit
# ename: MemoryError
# limits: memory_bytes
# memory: 500
grown = []
while True:
    grown.append(bytes(1_000_000))

# %% a terabyte at once
# status: limit
# ename: MemoryError
# limits: memory_bytes
bytearray(1 << 40)

# %% an array larger than the machine
# status: limit
# limits: memory_bytes
import numpy

numpy.ones(1 << 40)

# %% a text that doubles
# status: limit
# ename: MemoryError
# limits: memory_bytes
# memory: 500
text = "x"
while True:
    text += text

# %% memory that is mapped
# status: limit
# ename: OSError MemoryError
# limits: memory_bytes
# memory: 500
import mmap

mapped = []
while True:
    mapped.append(mmap.mmap(-1, 1 << 26))
    mapped[-1].write(b"x" * (1 << 26))

# %% memory in many processes
# status: limit
# ename: MemoryLimitError
# limits: memory_bytes
# memory: 600
import os
import time

for _ in range(12):
    if os.fork() == 0:
        kept = b"x" * (100 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(60)

# %% memory that forks share is counted once
# status: ok
# result: 8
# memory: 600
import os
import time

kept = b"x" * (150 << 20)
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        time.sleep(0.5)
        os._exit(0)
    children.append(child)
len([os.waitpid(child, 0) for child in children])

# %% memory in files without a name
# status: error
# ename: OSError
import os

kept = []
while True:
    kept.append(os.memfd_create("kept"))
    os.write(kept[-1], bytes(1 << 26))

# %% memory in temporary files
# status: limit
# ename: OSError
# status in landlock: error
# ename in landlock: PermissionError
# says: No space left
# says in landlock: denied
for number in range(100):
    with open(f"/dev/shm/kept{number}", "wb") as file:
        file.write(bytes(1 << 26))

# %% a file larger than allowed
# status: limit
# ename: OSError
# limits: file_bytes
with open("large.bin", "wb") as file:
    file.seek(1 << 40)
    file.write(b"x")

# %% more open files than allowed
# status: limit
# ename: OSError
# limits: open_files
kept = []
while True:
    kept.append(open("/dev/null"))
