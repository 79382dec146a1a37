"""What ends a command's leash, and what it passes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from exploracoder_bench import leash

# Both signals come while the command is being started.
EARLY = """
import os, signal, subprocess, sys

start = subprocess.Popen

def started(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    return start(*arguments, **options)

subprocess.Popen = started
sys.path.insert(0, sys.argv.pop(1))
import leash
sys.exit(leash.main())
"""
HANDLER = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"


@pytest.fixture
def pipe() -> Iterator[int]:
    """The end that a leash reads; the other one is open meanwhile."""
    ends = os.pipe()
    yield ends[0]
    for end in ends:
        os.close(end)


def run(words: list[str], pipe: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        pass_fds=(pipe,),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_signals_that_come_while_the_command_starts_do_not_orphan_it(pipe: int) -> None:
    folder = str(Path(leash.__file__).parent)

    process = run(["-c", EARLY, folder, str(pipe), "sleep", "100"], pipe)

    # The command was sent SIGTERM, and the leash waited for its end.
    assert (process.returncode, process.stderr) == (256 - 15, "")


def test_a_command_can_still_be_interrupted(pipe: int) -> None:
    process = run([leash.__file__, str(pipe), sys.executable, "-c", HANDLER], pipe)

    assert process.stdout == "True\n"
