# %% a FIFO of the user's is written
# status: ok error
# result: []
# harm: the user's program at the other end does what is written
import os

succeeded(
    write=lambda: os.write(os.open(targets["fifo"], os.O_WRONLY | os.O_NONBLOCK), b"hello"),
    both=lambda: os.write(os.open(targets["fifo"], os.O_RDWR | os.O_NONBLOCK), b"hello"),
    append=lambda: os.write(os.open(targets["fifo"], 0o2001 | os.O_NONBLOCK), b"hello"),
)

# %% a FIFO of the user's by its descriptor
# status: ok error
# result: []
# harm: a descriptor that was opened for its place only is opened again for writing
import os

place = os.open(targets["fifo"], os.O_PATH)
succeeded(
    again=lambda: os.write(os.open(f"/proc/self/fd/{place}", os.O_WRONLY | os.O_NONBLOCK), b"x")
)

# %% a stream to a socket of the user's by other paths
# status: ok error
# result: []
# harm: a service of the user's does what is asked
import os
import socket


def reach(path, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as sock:
        sock.connect(path)
        sock.send(b"hello")


folder = os.open(targets["task"], os.O_PATH)
try:
    os.symlink(targets["socket"], "link")
except OSError:
    pass
succeeded(
    plain=lambda: reach(targets["socket"]),
    linked=lambda: reach("link"),
    by_folder=lambda: reach(f"/proc/self/fd/{folder}/socket"),
    packets=lambda: reach(targets["socket"], socket.SOCK_SEQPACKET),
)

# %% datagrams to sockets of the user's
# status: ok error
# result: []
# harm: a service of the user's does what is asked
import socket


def send(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"hello", address)


succeeded(
    path=lambda: send(targets["datagrams"]),
    abstract=lambda: send("\0" + targets["abstract_datagrams"]),
)

# %% a pair of sockets that is turned outwards
# status: ok error
# result: []
# harm: where no socket can be made, one end of a pair reaches a service of the user's
import socket


def turn(address, kind):
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    succeeded(part=lambda: ours.connect(""))
    ours.connect(address)
    ours.send(b"hello")


def send(address):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendto(b"hello", address)


succeeded(
    datagrams=lambda: turn(targets["datagrams"], socket.SOCK_DGRAM),
    raw=lambda: turn(targets["datagrams"], socket.SOCK_RAW),
    reliable=lambda: turn(targets["datagrams"], 4),
    unknown=lambda: turn(targets["datagrams"], 7),
    stream=lambda: turn(targets["socket"], socket.SOCK_STREAM),
    packets=lambda: turn(targets["socket"], socket.SOCK_SEQPACKET),
    sent=lambda: send(targets["datagrams"]),
    abstract=lambda: turn("\0" + targets["abstract_datagrams"], socket.SOCK_DGRAM),
    sent_abstract=lambda: send("\0" + targets["abstract_datagrams"]),
)

# %% a name in the abstract that others use
# status: ok error
# harm: a program of the user's takes this branch for a service
import os
import socket
import time

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    succeeded(bind=lambda: socket.socket(socket.AF_UNIX, kind).bind(f"\0{targets['tag']}-made"))
if os.fork() == 0:
    os.setsid()
    sock = socket.socketpair()[0]
    succeeded(
        bind=lambda: socket.socket(socket.AF_UNIX).bind(f"\0{targets['tag']}-made-kept"),
        wait=lambda: time.sleep(600),
    )

# %% services that machines have
# status: ok
# result: []
# harm: a container engine or the session's bus does what is asked, as the user
import glob
import os
import socket


def reach(path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(1)
        sock.connect(path)


found = glob.glob("/run/**/*.sock", recursive=True) + glob.glob("/run/**/*bus*", recursive=True)
found += glob.glob("/tmp/.X11-unix/*") + glob.glob("/tmp/ssh-*/*")
found += ["\0/tmp/.X11-unix/X0", "/run/docker.sock", "/run/systemd/private"]
[path for path in found if succeeded(reach=lambda: reach(path))]

# %% a terminal of the user's
# status: ok
# result: []
# harm: what is put into a terminal runs as if the user had typed it
import fcntl
import os
import termios


def put_in(path):
    terminal = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    os.write(terminal, b"hello")
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")


[path for path in (targets["terminal"], "/dev/tty", "/dev/console", "/dev/tty0")
 if succeeded(put=lambda: put_in(path))]

# %% a terminal of our own that becomes the session's
# status: ok error
# harm: signals of a terminal reach the owner or other branches
import fcntl
import os
import struct
import termios


def take():
    ours, theirs = os.openpty()
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 1)
    for pid in (targets["sentinel"], targets["root"], os.getppid(), 1):
        succeeded(group=lambda: fcntl.ioctl(theirs, termios.TIOCSPGRP, struct.pack("i", pid)))
        succeeded(interrupt=lambda: os.write(ours, b"\x03\x1c\x1a"))


if os.fork() == 0:
    succeeded(take=take)
    os._exit(0)

# %% devices
# status: ok
# result: []
# harm: memory, disks, the network or other users' sessions are reached
import glob
import os
import stat

harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"}
opened = []
for path in glob.glob("/dev/*") + glob.glob("/dev/*/*"):
    if path.split("/")[2] in harmless | {"shm", "fd", "stdin", "stdout", "stderr", "core"}:
        continue
    try:
        mode = os.stat(path).st_mode
    except OSError:
        continue
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        for flags in (os.O_RDONLY, os.O_WRONLY):
            if succeeded(open=lambda: os.close(os.open(path, flags | os.O_NONBLOCK))):
                opened.append(path)
opened

# %% devices of our own making
# status: ok
# result: []
# harm: a node for the disk is made where writing is allowed, to be opened by somebody
import os
import stat

made = []
for folder in [*own_folders(), "/tmp"]:
    for name, kind, major, minor in (
        ("memory", stat.S_IFCHR, 1, 1),
        ("disk", stat.S_IFBLK, 254, 0),
        ("sda", stat.S_IFBLK, 8, 0),
        ("fuse", stat.S_IFCHR, 10, 229),
    ):
        node = os.path.join(folder, "node-" + name)
        if succeeded(make=lambda: os.mknod(node, kind | 0o600, os.makedev(major, minor))):
            made.append(node)
made

# %% sockets of the kernel's own
# status: ok
# result: []
# harm: routes, addresses, rules of the firewall, records of an audit are changed
import socket
import struct


def ask(protocol, kind, payload):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as sock:
        sock.settimeout(1)
        sock.bind((0, 0))
        header = struct.pack("=IHHII", 16 + len(payload), kind, 5, 1, 0)
        sock.send(header + payload)
        error = struct.unpack("=i", sock.recv(1000)[16:20])[0]
        if error:
            raise OSError(-error, "refused")


# The loopback is up already, so who may say so has changed nothing.
link_up = struct.pack("=BxHiII", 0, 0, 1, 1, 1)
succeeded(
    link=lambda: ask(0, 16, link_up),
    audit=lambda: ask(9, 1100, b"hello"),
)
