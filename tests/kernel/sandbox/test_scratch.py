"""The scratch folder is gone with its sidecar, or at the next start when its owner was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from exploracoder_kernel.removal import remove_tree
from exploracoder_kernel.scratch import Scratch, sweep
from exploracoder_kernel.sidecar import Sidecar
from waiting import wait_until

from .conftest import Choose

OWNER = """
import asyncio, sys
from pathlib import Path
from exploracoder_kernel.sandbox import choose
from exploracoder_kernel.sidecar import Sidecar

async def main():
    launcher = choose("strict", python=sys.executable, cwd=Path.cwd(),
                      mechanisms=(sys.argv[1],)).launcher
    async with Sidecar(launcher=launcher) as sidecar:
        seen = await sidecar.run(sidecar.root, "open('left', 'w').close()\\nimport os; os.getcwd()")
        print(seen.result, flush=True)
        await sidecar.run(sidecar.root, "while True: pass")

asyncio.run(main())
"""

LEFT_BEHIND = """
import os
deep = os.getcwd()
for _ in range(1500):
    os.mkdir('d' * 20)
    os.chdir('d' * 20)
os.chdir(deep)
os.mkdir('closed')
open('closed/file', 'w').close()
os.chmod('closed', 0)
os.symlink('/', 'root')
os.mkfifo('pipe')
"""


def entries(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_nothing_is_left_whatever_was_put_there(
    boxed: Choose, mechanism: str, task: Path, temporary: Path
) -> None:
    async with Sidecar(sys.executable, task, launcher=boxed().launcher) as sidecar:
        observation = await sidecar.run(sidecar.root, LEFT_BEHIND)
        # On disk, folders nested that deep count as more than may be written.
        assert observation.ran or (mechanism, observation.status) == ("landlock", "limit"), (
            observation.error
        )
        is_on_disk = mechanism == "landlock" and observation.ran
        assert len(entries(temporary)) == (1 if is_on_disk else 0)

    assert entries(temporary) == []


async def test_what_a_killed_owner_left_is_removed_at_the_next_start(
    boxed: Choose,
    mechanism: str,
    task: Path,
    temporary: Path,
) -> None:
    launcher = boxed().launcher
    with subprocess.Popen(  # noqa: ASYNC220  # it is the owner, not the code under test
        [sys.executable, "-c", OWNER, mechanism], stdout=subprocess.PIPE, text=True, cwd=task
    ) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().strip().strip("'"))
        is_on_disk = mechanism == "landlock"
        assert (folder / "left").exists() == is_on_disk  # nothing waits
        os.kill(owner.pid, signal.SIGKILL)

    def is_swept() -> bool:
        sweep.cache_clear()
        sweep()
        return not folder.exists()

    wait_until(is_swept)
    async with Sidecar(sys.executable, task, launcher=launcher) as sidecar:
        assert (await sidecar.run(sidecar.root, "1")).result == "1"
    assert entries(temporary) == []


def test_folders_of_the_living_and_of_others_are_not_swept(temporary: Path) -> None:
    mine = Scratch.create()
    (temporary / "exploracoder-of-another-program").mkdir()
    (temporary / "exploracoder-link").symlink_to(mine.folder.parent)

    sweep()

    assert mine.folder.is_dir()
    assert len(entries(temporary)) == 3
    mine.remove()


def test_removing_a_tree_touches_nothing_that_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("kept")
    tree = tmp_path / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "inner" / "link").symlink_to(tmp_path / "kept")
    (tree / "file").symlink_to(tmp_path / "kept" / "file")

    remove_tree(tree)

    assert not tree.exists()
    assert (tmp_path / "kept" / "file").read_text() == "kept"


def test_a_second_removal_closes_no_file_of_others(temporary: Path) -> None:
    scratch = Scratch.create()
    scratch.remove()
    # One of them gets the number that the lock had.
    others = [(temporary / str(n)).open("xb") for n in range(20)]

    scratch.remove()

    for other in others:
        os.fstat(other.fileno())
        other.close()
