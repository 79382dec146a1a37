"""Each branch works in a folder of its own, with the task's files in it."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from exploracoder_kernel.sandbox import bubblewrap, visible_files
from exploracoder_kernel.sidecar import Sidecar
from waiting import until

from .conftest import Choose, Look


@pytest.fixture
async def sidecar(boxed: Choose, task: Path) -> AsyncIterator[Sidecar]:
    async with Sidecar(sys.executable, task, launcher=boxed().launcher) as new_sidecar:
        yield new_sidecar


async def test_a_fork_has_its_parents_files_and_keeps_its_own(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "import os\nopen('x', 'w').write('root')")
    child = await sidecar.fork(sidecar.root)

    observation = await sidecar.run(
        child,
        "before = open('x').read()\nopen('x', 'w').write('child')\n"
        "before, open('input.txt').read()",
    )
    root = await sidecar.run(sidecar.root, "open('x').read()")

    assert observation.result == "('root', 'given')"
    assert root.result == "'root'"


async def test_the_working_folder_may_be_tmp_itself(
    look: Look, value_of: Callable[..., Any]
) -> None:
    # Another name there is not UTF-8.
    with (
        tempfile.TemporaryDirectory(dir="/tmp", suffix="\udcff"),
        tempfile.TemporaryDirectory(dir="/tmp") as parent,
    ):
        (Path(parent) / "input.txt").write_text("given")
        venv = Path(parent) / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)  # noqa: ASYNC221
        path = f"{parent}/input.txt"

        observation = await look(
            f"open({path!r}).read(), open({Path(path).relative_to('/tmp').as_posix()!r}).read()",
            cwd=Path("/tmp"),
            python=venv / "bin" / "python",
        )

    assert value_of(observation) == ("given", "given")


@pytest.mark.parametrize("moment", [(visible_files, "confined"), (bubblewrap, "_seen")])
@pytest.mark.parametrize("mechanism", ["bubblewrap"], indirect=True)
async def test_a_hidden_folder_may_vanish_while_the_sandbox_starts(
    look: Look, moment: tuple[ModuleType, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name = moment
    step = getattr(module, name)

    with tempfile.TemporaryDirectory(dir="/tmp") as parent:
        hidden = Path(parent) / ".ssh"
        hidden.mkdir()

        def vanish(*arguments: Any, **options: Any) -> Any:
            result = step(*arguments, **options)
            shutil.rmtree(hidden, ignore_errors=True)
            return result

        monkeypatch.setattr(module, name, vanish)
        observation = await look("6 * 7", cwd=Path(parent))

    assert observation.result == "42"


async def test_there_may_be_very_many_files_beside_a_hidden_one(look: Look, task: Path) -> None:
    # Landlock gets a list of all but the hidden one, longer than a word of a command line may be.
    (task / ".env").write_text("KEY=secret")
    for _ in range(1500):
        name = secrets.token_hex(100)  # which no compression would make short enough
        (task / name).touch()

    observation = await look(f"len(open({name!r}).read())")

    assert observation.result == "0"


async def test_a_fork_goes_on_in_the_same_place(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "import os\nos.makedirs('a/b')\nos.chdir('a/b')")
    child = await sidecar.fork(sidecar.root)

    observation = await sidecar.run(child, "os.getcwd()[-4:], os.listdir('../..')")

    assert observation.result is not None
    assert observation.result.startswith("('/a/b'")
    assert "input.txt" in observation.result


async def test_a_fork_goes_on_in_the_same_place_of_a_temporary_folder(sidecar: Sidecar) -> None:
    await sidecar.run(
        sidecar.root,
        "import os, tempfile\nos.chdir(tempfile.mkdtemp())\nopen('x', 'w').write('root')",
    )
    child = await sidecar.fork(sidecar.root)

    observation = await sidecar.run(
        child,
        "before = open('x').read()\nopen('x', 'w').write('child')\n"
        "before, os.path.dirname(os.getcwd()) == os.path.realpath(tempfile.gettempdir())",
    )
    root = await sidecar.run(sidecar.root, "open('x').read()")

    assert observation.result == "('root', True)"
    assert root.result == "'root'"


@pytest.mark.parametrize("mechanism", ["bubblewrap"], indirect=True)
async def test_a_fork_goes_on_in_the_same_place_of_shared_memory(sidecar: Sidecar) -> None:
    await sidecar.run(
        sidecar.root, "import os\nos.mkdir('/dev/shm/x')\nos.chdir('/dev/shm/x')\nopen('y', 'w')"
    )
    child = await sidecar.fork(sidecar.root)

    observation = await sidecar.run(child, "os.remove('y'); os.getcwd()")
    root = await sidecar.run(sidecar.root, "os.listdir()")

    assert (observation.result, root.result) == ("'/dev/shm/x'", "['y']")


async def test_files_are_moved_and_linked_from_folder_to_folder(sidecar: Sidecar) -> None:
    child = await sidecar.fork(sidecar.root)
    move = (
        "import os\nos.mkdir('one')\nopen('one/x', 'w').write('moved')\n"
        "os.rename('one/x', 'x')\nos.link('x', 'one/y')\nopen('one/y').read()"
    )

    observations = [await sidecar.run(branch, move) for branch in (sidecar.root, child)]

    assert [one.result for one in observations] == ["'moved'", "'moved'"]


async def test_a_removed_folder_is_made_anew(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "import os, shutil\nshutil.rmtree(os.getcwd())")

    observation = await sidecar.run(
        sidecar.root, "open('y', 'w').close()\nopen('input.txt').read()"
    )

    assert observation.result == "'given'"


async def test_files_that_come_later_are_there_in_the_next_cell(
    sidecar: Sidecar, task: Path, mechanism: str
) -> None:
    await sidecar.run(sidecar.root, "import os\nos.remove('input.txt')")
    (task / "late.csv").write_text("late")

    observation = await sidecar.run(
        sidecar.root, "open('late.csv').read(), os.path.exists('input.txt')"
    )

    assert observation.result == "('late', False)"


async def test_the_folder_of_a_dropped_branch_is_removed(sidecar: Sidecar, mechanism: str) -> None:
    if mechanism != "landlock":
        pytest.skip("it is memory, which goes with the branch's processes")
    child = await sidecar.fork(sidecar.root)
    observation = await sidecar.run(child, "import os\nos.getcwd()")
    assert observation.result is not None
    folder = Path(observation.result.strip("'"))
    assert folder.is_dir()  # noqa: ASYNC240  # nothing waits

    await sidecar.drop(child)

    await until(lambda: not folder.exists())


async def test_what_is_too_much_is_left_out_and_said(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "open('small', 'w').write('x')\nfile = open('large', 'wb')")
    await sidecar.run(
        sidecar.root, "_ = [file.write(bytes(2**20)) for _ in range(300)]\nfile.close()"
    )
    child = await sidecar.fork(sidecar.root)

    observation = await sidecar.run(child, "import os\nsorted(os.listdir())")

    assert observation.result == "['data', 'input.txt', 'small']"
    assert "1 files of the branch's own were not copied" in observation.stderr


@pytest.mark.parametrize("mechanism", ["bubblewrap"], indirect=True)
@pytest.mark.parametrize("target", ["/proc/1/root/run/exploracoder/branch", "/etc"])
async def test_a_link_in_the_place_of_shared_memory_leads_forks_nowhere(
    sidecar: Sidecar, target: str
) -> None:
    candidate = await sidecar.fork(sidecar.root)
    await sidecar.run(
        candidate,
        "import os\nos.chdir('/run/exploracoder/branch')\nos.rename('shm', 'old')\n"
        f"os.symlink({target!r}, 'shm')",
    )

    following = await sidecar.fork(candidate)
    observation = await sidecar.run(
        following, "import os\nopen('/dev/shm/left', 'w').close()\nos.listdir('/dev/shm')"
    )

    assert observation.result == "['left']"
    root = await sidecar.run(sidecar.root, "import os\n'left' in os.listdir('..')")
    assert root.result == "False"
