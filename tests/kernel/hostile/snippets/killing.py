# %% a timer that wakes a foreign thread
# status: ok error
# harm: a thread of the owner or of another branch gets a signal
import ctypes
import os
import signal
import struct

create = {"x86_64": 222, "aarch64": 107}[os.uname().machine]
timer = ctypes.c_int()
for pid in (targets["root"], targets["sentinel"], os.getppid(), 1, 2):
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        event = ctypes.create_string_buffer(struct.pack("qiii", 0, number, 4, pid), 64)
        libc.syscall(create, 1, event, ctypes.byref(timer))

# %% owners of sockets and terminals
# status: ok error
# harm: another process gets a signal whenever something comes
import fcntl
import os
import signal
import socket
import struct

for pid in (targets["root"], targets["sentinel"], os.getppid(), 1, targets["bystander"]):
    ours, theirs = socket.socketpair()
    for number in (pid, -pid):
        word = struct.pack("i", number)
        succeeded(
            owner=lambda: fcntl.ioctl(ours, 0x8901, word),
            group=lambda: fcntl.ioctl(ours, 0x8902, word),
            command=lambda: fcntl.fcntl(ours, 8, number),
            extended=lambda: fcntl.fcntl(ours, 15, struct.pack("ii", 1, pid)),
            signal=lambda: fcntl.fcntl(ours, 10, signal.SIGKILL),
            asynchronous=lambda: fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK),
        )
    theirs.send(b"x")

# %% a child that becomes the keeper's
# status: ok error limit
# result: 0
# harm: it belongs to no branch, and stays when the branch has ended
import ctypes
import os
import time

clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
parent = os.getppid()
for _ in range(5):
    # CLONE_PARENT
    child = libc.syscall(*(ctypes.c_long(word) for word in (clone, 0x8000 | 17, 0, 0, 0, 0)))
    if child == 0:
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        time.sleep(600)
0

# %% a child whose end kills
# status: ok error limit killed
# harm: the signal for its end goes to the keeper
import ctypes
import os
import time

clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
for number in (9, 19, 15):
    if os.fork() == 0:
        child = libc.syscall(*(ctypes.c_long(word) for word in (clone, number, 0, 0, 0, 0)))
        if child == 0:
            time.sleep(0.2)
            os._exit(0)
        os._exit(0)
    child = libc.syscall(*(ctypes.c_long(word) for word in (clone, 0x8000 | number, 0, 0, 0, 0)))
    if child == 0:
        os._exit(0)
time.sleep(0.4)

# %% orphans that we adopt
# status: ok error limit
# harm: the keeper does not learn of them, and they stay
import os
import time

libc.prctl(36, 1, 0, 0, 0)
for _ in range(3):
    if os.fork() == 0:
        libc.prctl(36, 1, 0, 0, 0)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.setsid()
                libc.prctl(1, 0, 0, 0, 0)
                time.sleep(600)
            os._exit(0)
        os._exit(0)

# %% groups of processes joined
# status: ok
# result: []
# harm: a signal for our own group reaches another branch
import os
import signal

joined = []
for pid in (targets["sentinel"], targets["root"], os.getppid(), 1):
    child = os.fork()
    if child == 0:
        signal.pause()
    for who, group in ((child, pid), (0, pid), (pid, 0), (pid, child)):
        if succeeded(join=lambda: os.setpgid(who, group)):
            if (who, group) != (child, child):
                joined.append((who == child, group))
    for group in (os.getpgid(0), pid):
        if group != os.getpgid(0):
            succeeded(kill=lambda: os.killpg(group, signal.SIGKILL))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
joined

# %% more than our share of the processors
# status: ok
# result: []
# harm: nothing else of the machine runs
import os

parameters = os.sched_param(50)
succeeded(
    fifo=lambda: os.sched_setscheduler(0, os.SCHED_FIFO, parameters),
    round_robin=lambda: os.sched_setscheduler(0, os.SCHED_RR, parameters),
    nice=lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    all_of_memory=lambda: libc.mlockall(3) if os.geteuid() else -1,
    disk=lambda: libc.syscall({"x86_64": 251, "aarch64": 30}[os.uname().machine], 1, 0, 1 << 13),
)

# %% the first to be killed when memory is short
# status: ok
# result: []
# harm: another process is killed in our place
import os

# A file object would learn of a refusal only when it is closed.
succeeded(write=lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"))

# %% signals in a queue without an end
# status: ok error timeout
# seconds: 5
# harm: the user's other programs get no signals with a message any more
import ctypes
import os
import signal

number = signal.SIGRTMIN + 1
signal.pthread_sigmask(signal.SIG_BLOCK, {number})
for _ in range(200_000):
    if libc.sigqueue(os.getpid(), ctypes.c_int(number), ctypes.c_void_p(0)) == -1:
        break

# %% timers and watches without an end
# status: ok error limit timeout
# seconds: 5
# harm: the user's other programs can't have any more
import ctypes
import os

kept = []
for make in (
    lambda: libc.inotify_init1(0),
    lambda: libc.timerfd_create(1, 0),
    lambda: libc.eventfd(0, 0),
    lambda: libc.epoll_create1(0),
):
    while len(kept) < 5000 and make() >= 0:
        kept.append(make)
None
