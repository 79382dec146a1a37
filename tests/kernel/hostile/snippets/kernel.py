# %% namespaces of our own
# status: ok
# result: []
# harm: with a namespace come rights that code has not had, and bugs that need them
import ctypes
import os

KINDS = {
    "user": 0x10000000,
    "mounts": 0x00020000,
    "processes": 0x20000000,
    "network": 0x40000000,
    "objects": 0x08000000,
    "names": 0x04000000,
    "groups": 0x02000000,
    "time": 0x00000080,
}
unshared = []
for name, flag in KINDS.items():
    for more in (0, KINDS["user"]):
        # Mounts of its own each branch has, and nobody in it can mount anything.
        if (name, more) != ("mounts", 0) and libc.unshare(flag | more) == 0:
            unshared.append((name, more))
unshared

# %% processes in namespaces of their own
# status: ok
# result: []
# harm: with a namespace come rights that code has not had, and bugs that need them
import ctypes
import os
import struct

made = []
number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000):
    words = (ctypes.c_long(word) for word in (number, flag | 17, 0, 0, 0, 0))
    child = libc.syscall(*words)
    if child == 0:
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)
        made.append(flag)
    arguments = ctypes.create_string_buffer(struct.pack("8Q", flag, 0, 0, 0, 17, 0, 0, 0), 88)
    child = libc.syscall(435, arguments, 88)
    if child == 0:
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)
        made.append(("clone3", flag))
made

# %% programs that make namespaces
# status: ok
# result: []
# harm: a program that may do more than we gets us out
import shutil
import subprocess

got = []
for words in (
    ["unshare", "--user", "--map-root-user", "true"],
    ["bwrap", "--bind", "/", "/", "--unshare-user", "true"],
    ["nsenter", "--target", "1", "--mount", "true"],
    ["su", "-c", "true"],
    ["sudo", "-n", "true"],
    ["mount", "-t", "tmpfs", "none", "/mnt"],
    ["chroot", "/", "true"],
):
    if shutil.which(words[0]):
        ended = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
        if ended.returncode == 0:
            got.append(words[0])
got

# %% namespaces of others entered
# status: ok
# result: []
# harm: the owner's files are in sight again
import glob
import os

entered = []
for path in glob.glob("/proc/[0-9]*/ns/*") + glob.glob("/proc/self/ns/*"):
    if path.endswith("_for_children"):
        continue
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    if libc.setns(handle, 0) == 0:
        entered.append(path)
    os.close(handle)
for pid in (1, os.getppid(), targets["sentinel"], targets["root"]):
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        continue
    for flag in (0x00020000, 0x10000000, 0x40000000):
        if libc.setns(handle, flag) == 0:
            entered.append((pid, flag))
entered

# %% what is mounted changed
# status: ok
# result: []
# harm: the task's files can be written, or what is hidden comes into sight
import os

place = os.getcwd().encode()
task = targets["task"].encode()
REMOUNT, READ_ONLY, BIND, MOVE, PRIVATE = 32, 1, 4096, 8192, 1 << 18
succeeded(
    writable=lambda: libc.mount(None, task, None, REMOUNT | BIND, None),
    root=lambda: libc.mount(None, b"/", None, REMOUNT | BIND, None),
    bind=lambda: libc.mount(task, place, None, BIND, None),
    proc=lambda: libc.mount(b"proc", place, b"proc", 0, None),
    tmpfs=lambda: libc.mount(b"none", place, b"tmpfs", 0, None),
    overlay=lambda: libc.mount(b"none", place, b"overlay", 0, b"lowerdir=/:/usr"),
    move=lambda: libc.mount(b"/proc", place, None, MOVE, None),
    private=lambda: libc.mount(None, b"/", None, PRIVATE | 16384, None),
    unmount_task=lambda: libc.umount2(task, 2),
    unmount_home=lambda: libc.umount2(os.path.expanduser("~").encode(), 2),
    unmount_tmp=lambda: libc.umount2(b"/tmp", 2),
    unmount_proc=lambda: libc.umount2(b"/proc/sys", 2),
    pivot=lambda: libc.pivot_root(place, place),
    chroot=lambda: libc.chroot(place),
)

# %% what is mounted changed by the newer calls
# status: ok
# result: []
# harm: the task's files can be written, or what is hidden comes into sight
import ctypes
import os
import struct

task = targets["task"].encode()
attributes = ctypes.create_string_buffer(struct.pack("4Q", 0, 1, 0, 0))
succeeded(
    tree=lambda: libc.syscall(428, -100, b"/", 1),
    task=lambda: libc.syscall(428, -100, task, 1 | 0x8000),
    attributed=lambda: libc.syscall(467, -100, b"/", 1, attributes, 32),
    file_system=lambda: libc.syscall(430, b"tmpfs", 0),
    proc=lambda: libc.syscall(430, b"proc", 0),
    pick=lambda: libc.syscall(433, -100, task, 0),
    move=lambda: libc.syscall(429, -100, task, -100, os.getcwd().encode(), 0),
    writable=lambda: libc.syscall(442, -100, task, 0, attributes, 32),
)

# %% a file system that stands still
# status: ok
# result: []
# harm: every write of the user's waits for ever
import fcntl
import os

THAW = 0xC0045878
frozen = []
for path in (targets["task"], os.getcwd(), "/", "/tmp"):
    try:
        place = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    # To let go asks for the same right as to hold, and harms nobody where the right is there.
    if succeeded(ask=lambda: fcntl.ioctl(place, THAW, 0)):
        frozen.append(path)
    os.close(place)
frozen

# %% settings of the machine
# status: ok
# result: []
# harm: the machine has another name, other swap, other quotas, another clock
import ctypes
import os

nothing = ctypes.create_string_buffer(256)
succeeded(
    restart=lambda: libc.reboot(0x89ABCDEF),
    name=lambda: libc.sethostname(b"hostile", 7),
    domain=lambda: libc.setdomainname(b"hostile", 7),
    swap_on=lambda: libc.swapon(b"/nonexistent", 0),
    swap_off=lambda: libc.swapoff(b"/nonexistent"),
    accounting=lambda: libc.acct(None),
    quota=lambda: libc.quotactl(0x80000100, None, 0, nothing),
    log=lambda: libc.klogctl(10, nothing, 0),
    log_read=lambda: libc.klogctl(3, nothing, 256),
    ports=lambda: libc.iopl(3),
    hang_up=lambda: libc.vhangup(),
)

# %% doors of the kernel
# status: ok
# result: []
# harm: parts of the kernel are in reach in which holes are found each year
import ctypes
import errno
import os

numbers = {
    "x86_64": {"bpf": 321, "perf": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248,
               "fanotify": 300, "init_module": 175, "kexec": 246, "ptrace": 101, "kcmp": 312,
               "lookup_dcookie": 212},
    "aarch64": {"bpf": 280, "perf": 241, "userfaultfd": 282, "keyctl": 219, "add_key": 217,
                "fanotify": 262, "init_module": 105, "kexec": 104, "ptrace": 117, "kcmp": 272},
}[os.uname().machine]
nothing = ctypes.create_string_buffer(256)
through = succeeded(personality=lambda: libc.personality(0x0040000))
for name, number in {**numbers, "io_uring": 425, "pidfd_getfd": 438, "memfd_secret": 447}.items():
    # Any other error comes from behind the door: of arguments that make no sense.
    if libc.syscall(number, 0, nothing, 0, 0, 0) >= 0 or ctypes.get_errno() not in (
        errno.EPERM, errno.ENOSYS
    ):
        through.append(name)
through

# %% files opened by what the kernel calls them
# status: ok
# result: []
# harm: the user's files are read though they are not in sight
import ctypes
import os

handle = ctypes.create_string_buffer((128).to_bytes(4, "little"), 200)
mount = ctypes.c_int()
got = []
for path in ("/", targets["task"], os.getcwd()):
    libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0)
    try:
        folder = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    if libc.open_by_handle_at(folder, handle, os.O_RDONLY) >= 0:
        got.append(path)
    os.close(folder)
got

# %% rights that were given up
# status: ok
# result: []
# harm: code has the rights of the superuser again
import ctypes
import os
import resource
import struct

header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0))
everything = ctypes.create_string_buffer(struct.pack("=6I", *([0xFFFFFFFF] * 6)))
current = [resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)]
unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
succeeded(
    capabilities=lambda: libc.capset(header, everything),
    ambient=lambda: libc.prctl(47, 2, 21, 0, 0),
    keep=lambda: libc.prctl(24, 40, 0, 0, 0) or -1,
    new_rights=lambda: libc.prctl(38, 0, 0, 0, 0),
    no_filter=lambda: libc.prctl(22, 0, 0, 0, 0),
    user=lambda: os.setresuid(1, 1, 1) if os.getuid() != 1 else -1,
    superuser=lambda: os.setuid(0) if os.getuid() else -1,
    group=lambda: os.setgid(0) if os.getgid() else -1,
    groups=lambda: os.setgroups([0, 27]),
    file_size=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    if current[0] != resource.RLIM_INFINITY
    else -1,
    core=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited)
    if current[1] != resource.RLIM_INFINITY
    else -1,
)

# %% who we are said to be
# status: ok
# result: []
# harm: a user namespace that was made for us lets us be somebody else
import os

[
    path
    for pid in ("self", "1", str(os.getppid()), str(targets["sentinel"]))
    for path in (f"/proc/{pid}/uid_map", f"/proc/{pid}/gid_map", f"/proc/{pid}/setgroups",
                 f"/proc/{pid}/projid_map")
    if succeeded(write=lambda: os.write(os.open(path, os.O_WRONLY), b"0 0 1"))
]

# %% a core that is left
# status: killed
# harm: memory with secrets lies in a file, or a handler of the system runs
import ctypes
import resource

succeeded(
    limit=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2),
    filter=lambda: open("/proc/self/coredump_filter", "w").write("0xff"),
    dumpable=lambda: libc.prctl(4, 1, 0, 0, 0),
)
ctypes.string_at(0)

# %% groups of processes
# status: ok
# result: []
# harm: limits are left, or other programs of the machine are stopped
import glob
import os

changed = []
for folder in {"/sys/fs/cgroup", *glob.glob("/sys/fs/cgroup/*/"), *glob.glob("/sys/fs/cgroup/*/*/")}:
    attacks = {
        "make": lambda: os.mkdir(os.path.join(folder, targets["tag"] + "-group")),
        "join": lambda: open(os.path.join(folder, "cgroup.procs"), "w").write("0"),
    }
    changed += [(folder, name) for name in succeeded(**attacks)]
changed
