# %% folders of scratch turned into links
# status: ok error killed
# harm: when a branch ends, the owner removes one of the user's folders with the branch's number
import os

for folder in own_folders():
    for path in entries(folder):
        if os.path.isdir(path) and not os.path.islink(path):
            succeeded(
                move=lambda: os.rename(path, path + "-moved"),
                link=lambda: os.symlink(targets["victims"], path),
            )

# %% the own folders turned into links
# status: ok error killed
# harm: the owner, or the next cell, empties the task's folder in place of the branch's
import os

for folder in own_folders():
    succeeded(
        move=lambda: os.rename(folder, folder + "-moved"),
        link=lambda: os.symlink(targets["task"], folder),
    )

# %% links to the user's folders under the numbers of branches to come
# status: ok error killed
# harm: a branch that gets the number works in the user's folder, or empties it
import os

for folder in own_folders():
    for number in range(os.getpid() + 1, os.getpid() + 40):
        succeeded(link=lambda: os.symlink(targets["victims"], os.path.join(folder, str(number))))

# %% a folder that is a link every other moment
# status: ok error killed timeout
# harm: the owner looks at a folder, and removes what a link leads to
# seconds: 2
import os
import time

if os.fork() == 0:
    for folder in own_folders()[1:]:
        succeeded(link=lambda: os.symlink(targets["victims"], folder + "-link"))
    while True:
        for folder in own_folders()[1:]:
            for one in [path for path in entries(folder) if path.endswith(("work", "tmp", "home"))]:
                # RENAME_EXCHANGE: at no moment is there neither
                libc.renameat2(-100, one.encode(), -100, f"{folder}-link".encode(), 2)
time.sleep(0.5)

# %% folders that move while they are emptied
# status: ok error killed timeout
# harm: what the owner empties is no longer below scratch
# seconds: 5
import os
import time

os.makedirs("nest/inner/most", exist_ok=True)
os.symlink(targets["victims"], "out")
if os.fork() == 0:
    while True:
        for here, there in (("nest/inner", "moved"), ("moved", "nest/inner"), ("out", "nest/out")):
            try:
                os.rename(here, there)
            except OSError:
                pass
time.sleep(0.2)

# %% hard links of the user's files
# status: ok
# result: []
# harm: the owner changes rights or contents by the other name
import os

linked = []
for folder, _, names in os.walk(targets["task"]):
    for name in names:
        if succeeded(link=lambda: os.link(os.path.join(folder, name), f"hard-{name}")):
            linked.append(name)
linked

# %% links by way of the process table
# status: ok error killed
# harm: the owner follows /proc/self to what is its own
import os

for number, place in enumerate(("cwd", "root", "fd", "root" + targets["victims"])):
    os.symlink(f"/proc/self/{place}", f"self-{number}")
    for folder in own_folders()[:2]:
        succeeded(link=lambda: os.symlink(f"/proc/self/{place}", os.path.join(folder, f"{number}")))

# %% names that are hard to remove
# status: ok error killed
# status in landlock: ok error killed limit
# then: clean
# then in landlock: perhaps the limit, which it does not always come to itself
# harm: something stays behind when the session has ended
import os

for name in (b"\n", b"-rf", b"\xff\xfe", b"a" * 255, b"*", b" ", b"\\", b".removed-1-1"):
    os.mkdir(name)
    os.chmod(name, 0)
here = os.getcwd()
for _ in range(300):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
os.chmod("..", 0)
os.chdir(here)

# %% a scratch folder that seems to be left from before
# status: ok error killed
# harm: the next session removes what a link in it leads to
import os

for folder in own_folders():
    fake = os.path.join(folder, "exploracoder-left")
    succeeded(
        make=lambda: os.mkdir(fake),
        mark=lambda: put(os.path.join(fake, "owner"), ""),
        link=lambda: os.symlink(targets["victims"], os.path.join(fake, "scratch")),
    )

# %% a link where a cell's files are written
# status: ok error killed
# harm: a tool writes through the link into the user's files
import os
import subprocess
import sys

for name in ("data.csv", "calc.py", "__pycache__", ".ipynb_checkpoints"):
    succeeded(
        remove=lambda: os.unlink(name),
        link=lambda: os.symlink(os.path.join(targets["task"], "calc.py"), name),
        write=lambda: put(name + "/made.txt"),
        append=lambda: open(os.path.realpath(name), "a").write("x"),
    )
subprocess.run([sys.executable, "-m", "compileall", targets["task"]], capture_output=True)
None
