# %% the working folder deleted
# status: ok
# then: clean
import os
import shutil

here = os.getcwd()
shutil.rmtree(here, ignore_errors=True)

# %% all temporary files deleted
# status: ok
# then: clean
import os
import shutil
import tempfile

for place in (tempfile.gettempdir(), os.environ.get("HOME", ""), os.environ.get("TMPDIR", "")):
    shutil.rmtree(place, ignore_errors=True)

# %% everything deleted
# status: ok
import os
import shutil

for place in (targets["task"], targets["home"], os.path.expanduser("~"), targets["ours"], "/home"):
    shutil.rmtree(place, ignore_errors=True)

# %% a folder that is gone is worked in
# status: ok
# then: clean
import os

os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")

# %% files written wherever they may matter
# status: ok
# result: []
import os
import sys

written = []
for place in (
    targets["home"],
    targets["task"],
    targets["site"],
    targets["ours"],
    os.path.dirname(sys.executable),
    sys.prefix,
    "/",
    "/etc",
    "/usr/bin",
    "/var",
    "/root",
    "/opt",
    "/dev",
    "/proc/sys/kernel",
    "/sys",
):
    try:
        with open(os.path.join(place, "hostile.txt"), "w") as file:
            file.write("x")
        written.append(place)
    except OSError:
        pass
written

# %% the task's files written
# status: ok
# result: []
import os
import pathlib


def state(path):
    status = os.lstat(path)
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_nlink, os.listxattr(path))


changed = []
for path in [*pathlib.Path(targets["task"]).rglob("*"), *pathlib.Path().rglob("*")]:
    inside = path.resolve()
    if not str(inside).startswith(targets["task"]) or not inside.is_file():
        continue
    before = state(inside)
    for attempt in (
        lambda: inside.open("a").write("x"),
        lambda: inside.unlink(),
        lambda: inside.chmod(0o777),
        lambda: os.utime(inside),
        lambda: inside.rename(inside.with_suffix(".moved")),
        lambda: os.truncate(inside, 0),
        lambda: os.link(inside, "linked"),
        lambda: os.setxattr(inside, "user.x", b"x"),
    ):
        try:
            attempt()
        except OSError:
            pass
    if not inside.exists() or state(inside) != before:
        changed.append(str(inside))
changed

# %% links that lead out
# status: ok
# result: []
import os

written = []
for number, place in enumerate((targets["task"], targets["home"], "/etc", targets["ours"])):
    os.symlink(place, f"out{number}")
    for name in (f"out{number}/hostile.txt", f"out{number}/../hostile.txt"):
        try:
            with open(name, "w") as file:
                file.write("x")
            written.append(os.path.realpath(name))
        except OSError:
            pass
[path for path in written if not path.startswith("/tmp/")]

# %% settings of the kernel
# status: ok
# result: []
import pathlib

written = []
for name in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/sys/power/state",
    "/dev/kmsg",
    "/dev/mem",
    "/dev/sda",
):
    try:
        pathlib.Path(name).write_text("0")
        written.append(name)
    except OSError:
        pass
written
