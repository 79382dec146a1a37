# %% flags of the user's files
# status: ok
# result: []
# harm: a file can't be changed any more, or is left out of backups
import ctypes
import fcntl
import os

GET, SET, SET_VERSION, SET_EXTENDED, GET_EXTENDED = (
    0x80086601, 0x40086602, 0x40087602, 0x401C5820, 0x801C581F
)
changed = []
for path in (targets["task"] + "/data.csv", targets["task"] + "/deep", targets["task"]):
    place = os.open(path, os.O_RDONLY)
    extended = bytearray(28)
    attacks = {
        "flags": lambda: fcntl.ioctl(place, SET, (0x40).to_bytes(8, "little")),
        "append": lambda: fcntl.ioctl(place, SET, (0x20).to_bytes(8, "little")),
        "version": lambda: fcntl.ioctl(place, SET_VERSION, (7).to_bytes(8, "little")),
        "extended": lambda: fcntl.ioctl(place, SET_EXTENDED, bytes([128] + [0] * 27)),
        "verity": lambda: fcntl.ioctl(place, 0x40806685, bytes(128)),
        "encryption": lambda: fcntl.ioctl(place, 0x800C6613, bytes(12)),
    }
    changed += [(path, name) for name in succeeded(**attacks)]
    os.close(place)
changed

# %% attributes of the user's files
# status: ok
# result: []
# harm: a program of the user's believes what an attribute says
import os

path = targets["task"] + "/data.csv"
place = os.open(path, os.O_RDONLY)
by_place = f"/proc/self/fd/{place}"
succeeded(
    set=lambda: os.setxattr(path, "user.left", b"x"),
    replace=lambda: os.setxattr(path, "user.kept", b"x", os.XATTR_REPLACE),
    remove=lambda: os.removexattr(path, "user.kept"),
    by_descriptor=lambda: os.setxattr(place, "user.left", b"x"),
    by_place=lambda: os.setxattr(by_place, "user.left", b"x"),
    access=lambda: os.setxattr(path, "system.posix_acl_access", b"\2\0\0\0" + b"\1\0\7\0\xff\xff\xff\xff"),
    capability=lambda: os.setxattr(path, "security.capability", bytes(20)),
    trusted=lambda: os.setxattr(path, "trusted.x", b"x"),
    at=lambda: libc.syscall(463, -100, path.encode(), 0, b"user.left", bytes(16), 16),
    remove_at=lambda: libc.syscall(466, -100, path.encode(), 0, b"user.kept"),
)

# %% rights and times of the user's files
# status: ok
# result: True
# harm: others read or write the user's files; a build believes that nothing has changed
import os


def state():
    stats = [os.stat(where) for where in (path, targets["task"])]
    return [(one.st_mode, one.st_uid, one.st_gid, one.st_mtime_ns) for one in stats]


path = targets["task"] + "/data.csv"
place, readable = os.open(path, os.O_PATH), os.open(path, os.O_RDONLY)
folder = os.open(targets["task"], os.O_RDONLY)
before = state()
# Some are said to be done, and are not: copying a file would fail otherwise.
through = succeeded(
    plain=lambda: os.chmod(path, 0o666),
    by_descriptor=lambda: os.fchmod(readable, 0o666),
    at=lambda: os.chmod("data.csv", 0o666, dir_fd=folder),
    by_place=lambda: os.chmod(f"/proc/self/fd/{place}", 0o666),
    newer=lambda: libc.syscall(452, place, b"", 0o666, 0x1000),
    folder=lambda: os.fchmod(folder, 0o777),
    owner=lambda: os.chown(path, 1, 1),
    times=lambda: os.utime(path),
    times_by_descriptor=lambda: os.utime(readable, (1, 1)),
    times_of_folder=lambda: os.utime(folder, (1, 1)),
    times_by_place=lambda: os.utime(f"/proc/self/fd/{readable}", (1, 1)),
)
state() == before

# %% contents of the user's files by rare calls
# status: ok
# result: []
# harm: a file that may only be read is changed
import fcntl
import mmap
import os

path = targets["task"] + "/data.csv"
readable = os.open(path, os.O_RDONLY)
own = os.open("own", os.O_RDWR | os.O_CREAT)
os.write(own, b"x" * 10)
succeeded(
    truncate=lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
    create=lambda: os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_TRUNC)),
    path=lambda: os.truncate(path, 0),
    descriptor=lambda: os.ftruncate(readable, 0),
    again=lambda: os.close(os.open(f"/proc/self/fd/{readable}", os.O_RDWR)),
    without_name=lambda: os.close(os.open(targets["task"], os.O_TMPFILE | os.O_RDWR)),
    hole=lambda: libc.fallocate(readable, 3, 0, 4),
    clone=lambda: fcntl.ioctl(readable, 0x40049409, own),
    copy=lambda: os.copy_file_range(own, readable, 5, 0, 0),
    send=lambda: os.sendfile(readable, own, 0, 5),
    map=lambda: mmap.mmap(readable, 4096, prot=mmap.PROT_WRITE),
    exchange=lambda: libc.renameat2(-100, path.encode(), -100, b"own", 2),
    replace=lambda: os.replace("own", path),
    remove=lambda: os.unlink(path),
    folder=lambda: os.mkdir(targets["task"] + "/made"),
    link=lambda: os.symlink("x", targets["task"] + "/made"),
    fifo=lambda: os.mkfifo(targets["task"] + "/made"),
)

# %% locks and leases on the user's files
# status: ok
# harm: the user's program waits when it opens its own file
import fcntl
import os

held = []
for name in ("data.csv", "calc.py", "deep/more.txt"):
    file = open(os.path.join(targets["task"], name))
    held.append(file)
    succeeded(
        lock=lambda: fcntl.flock(file, fcntl.LOCK_EX),
        record=lambda: fcntl.lockf(file, fcntl.LOCK_EX),
        lease=lambda: fcntl.fcntl(file, 1024, fcntl.F_WRLCK),
        notify=lambda: fcntl.fcntl(file, 1026, 0x8000003F),
    )
