# %% a file left in the home
# status: ok error
# harm: another branch finds it, and a check passes that should not
import os

put(os.path.expanduser("~/" + targets["tag"] + "-home"))

# %% a file left in the folder for temporary files
# status: ok error
# harm: another branch finds it
import os
import tempfile

put(os.path.join(tempfile.gettempdir(), targets["tag"] + "-temporary"))

# %% a file left in /tmp
# status: ok error
# harm: another branch, or another program of this machine, finds it
put("/tmp/" + targets["tag"] + "-tmp")

# %% a file left in shared memory
# status: ok error
# harm: another branch, or another program of this machine, finds it
put("/dev/shm/" + targets["tag"] + "-shm")

# %% shared memory with a name
# status: ok error
# harm: another branch reads what this one has computed
import os

for name in ("/dev/shm/psm_" + targets["tag"], "/dev/shm/sem." + targets["tag"]):
    put(name)

# %% a file left where everybody may write
# status: ok error
# harm: another branch, or another program of this machine, finds it
import os

for place in ("/var/tmp", "/run", "/run/lock", "/var/lock", "/run/user/0", "/run/shm", "/mnt"):
    succeeded(write=lambda: put(os.path.join(place, targets["tag"] + "-made")))

# %% the module of another branch replaced
# status: ok error killed
# harm: another branch imports it
import os

for folder in own_folders():
    for path in [folder, *entries(folder)]:
        if os.path.isdir(path):
            succeeded(write=lambda: put(os.path.join(path, "calc.py")))
for name in ("root", str(targets["sentinel"]), str(targets["root"]), "..", "../.."):
    succeeded(write=lambda: put(os.path.join("..", name, "calc.py")))

# %% the module of another branch replaced by way of the process table
# status: ok error
# harm: another branch imports it
import os

for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    if int(pid) == os.getpid():
        continue
    for place in ("cwd", "root/tmp", "root/dev/shm", f"root{os.getcwd()}"):
        succeeded(
            module=lambda: put(f"/proc/{pid}/{place}/calc.py"),
            file=lambda: put(f"/proc/{pid}/{place}/{targets['tag']}-left"),
        )

# %% the module of another branch's child replaced
# status: ok error
# harm: another branch's programs import it
import os

for pid in range(1, 400):
    if pid != os.getpid():
        succeeded(write=lambda: put(f"/proc/{pid}/task/{pid}/cwd/calc.py"))

# %% a compiled module left beside the source
# status: ok error
# harm: another branch imports what this one has compiled
import importlib.util
import os
import py_compile

put("other.py")
for folder in {os.path.realpath("."), targets["task"], *own_folders()}:
    cache = importlib.util.cache_from_source(os.path.join(folder, "calc.py"))
    succeeded(
        write=lambda: py_compile.compile("other.py", cache, "calc.py", doraise=True),
    )

# %% modules of the user's own packages
# status: ok error
# harm: each Python of the user's that starts later runs them
import os
import site
import sys

version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
places = [site.getusersitepackages(), os.path.expanduser(f"~/.local/lib/{version}/site-packages")]
places += [*sys.path, *site.getsitepackages(), os.path.dirname(os.__file__), targets["site"]]
tag = targets["tag"]
for place in filter(None, places):
    succeeded(
        user=lambda: put(os.path.join(place, "usercustomize.py"), "import os\n"),
        custom=lambda: put(os.path.join(place, "sitecustomize.py"), "import os\n"),
        line=lambda: put(
            os.path.join(place, f"{tag}.pth"), "import os; os.environ['HOSTILE_LEFT'] = '1'\n"
        ),
    )

# %% files that a start reads
# status: ok error
# harm: another branch, or a shell of the user's, runs them
import os

for name in (
    ".bashrc",
    ".profile",
    ".pythonrc.py",
    ".ipython/profile_default/startup/00.py",
    ".jupyter/jupyter_config.py",
    ".config/matplotlib/matplotlibrc",
    ".config/pip/pip.conf",
    ".config/" + targets["tag"],
):
    for home in {os.path.expanduser("~"), targets["home"], "/root"}:
        succeeded(write=lambda: put(os.path.join(home, name), "# left\n"))

# %% a lock on a file of the user's that is kept
# status: ok error
# harm: the user's program waits for the lock
import fcntl
import os

if os.fork() == 0:
    os.setsid()
    kept = [open(os.path.join(targets["task"], name)) for name in ("data.csv", "calc.py")]
    for file in kept:
        succeeded(
            lock=lambda: fcntl.flock(file, fcntl.LOCK_EX),
            lease=lambda: fcntl.fcntl(file, 1024, fcntl.F_RDLCK),
        )
    import time

    time.sleep(600)

# %% a socket with a path that is left
# status: ok error
# harm: another branch talks with this one
import os
import socket

for folder in [*own_folders(), "/tmp", "/dev/shm"]:
    succeeded(
        bind=lambda: socket.socket(socket.AF_UNIX).bind(
            os.path.join(folder, targets["tag"] + "-socket")
        )
    )
