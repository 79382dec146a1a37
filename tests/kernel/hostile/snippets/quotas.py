# %% five gigabytes in the working folder
# status: ok error limit killed timeout
# seconds: 40
# harm: the user's disk is full
import os

kept = []
for number in range(6):
    kept.append(os.open(f"large-{number}", os.O_RDWR | os.O_CREAT))
    succeeded(take=lambda: os.posix_fallocate(kept[-1], 0, 900 << 20))

# %% five gigabytes in the home and in the folder for temporary files
# status: ok error limit killed timeout
# seconds: 40
# harm: the user's disk is full
import os
import tempfile

kept = []
for number in range(6):
    place = (os.path.expanduser("~"), tempfile.gettempdir())[number % 2]
    kept.append(os.open(f"{place}/large-{number}", os.O_RDWR | os.O_CREAT))
    succeeded(take=lambda: os.posix_fallocate(kept[-1], 0, 900 << 20))

# %% five gigabytes in /tmp and in shared memory
# status: ok error limit killed timeout
# seconds: 40
# harm: the machine has no memory left
import os

kept = []
for number in range(12):
    path = f"{('/tmp', '/dev/shm')[number % 2]}/{targets['tag']}-{number}"
    succeeded(
        open=lambda: kept.append(os.open(path, os.O_RDWR | os.O_CREAT)),
        take=lambda: os.posix_fallocate(kept[-1], 0, 900 << 20),
    )

# %% five gigabytes in files without a name
# status: ok error limit killed timeout
# seconds: 40
# harm: the user's disk is full, and nobody sees of what
import os

kept = []
for number in range(6):
    kept.append(os.open(f"gone-{number}", os.O_RDWR | os.O_CREAT))
    os.unlink(f"gone-{number}")
    succeeded(take=lambda: os.posix_fallocate(kept[-1], 0, 900 << 20))
for number in range(6):
    succeeded(
        open=lambda: kept.append(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)),
        take=lambda: os.posix_fallocate(kept[-1], 0, 900 << 20),
    )

# %% five gigabytes that are written by many processes
# status: ok error limit killed timeout
# seconds: 40
# harm: what is counted for one process is not for many
import os
import time

for number in range(6):
    if os.fork() == 0:
        os.setsid()
        try:
            mine = os.open(f"part-{number}", os.O_RDWR | os.O_CREAT)
            os.posix_fallocate(mine, 0, 900 << 20)
        except OSError:
            pass
        time.sleep(600)
time.sleep(3)

# %% files without a name in memory
# status: ok error limit killed timeout
# seconds: 20
# harm: memory is taken that belongs to no process
import os

kept = []
for _ in range(6):
    succeeded(
        open=lambda: kept.append(os.memfd_create("large")),
        take=lambda: os.posix_fallocate(kept[-1], 0, 900 << 20),
    )

# %% two hundred thousand empty files
# status: ok error limit killed timeout
# seconds: 40
# harm: the disk can hold no more files
import os

try:
    for folder in range(200):
        os.mkdir(f"many-{folder}")
        for number in range(1000):
            os.close(os.open(f"many-{folder}/{number}", os.O_CREAT | os.O_WRONLY))
except OSError:
    pass

# %% two hundred thousand folders
# status: ok error limit killed timeout
# seconds: 40
# harm: the disk can hold no more files
import os
import tempfile

try:
    for folder in range(200):
        for place in (os.getcwd(), tempfile.gettempdir(), os.path.expanduser("~"), "/dev/shm"):
            succeeded(make=lambda: os.mkdir(f"{place}/many-{folder}"))
            for number in range(250):
                os.mkdir(f"{place}/many-{folder}/{number}")
except OSError:
    pass

# %% a hundred thousand names of one file
# status: ok error limit killed timeout
# seconds: 40
# harm: the owner takes minutes to remove them
import os

try:
    for folder in range(40):
        os.mkdir(f"names-{folder}")
        open(f"names-{folder}/one", "w").close()
        for number in range(2500):
            os.link(f"names-{folder}/one", f"names-{folder}/{number}")
except OSError:
    pass

# %% folders a thousand deep
# status: ok error limit killed timeout
# then: clean
# seconds: 40
# harm: the owner runs out of stack or of descriptors when it removes them
import os

here = os.getcwd()
try:
    for _ in range(5000):
        os.mkdir("deeper")
        os.chdir("deeper")
except OSError:
    pass
os.chdir(here)

# %% a file of a terabyte that takes no room
# status: ok error limit killed
# harm: who copies the folder fills the disk
import os

for name in ("sparse-1", "sparse-2"):
    with open(name, "w") as file:
        succeeded(grow=lambda: os.ftruncate(file.fileno(), 1 << 40))
        succeeded(less=lambda: os.ftruncate(file.fileno(), 1 << 29))

# %% pipes that are full
# status: ok error limit killed timeout
# seconds: 20
# harm: memory of the kernel's is taken that belongs to no process
import fcntl
import os

ends = []
try:
    while True:
        ends.append(os.pipe())
        succeeded(size=lambda: fcntl.fcntl(ends[-1][1], 1031, 1 << 20))
        os.set_blocking(ends[-1][1], False)
        succeeded(fill=lambda: os.write(ends[-1][1], bytes(1 << 20)))
except OSError:
    pass
None

# %% attributes that hold data
# status: ok error limit killed timeout
# seconds: 20
# harm: the disk is full, though no file is large
import os

try:
    for number in range(3000):
        with open(f"attributed-{number}", "w") as file:
            os.setxattr(file.name, "user.data", bytes(3000))
except OSError:
    pass
