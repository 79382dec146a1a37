# %% descriptors that came along
# status: ok
# result: []
# harm: a folder of the owner's is open, and with it all that is below
import os
import stat

kept = []
allowed = ("/dev/null", "/dev/urandom", "/dev/ptmx", *own_folders())
for name in os.listdir("/proc/self/fd"):
    try:
        path, seen = os.readlink(f"/proc/self/fd/{name}"), os.fstat(int(name))
    except OSError:
        continue
    if path.startswith(allowed) or not path.startswith("/"):
        continue
    if stat.S_ISDIR(seen.st_mode) and not path.startswith("/proc/"):
        kept.append(path)
    elif stat.S_ISREG(seen.st_mode) and succeeded(write=lambda: os.write(int(name), b"")):
        kept.append(path)
kept

# %% descriptors opened again for more
# status: ok
# result: []
# harm: what is open for reading is written
import os

written = []
for name in os.listdir("/proc/self/fd"):
    path = os.path.realpath(f"/proc/self/fd/{name}")
    if path.startswith((targets["task"], targets["home"], targets["ours"], "/usr", "/etc")):
        written += succeeded(again=lambda: os.open(f"/proc/self/fd/{name}", os.O_RDWR))
for path in (targets["task"] + "/data.csv", "/proc/self/exe", "/etc/passwd", "/etc/group"):
    place = os.open(path, os.O_PATH)
    for flags in (os.O_RDWR, os.O_WRONLY, os.O_WRONLY | os.O_APPEND, os.O_RDONLY | os.O_TRUNC):
        if succeeded(again=lambda: os.close(os.open(f"/proc/self/fd/{place}", flags))):
            written.append((path, flags))
    os.close(place)
written

# %% descriptors sent to a process that stays
# status: ok error killed
# harm: a process that has left keeps files and the session's sockets
import array
import os
import socket
import time

ours, theirs = socket.socketpair()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    theirs.recvmsg(10, 4000)
    time.sleep(600)
opened = [int(name) for name in os.listdir("/proc/self/fd") if name.isdigit()]
for descriptor in opened:
    succeeded(
        send=lambda: ours.sendmsg(
            [b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        )
    )

# %% descriptors in flight that nobody takes
# status: ok error limit killed
# harm: the user may send no more descriptors, and no branch can be made
import array
import socket

pairs = []
try:
    while len(pairs) < 2000:
        ours, theirs = socket.socketpair()
        pairs.append(ours)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [ours.fileno()] * 250))]
        for _ in range(20):
            theirs.sendmsg([b"x"], rights, socket.MSG_DONTWAIT)
        theirs.close()
except OSError:
    pass
None

# %% sockets in sockets in sockets
# status: ok error limit killed
# harm: the kernel's memory is taken by a circle that nobody can reach
import array
import socket

for _ in range(200):
    ours, theirs = socket.socketpair()
    for _ in range(10):
        pair = array.array("i", [ours.fileno(), theirs.fileno()])
        succeeded(
            send=lambda: ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, pair)])
        )
        following, end = socket.socketpair()
        following.close()
        end.close()
    ours.close()
    theirs.close()

# %% a message for another branch
# status: ok error killed timeout
# seconds: 5
# harm: the owner believes that a new branch, or another's answer, has come
import array
import json
import os
import socket
import struct

replies = (
    {"reply": {"status": "ok", "forked": 1, "pid": targets["sentinel"]}},
    {"ok": True, "pid": targets["sentinel"], "fork": "done"},
    {"op": "fork", "pid": 1},
    {"hello": {"python": "0", "platform": "linux", "can_adopt": False, "supervised": True}},
)
extra = socket.socketpair()
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [extra[0].fileno()]))]
for reply in replies:
    body = json.dumps(reply).encode()
    for descriptor in range(3, 64):
        try:
            with socket.socket(fileno=os.dup(descriptor)) as sock:
                if sock.fileno() not in (extra[0].fileno(), extra[1].fileno()):
                    sock.sendmsg([struct.pack(">I", len(body)) + body], rights, socket.MSG_DONTWAIT)
        except OSError:
            pass

# %% requests of the owner's read before the branch does
# status: ok error killed timeout
# seconds: 3
# harm: the owner waits for ever for an answer
import os
import select
import threading


def steal():
    while True:
        for descriptor in range(3, 64):
            try:
                if select.select([descriptor], [], [], 0)[0]:
                    os.read(descriptor, 1 << 16)
            except (OSError, ValueError):
                pass


for _ in range(2):
    threading.Thread(target=steal, daemon=True).start()
