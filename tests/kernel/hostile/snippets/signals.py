# %% a deaf ear for SIGINT
# status: timeout
# limits: wall_seconds
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    pass

# %% all signals blocked
# status: timeout
# limits: wall_seconds
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass

# %% all signals ignored
# status: timeout
# limits: wall_seconds
import contextlib
import signal

for number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
while True:
    pass

# %% an alarm
# status: killed
# says: SIGALRM
import signal
import time

signal.alarm(1)
time.sleep(5)

# %% a timer that goes on raising
# status: ok error killed timeout
# seconds: 3
import signal


def burst(*_):
    raise RuntimeError("burst")


signal.signal(signal.SIGALRM, burst)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

# %% everybody is to be killed
# status: error
# ename: PermissionError
import os

os.kill(-1, 9)

# %% the keeper is to be killed
# status: error
# ename: PermissionError
import os

os.kill(os.getppid(), 9)

# %% everybody is to be killed one by one
# status: ok
# result: []
import os
import signal

hit = []
for pid in range(1, 400):
    if pid == os.getpid():
        continue
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT):
        for kill in (os.kill, os.killpg):
            try:
                kill(pid, number)
                hit.append((pid, number))
            except OSError:
                pass
hit

# %% a kill by way of a file's owner
# status: ok
# result: 'alive'
import ctypes
import fcntl
import os
import signal

for target in (os.getppid(), targets["sentinel"], -targets["sentinel"], targets["root"]):
    read_end, write_end = os.pipe()
    for command, argument in ((fcntl.F_SETOWN, target), (10, signal.SIGKILL)):
        try:
            fcntl.fcntl(read_end, command, argument)
        except OSError:
            pass
    flags = fcntl.fcntl(read_end, fcntl.F_GETFL)
    fcntl.fcntl(read_end, fcntl.F_SETFL, flags | os.O_ASYNC)
    os.write(write_end, b"x")
"alive"

# %% limits and priorities of others
# status: ok
# result: []
import os
import resource

hit = []
for pid in {os.getppid(), targets["sentinel"], targets["root"], 1, 2}:
    for attempt in (
        lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)),
        lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        lambda: os.setpriority(os.PRIO_PGRP, pid, 19),
        lambda: os.sched_setaffinity(pid, {0}),
        lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
    ):
        try:
            attempt()
            hit.append(pid)
        except OSError:
            pass
try:
    os.setpriority(os.PRIO_USER, 0, 19)
    hit.append("user")
except OSError:
    pass
hit

# %% a hand on every thread by the raw call
# status: ok
# result: []
import ctypes
import os

kill, tkill, tgkill, queue = {
    "x86_64": (62, 200, 234, 129),
    "aarch64": (129, 130, 131, 138),
}[os.uname().machine]
info = ctypes.create_string_buffer(128)
hit = []
for pid in {os.getppid(), targets["sentinel"], targets["root"]}:
    for call in ((kill, pid, 9), (tkill, pid, 9), (tgkill, pid, pid, 9), (queue, pid, 9, info)):
        if libc.syscall(*call) == 0:
            hit.append(call)
hit

# %% numbers that are no processes
# status: ok
# result: []
import ctypes
import os

calls = {
    "x86_64": (62, 200, 234, 129, 297, 302, 203, 142, 141, 251, 279),
    "aarch64": (129, 130, 131, 138, 240, 261, 122, 118, 140, 30, 239),
}[os.uname().machine]
odd = (-(2**31), 2**31, 2**31 - 1, -2, 2**32 - 1, 2**63 - 1, 1 - 2**63, 2**22, 2**22 + 1)
done = []
for call in calls:
    for one in odd:
        for two in (*odd, 0, 1):
            words = (ctypes.c_long(number) for number in (call, one, two, 9, 0, 0))
            # 0 is the caller: it may make itself less important, and nobody else.
            if libc.syscall(*words) >= 0 and (call, two) not in ((141, 0), (140, 0)):
                done.append((call, one, two))
done
