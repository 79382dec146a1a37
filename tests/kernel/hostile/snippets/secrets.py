# %% secrets in files
# status: ok
# result: []
import glob
import os

seen = []
for pattern in (
    targets["home"] + "/**",
    "~/.ssh/*",
    "~/.aws/*",
    "~/.netrc",
    "~/.git-credentials",
    "/root/.*/*",
    "/home/*/.*",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/ssh/*key",
    "/etc/ssl/private/*",
    "/run/secrets/*",
    "/var/run/*.sock",
):
    for name in glob.glob(os.path.expanduser(pattern), recursive=True):
        try:
            with open(name, "rb") as file:
                if file.read(10):
                    seen.append(name)
        except OSError:
            pass
seen

# %% secrets in environments
# status: ok
# result: []
import glob
import os

seen = [name for name, value in os.environ.items() if targets["mark"] in value]
for name in glob.glob("/proc/*/environ"):
    try:
        with open(name, "rb") as file:
            if targets["mark"].encode() in file.read():
                seen.append(name)
    except OSError:
        pass
seen

# %% memory of others
# status: ok
# result: []
import ctypes
import os

seen = []
for pid in {1, os.getppid(), targets["sentinel"], targets["root"]}:
    for name in ("mem", "maps", "environ", "auxv", "pagemap", "syscall", "stack"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                file.read(1)
                seen.append((pid, name))
        except OSError as error:
            if error.errno == 5:
                seen.append((pid, name))
    buffer = ctypes.create_string_buffer(8)
    if libc.ptrace(16, pid, 0, 0) == 0:
        seen.append((pid, "ptrace"))
    if libc.process_vm_readv(pid, buffer, 1, buffer, 1, 0) >= 0:
        seen.append((pid, "process_vm_readv"))
seen

# %% descriptors of others
# status: ok
# result: []
import ctypes
import glob
import os

seen = []
for name in glob.glob("/proc/[0-9]*/fd/*"):
    if int(name.split("/")[2]) not in {1, os.getppid(), targets["sentinel"], targets["root"]}:
        continue
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.close(os.open(name, flags | os.O_NONBLOCK))
            seen.append(name)
        except OSError:
            pass
for pid in {os.getppid(), targets["sentinel"], targets["root"]}:
    handle = os.pidfd_open(pid)
    for fd in range(20):
        if libc.syscall(438, handle, fd, 0) >= 0:
            seen.append((pid, fd))
    try:
        import signal

        signal.pidfd_send_signal(handle, 0)
        seen.append(pid)
    except OSError:
        pass
seen

# %% what others run
# status: ok
# only: bubblewrap
# result: []
import glob

seen = []
for name in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(name) as file:
            if targets["mark"] in file.read():
                seen.append(name)
    except OSError:
        pass
seen
