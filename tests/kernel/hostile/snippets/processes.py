# %% forks without an end
# status: limit
# ename: BlockingIOError
# limits: processes
import os

while True:
    os.fork()

# %% forks without an end that take no refusal
# status: timeout
# limits: wall_seconds processes
# seconds: 3
import os

while True:
    try:
        os.fork()
    except BaseException:
        pass

# %% forks that leave their session
# status: limit
# ename: BlockingIOError
# limits: processes
import os
import time

while True:
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(60)
        os._exit(0)

# %% processes without an end
# status: limit
# ename: BlockingIOError
# limits: processes
import subprocess

kept = []
while True:
    kept.append(subprocess.Popen(["sleep", "60"], start_new_session=True))

# %% a shell that forks without an end
# status: ok timeout killed
# seconds: 3
import subprocess

subprocess.run(["sh", "-c", "bomb() { bomb | bomb & }; bomb; sleep 60"], stderr=subprocess.DEVNULL)

# %% a pool of a thousand workers
# status: limit error timeout
# seconds: 10
import multiprocessing

with multiprocessing.get_context("fork").Pool(1000) as pool:
    print(pool.map(abs, range(10)))

# %% a daemon that outlives the cell
# status: ok
import subprocess

started = subprocess.run(
    ["sh", "-c", "setsid sh -c 'sleep 600 & exec sleep 600' & setsid sleep 600 &"]
)

# %% children that nobody waits for
# status: ok
import os

for _ in range(40):
    if os.fork() == 0:
        os._exit(0)

# %% a child that kills its parent
# status: killed
# says: SIGKILL
import os
import time

if os.fork() == 0:
    os.kill(os.getppid(), 9)
time.sleep(5)

# %% threads without an end
# status: limit
# ename: RuntimeError
# limits: processes
import threading
import time

while True:
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()

# %% threads that go on printing
# status: ok
# then: clean
import threading
import time


def chatter():
    while True:
        print("chatter")
        time.sleep(0.01)


for _ in range(5):
    threading.Thread(target=chatter, daemon=True).start()

# %% a process that goes on printing
# status: ok
# then: clean
import os
import time

if os.fork() == 0:
    while True:
        print("chatter")
        time.sleep(0.01)

# %% an exit without a word
# status: killed
# says: exit code 3
import os

os._exit(3)

# %% an exit
# status: error
# ename: SystemExit
import sys

sys.exit(3)

# %% an abort
# status: killed
# says: SIGABRT
import os

os.abort()

# %% it kills itself
# status: killed
# says: SIGKILL
import os
import signal

os.kill(os.getpid(), signal.SIGKILL)

# %% it stops itself
# status: timeout
# limits: wall_seconds
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)

# %% it kills its group
# status: killed
# says: SIGKILL
import os

os.killpg(0, 9)

# %% a pointer to nowhere is read
# status: killed
# says: SIGSEGV
import ctypes

ctypes.string_at(0)

# %% a pointer to nowhere is written
# status: killed
# says: SIGSEGV
import ctypes

ctypes.memset(8, 1, 1 << 20)

# %% a stack that overflows in C
# status: killed
# says: SIGSEGV
import faulthandler

faulthandler._stack_overflow()
