# %% settings of other processes
# status: ok
# result: []
# harm: another process is made to be killed, to be slow, to show its memory
import os

written = []
pids = {1, 2, os.getppid(), targets["root"], targets["sentinel"], targets["bystander"]}
for pid in pids | {targets["owner"]}:
    for name, text in {
        "oom_score_adj": "1000",
        "coredump_filter": "0",
        "timerslack_ns": "1000000000",
        "clear_refs": "1",
        "comm": "hostile",
        "autogroup": "19",
        "attr/current": "x",
        "loginuid": "0",
        "sched": "0",
        "make-it-fail": "1",
        "fail-nth": "1",
    }.items():
        path = f"/proc/{pid}/{name}"
        if pid != os.getpid() and succeeded(
            write=lambda: os.write(os.open(path, os.O_WRONLY), text.encode())
        ):
            written.append(path)
written

# %% secrets of the owner in the process table
# status: ok
# only: bubblewrap
# result: []
# harm: a key in the owner's environment, memory or command line is read
import glob

seen = []
for name in ("environ", "cmdline", "maps", "mem", "auxv", "stack", "io", "syscall", "wchan"):
    for pid in (targets["owner"], targets["bystander"], os.getppid()):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                text = file.read(100_000)
        except OSError:
            continue
        if targets["mark"].encode() in text:
            seen.append(name)
seen

# %% the kernel's secrets in the process table
# status: ok
# only: bubblewrap
# result: []
# harm: where the kernel lies in memory, keys, or what it said is read
import os

seen = []
for path in ("/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/kpageflags", "/proc/vmcore",
             "/proc/timer_list", "/proc/sched_debug", "/proc/slabinfo", "/proc/vmallocinfo",
             "/sys/kernel/debug", "/sys/kernel/tracing/trace", "/sys/kernel/security",
             "/sys/firmware/efi/efivars", "/proc/acpi"):
    try:
        text = os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(200)
    except OSError:
        continue
    if text:
        seen.append(path)
seen

# %% settings of the kernel in the process table
# status: ok
# result: []
# harm: what the machine does at a crash, with memory, or in the network is changed
import glob
import os

written = []
for path in glob.glob("/proc/sys/*/*") + glob.glob("/proc/sys/*/*/*") + [
    "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/sys/fs/binfmt_misc/register"
]:
    # To open is enough to know, and changes nothing where it is allowed.
    if os.path.isfile(path) and succeeded(open=lambda: os.close(os.open(path, os.O_WRONLY))):
        written.append(path)
written

# %% folders of others by way of the process table
# status: ok
# result: []
# harm: files are read that are not in sight
import os

found = []
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    for place in ("root", "cwd", "fd/3", "fd/4", f"task/{pid}/root", "map_files"):
        path = f"/proc/{pid}/{place}"
        if succeeded(read=lambda: open(f"{path}{targets['home']}/notes.txt").close()):
            found.append(path)
        succeeded(write=lambda: put(f"{path}/tmp/{targets['tag']}-by-process"))
found

# %% programs of the owner's that are run again
# status: ok
# result: []
# harm: the owner's program is opened for writing, or run with its rights
import os

opened = []
for pid in (1, os.getppid(), targets["owner"], targets["bystander"], "self"):
    for flags in (os.O_WRONLY, os.O_RDWR):
        if succeeded(open=lambda: os.close(os.open(f"/proc/{pid}/exe", flags))):
            opened.append((pid, flags))
opened
