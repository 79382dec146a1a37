"""Every Python that is found on the machine runs branches, with IPython and without."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from exploracoder_kernel.launch_command import Launcher
from exploracoder_kernel.sidecar import Sidecar

from .pythons import found


@pytest.fixture(scope="module", params=found())
def plain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of each Python in which nothing is installed."""
    folder = tmp_path_factory.mktemp(f"plain-{request.param}")
    python = found()[request.param]
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="module", params=found())
def with_ipython(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of each Python with the newest IPython that it takes."""
    folder = tmp_path_factory.mktemp(f"ipython-{request.param}")
    python = folder / "bin" / "python"
    subprocess.run([found()[request.param], "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    install = [*pip, "install", "-q", "--no-compile", "ipython"]
    if subprocess.run(install, capture_output=True, check=False).returncode != 0:
        pytest.skip("no package index can be reached")
    return python


SETUP = """
import asyncio, random, sys
from pathlib import Path
random.seed(3)
written = Path('lines.txt').write_text('a\\nb\\nc\\n')
file = open('lines.txt')
numbers = (n * n for n in range(100))
async def double(n):
    await asyncio.sleep(0); return 2 * n
'%d.%d' % sys.version_info[:2]
"""


async def check_branches(python: Path, folder: Path, launcher: Launcher) -> Sidecar:
    """What a branch is good for, in one story; the sidecar is closed when it is returned."""
    async with Sidecar(python, folder, launcher=launcher) as sidecar:
        first = await sidecar.run(sidecar.root, SETUP)
        child = await sidecar.fork(sidecar.root)
        answers = [
            await sidecar.run(branch, "file.readline(), await double(4), random.random()")
            for branch in (child, sidecar.root)
        ]
        failure = await sidecar.run(child, "x = [1]\n\ndef f(): return x[9]\nf()")
        names = await sidecar.resolve(child, ["asyncio.gathr", "double"])
        completions = await sidecar.complete(child, "asyn", 4)
        inspection = await sidecar.inspect(child, "double")
        branches = await sidecar.measure()
        thread_start = await sidecar.run(
            child, "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True)"
            ".start()"
        )  # fmt: skip
        replay = await sidecar.fork(child)
        again = await sidecar.run(replay, "x, file.readline()")

    assert first.ran, first.error
    assert f"'{sidecar.python_version.rpartition('.')[0]}'" == first.result
    assert "first elements: 0, 1, 4" in {v.name: v.preview for v in first.variables}["numbers"]
    assert answers[0].result == answers[1].result
    assert answers[0].result is not None and answers[0].result.startswith("('a\\n', 8, 0.23")
    assert failure.error is not None
    assert (failure.error.ename, failure.error.line) == ("IndexError", 3)
    assert [(name.exists, name.nearest[:1]) for name in names] == [
        (False, ("gather",)),
        (True, ()),
    ]
    assert "asyncio" in completions.matches
    assert inspection.signature is not None and "(n)" in inspection.signature
    assert [info.created for info in branches] == ["root", "fork"]
    assert all(info.own_bytes for info in branches)
    assert thread_start.ran
    assert again.result == "([1], 'b\\n')"
    return sidecar


async def test_a_plain_python_of_any_version_branches(
    plain: Path, tmp_path: Path, launcher: Launcher
) -> None:
    await check_branches(plain, tmp_path, launcher)


@pytest.mark.slow
async def test_any_version_with_ipython_branches_and_has_magics(
    with_ipython: Path, tmp_path: Path, launcher: Launcher
) -> None:
    await check_branches(with_ipython, tmp_path, launcher)

    async with Sidecar(with_ipython, tmp_path, launcher=launcher) as sidecar:
        observation = await sidecar.run(
            sidecar.root,
            "here = %pwd\nfrom IPython.display import HTML\nn=!echo 5\ndisplay(HTML('<b>'))\nn[0]",
        )
    assert observation.result == "'5'"
    assert observation.outputs[0]["data"]["text/html"] == "<b>"


async def test_a_prefix_that_nobody_activated_branches(tmp_path: Path, launcher: Launcher) -> None:
    """As of conda: an interpreter of its own with its library beside it, not on the path."""
    prefix = tmp_path / "envs" / "analysis"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").symlink_to(Path(sys.base_prefix) / "lib")
    real = Path(sys.base_exec_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    shutil.copy(real, prefix / "bin" / "python")
    task = tmp_path / "task"
    task.mkdir()

    await check_branches(prefix / "bin" / "python", task, launcher)
