"""Any Python from 3.9 on, with or without IPython; what is none is refused in words."""

from __future__ import annotations

import ast
import stat
import sys
from pathlib import Path

import pytest
from exploracoder_kernel import branch
from exploracoder_kernel.errors import InterpreterError, SidecarError
from exploracoder_kernel.sidecar import Sidecar

BRANCH_FILES = sorted(Path(branch.__file__).parent.glob("*.py"))


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def refused(python: Path | str) -> str:
    with pytest.raises(InterpreterError) as error:
        async with Sidecar(python):
            pass
    return str(error.value)


@pytest.mark.parametrize("strategy", ["fork", "replay"])
async def test_plain_python_runs_cells_like_ipython(
    plain_python: Path, tmp_path: Path, strategy: str
) -> None:
    async with Sidecar(plain_python, tmp_path, strategy=strategy) as sidecar:  # type: ignore[arg-type]
        first = await sidecar.run(
            sidecar.root,
            "import sys\nprint('out'); print('err', file=sys.stderr)\n"
            "async def f(): return [1]\nx = await f()\n{'x': x}",
        )
        child = await sidecar.fork(sidecar.root)
        failure = await sidecar.run(child, "x.append(2)\ny = x\ny[9]")

        assert (first.stdout, first.stderr, first.result) == ("out\n", "err\n", "{'x': [1]}")
        assert failure.error is not None
        assert (failure.error.ename, failure.error.line) == ("IndexError", 3)
        assert "    y[9]" in failure.error.traceback
        assert [variable.name for variable in failure.variables] == ["x", "y"]
        assert (await sidecar.run(sidecar.root, "x")).result == "[1]"


async def test_plain_python_has_no_ipython_and_nothing_of_ours(
    plain_python: Path, tmp_path: Path
) -> None:
    async with Sidecar(plain_python, tmp_path) as sidecar:
        missing = await sidecar.run(sidecar.root, "import IPython")
        ours = await sidecar.run(sidecar.root, "import exploracoder_kernel")
        classes = await sidecar.run(
            sidecar.root,
            "import inspect, pickle\ndef f():\n    return 1\n"
            "pickle.loads(pickle.dumps(f)) is f, inspect.getsource(f)",
        )

    assert missing.error is not None
    assert missing.error.ename == "ModuleNotFoundError"
    assert ours.error is not None
    assert ours.error.ename == "ModuleNotFoundError"
    assert classes.result == "(True, 'def f():\\n    return 1\\n')"


async def test_plain_python_completes_and_inspects(plain_python: Path, tmp_path: Path) -> None:
    async with Sidecar(plain_python, tmp_path) as sidecar:
        await sidecar.run(sidecar.root, "import json")
        completions = await sidecar.complete(sidecar.root, "x = json.du", 11)
        inspection = await sidecar.inspect(sidecar.root, "json.dumps")

    assert {"json.dump", "json.dumps"} <= set(completions.matches)
    assert (completions.start, completions.end) == (4, 11)
    assert inspection.file is not None
    assert inspection.file.endswith("json/__init__.py")


@pytest.mark.parametrize("name", ["wire", "protocol", "streams", "process", "serving", "text"])
async def test_a_users_module_is_not_shadowed_by_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("mine = 'yes'\n")
    async with Sidecar(cwd=tmp_path) as sidecar:
        observation = await sidecar.run(sidecar.root, f"import {name}\n{name}.mine")

    assert observation.result == "'yes'"


async def test_a_users_json_module_does_not_break_the_branch(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('not this one')\n")
    (tmp_path / "socket.py").write_text("raise RuntimeError('not this one')\n")
    async with Sidecar(cwd=tmp_path) as sidecar:
        child = await sidecar.fork(sidecar.root)

        assert (await sidecar.run(child, "1 + 1")).result == "2"


async def test_a_missing_interpreter_is_named(tmp_path: Path) -> None:
    assert await refused(tmp_path / "python") == (
        f"No interpreter at {tmp_path / 'python'}. Check the path."
    )
    assert "No command named 'no-such-python'" in await refused("no-such-python")


async def test_a_folder_or_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert "is a folder" in await refused(tmp_path)
    assert "not executable" in await refused(tmp_path / "file")


async def test_a_program_that_is_not_python_is_refused(tmp_path: Path) -> None:
    garbage = script(tmp_path / "garbage", "no shebang")

    assert "did not start as Python" in await refused("/bin/ls")
    assert "did not start as Python" in await refused("/bin/true")
    assert "did not start as Python. It said: Exec format error" in await refused(garbage)


async def test_an_interpreter_that_is_too_old_is_refused(tmp_path: Path) -> None:
    pretend = (
        "import runpy, sys; sys.version_info = (3, 6, 9, 'final', 0); sys.argv = sys.argv[4:]; "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    old = script(tmp_path / "python3.6", f'#!/bin/sh\nexec {sys.executable} -c "{pretend}" "$@"\n')

    assert "is Python 3.6.9. The sidecar needs Python 3.9 or newer" in await refused(old)


async def test_how_a_first_process_ended_is_said(tmp_path: Path) -> None:
    (tmp_path / "IPython.py").write_text("raise SystemExit('not with me')\n")

    with pytest.raises(InterpreterError) as error:
        async with Sidecar(cwd=tmp_path):
            pass

    message = str(error.value)
    assert "runs, but no snippet can run in it: It ended early with exit code 1." in message
    assert message.endswith("SystemExit: not with me")


async def test_a_first_process_that_is_killed_is_started_once_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = tmp_path / "was-here"
    (tmp_path / "IPython.py").write_text(
        f"import os, pathlib\nif not os.path.exists({str(once)!r}):\n"
        f"    pathlib.Path({str(once)!r}).touch()\n    os.kill(os.getpid(), 9)\n"
        "raise ImportError\n"
    )

    async with Sidecar(cwd=tmp_path) as sidecar:
        assert (await sidecar.run(sidecar.root, "1 + 1")).result == "2"

    assert "It ended early by SIGKILL. Starting once more." in caplog.text


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SidecarError, match="No folder"):
        async with Sidecar(cwd=tmp_path / "nowhere"):
            pass


@pytest.mark.parametrize("path", BRANCH_FILES, ids=lambda path: path.name)
def test_the_branch_is_written_in_python_3_9(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 9))


async def test_a_path_that_goes_up_and_down_again_is_the_same_interpreter(
    plain_python: Path, tmp_path: Path
) -> None:
    roundabout = plain_python.parent / ".." / "lib" / ".." / "bin" / plain_python.name

    async with Sidecar(roundabout, tmp_path) as sidecar:
        assert (await sidecar.run(sidecar.root, "print(6 * 7)")).stdout == "42\n"
