"""``exploracoder sidecar run``: files in branches of one root."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.branch import linux
from waiting import wait_until

from .conftest import Command, Outcome, start_command

KEYS = [
    "file",
    "status",
    "ename",
    "evalue",
    "stdout",
    "stderr",
    "result",
    "mime",
    "seconds",
    "limits_hit",
]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Writes a file into the folder that the command runs in."""
    monkeypatch.chdir(tmp_path)

    def write_file(name: str, code: str) -> str:
        (tmp_path / name).write_text(code, encoding="utf-8")
        return name

    return write_file


def rows(outcome: Outcome) -> list[dict[str, Any]]:
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_every_file_has_a_line_in_the_order_given(
    command: Command, write: Callable[[str, str], str]
) -> None:
    slow = write("slow.py", "import time; time.sleep(0.3)\n'slow'")
    quick = write("quick.py", "print('hi')\n1 + 1")

    outcome = command("sidecar", "run", slow, quick, slow, "--json")

    assert outcome.code == 0
    assert [row["file"] for row in rows(outcome)] == [slow, quick, slow]
    assert [row["result"] for row in rows(outcome)] == ["'slow'", "2", "'slow'"]
    assert list(rows(outcome)[1]) == KEYS
    assert rows(outcome)[1] | {"seconds": 0} == {
        "file": quick,
        "status": "ok",
        "ename": None,
        "evalue": None,
        "stdout": "hi\n",
        "stderr": "",
        "result": "2",
        "mime": ["text/plain"],
        "seconds": 0,
        "limits_hit": [],
    }


def test_what_goes_wrong_in_a_file_is_a_line_and_the_next_one_runs(
    command: Command, write: Callable[[str, str], str]
) -> None:
    codes = {
        "raises.py": "import sys\nprint('before', file=sys.stderr)\n{}['k']",
        "loops.py": "while True: pass",
        "leaves.py": "import os; os._exit(3)",
        "stops.py": "raise KeyboardInterrupt",
        "exits.py": "raise SystemExit(4)",
        "hoards.py": "x = bytearray(4_000_000_000)",
        "broken.py": "def f(:",
        "empty.py": "",
    }
    files = [write(name, code) for name, code in codes.items()]

    outcome = command("sidecar", "run", *files, "--json", "--timeout", 5, "--memory", 2000)
    file_rows = {row["file"]: row for row in rows(outcome)}

    assert outcome.code == 1
    assert {file: (row["status"], row["ename"]) for file, row in file_rows.items()} == {
        "raises.py": ("error", "KeyError"),
        "loops.py": ("timeout", "TimeoutError"),
        "leaves.py": ("killed", "ProcessDied"),
        "stops.py": ("error", "KeyboardInterrupt"),
        "exits.py": ("error", "SystemExit"),
        "hoards.py": ("limit", "MemoryError"),
        "broken.py": ("error", "SyntaxError"),
        "empty.py": ("ok", None),
    }
    assert file_rows["raises.py"]["stderr"] == "before\n"
    assert file_rows["loops.py"]["limits_hit"] == ["wall_seconds"]
    assert file_rows["hoards.py"]["limits_hit"] == ["memory_bytes"]


def test_files_see_the_set_up_and_not_each_other(
    command: Command, write: Callable[[str, str], str]
) -> None:
    setup = write("setup.py", "data = [1]")
    first = write("first.py", "data.append(2)\nmine = 1\ndata")
    second = write("second.py", "(data, 'mine' in dir())")

    outcome = command("sidecar", "run", first, second, "--setup", setup, "--jobs", 1, "--json")

    assert [row["result"] for row in rows(outcome)] == ["[1, 2]", "([1], False)"]


def test_a_set_up_that_fails_is_bad_input(
    command: Command, write: Callable[[str, str], str]
) -> None:
    setup, file = write("setup.py", "x = 1\nx / 0"), write("a.py", "1")

    outcome = command("sidecar", "run", file, "--setup", setup)

    assert (outcome.code, outcome.out) == (2, "")
    assert "--setup: setup.py failed in line 2: ZeroDivisionError: division by zero" in outcome.err


def test_rich_output_is_named_by_its_kind(
    command: Command, write: Callable[[str, str], str]
) -> None:
    file = write(
        "rich.py",
        "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))\nHTML('y')",
    )

    outcome = command("sidecar", "run", file, "--json")

    assert set(rows(outcome)[0]["mime"]) == {"text/html", "text/plain"}


def test_people_read_blocks_without_colours_or_control_characters_in_a_pipe(
    command: Command, write: Callable[[str, str], str]
) -> None:
    fine = write("fine.py", "print('a\\x1b[31mb\\x07c')\n[1]")
    wrong = write("wrong.py", "\n1 / 0")

    outcome = command("sidecar", "run", fine, wrong)

    assert outcome.code == 1
    assert "\x1b" not in outcome.out
    assert "ab\N{REPLACEMENT CHARACTER}c" in outcome.out
    assert "value:  [1]" in outcome.out
    assert "line 2: ZeroDivisionError: division by zero" in outcome.out
    assert outcome.out.splitlines()[-1] == "2 files: 1 ok, 1 error"


def test_bad_input_is_refused_before_anything_runs(
    command: Command, write: Callable[[str, str], str], tmp_path: Path
) -> None:
    marker = write("marker.py", "open('ran', 'w').close()")
    (tmp_path / "latin.py").write_bytes("é = 1".encode("latin-1"))
    (tmp_path / "folder").mkdir()
    wrongs: dict[str, list[object]] = {
        "missing.py cannot be read: No such file": ["missing.py"],
        "folder is a folder. Name the files in it: folder/*.py": ["folder"],
        "latin.py is not text in UTF-8": ["latin.py"],
        "/dev/zero is larger than": ["/dev/zero"],
        "is a notebook": ["x.ipynb"],
        "give '-' once": ["-", "-"],
        "No command named 'no-such-python'": [marker, "--python", "no-such-python"],
        "did not start as Python": [marker, "--python", "/bin/true"],
        "--timeout must be": [marker, "--timeout", "nan"],
        "--jobs": [marker, "--jobs", 0],
        "--memory": [marker, "--memory", -1],
        "--sandbox": [marker, "--sandbox", "loose"],
        "Missing argument": [],
    }

    for words, arguments in wrongs.items():
        outcome = (
            command("sidecar", "run", marker, *arguments)
            if arguments
            else command("sidecar", "run")
        )

        assert (outcome.code, outcome.out) == (2, ""), words
        assert words in " ".join(outcome.err.split()), outcome.err
    assert not (tmp_path / "ran").exists()


def test_standard_input_is_a_file_named_dash(write: Callable[[str, str], str]) -> None:
    file = write("a.py", "'file'")
    program = Path(sys.executable).with_name("exploracoder")

    process = subprocess.run(
        [program, "sidecar", "run", "-", file, "--json"],
        input="\ufeff'é'",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )

    assert [json.loads(line)["file"] for line in process.stdout.splitlines()] == ["-", file]
    assert json.loads(process.stdout.splitlines()[0])["result"] == "'é'"


def test_a_reader_that_goes_away_ends_the_command(write: Callable[[str, str], str]) -> None:
    files = [write(f"{number}.py", f"'{'x' * 9000}'") for number in range(12)]

    with start_command(["sidecar", "run", *files, "--json", "--jobs", 1], Path.cwd()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        family = linux.descendants([process.pid])
        process.stdout.close()
        stderr = process.stderr.read()
        process.wait(60)

    assert process.returncode == 1
    assert "Traceback" not in stderr
    assert set(family) & {alive.pid for alive in linux.processes()} == set()


def test_ctrl_c_ends_it_with_130_and_leaves_no_process(write: Callable[[str, str], str]) -> None:
    marker = Path.cwd() / "started"
    files = [write(f"{number}.py", "print('on', flush=True)\nwhile True: pass") for number in "ab"]
    setup = write("setup.py", f"open({str(marker)!r}, 'w').close()")
    words = ["sidecar", "run", *files, "--jobs", 2, "--setup", setup, "--sandbox", "off"]
    with start_command(words, Path.cwd()) as process:
        wait_until(marker.exists)
        # The keeper, the root, and a branch for each file.
        wait_until(lambda: len(linux.descendants([process.pid])) >= 4)
        family = linux.descendants([process.pid])
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)

    assert process.returncode == 130
    assert stderr.endswith("Interrupted.\n")
    assert set(family) & {alive.pid for alive in linux.processes()} == set()
