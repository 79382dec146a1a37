"""The commands that a harness has running, each on a leash."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path

_LEASH = Path(__file__).with_name("leash.py")
# The command ends by itself at its limit; one that does not is terminated, then killed.
_LAST_WORDS_S = 20.0


class Children:
    """Starts commands and can end all of them at once, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe_ends: set[int] = set()
        self._is_over = False

    def call(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        environment: Mapping[str, str],
        timeout_s: float,
    ) -> tuple[int, bool]:
        """Run a command to its end; return its exit code, and whether it timed out.

        Standard input is task.txt, output and error go to report.json and messages.txt, all in
        ``folder``. No process of the command is left when this returns or raises.
        """
        read_end, write_end = os.pipe()
        try:
            self._hold(write_end)
            return _run(
                command, folder, read_end, environment, timeout_s, lambda: self._let_go(write_end)
            )
        finally:
            os.close(read_end)
            self._let_go(write_end)

    def end(self) -> None:
        """End all running commands, and start no more: later calls are cancelled."""
        with self._lock:
            self._is_over = True
            ends, self._pipe_ends = self._pipe_ends, set()
        for end in ends:
            os.close(end)

    def _hold(self, end: int) -> None:
        with self._lock:
            if not self._is_over:
                self._pipe_ends.add(end)
                return
        os.close(end)
        raise CancelledError

    def _let_go(self, end: int) -> None:
        with self._lock:
            if end not in self._pipe_ends:
                return
            self._pipe_ends.discard(end)
        os.close(end)


def _run(
    command: Sequence[str],
    folder: Path,
    read_end: int,
    environment: Mapping[str, str],
    timeout_s: float,
    kill: Callable[[], None],
) -> tuple[int, bool]:
    with (
        (folder / "task.txt").open("rb") as task,
        (folder / "report.json").open("wb") as report,
        (folder / "messages.txt").open("wb") as messages,
        subprocess.Popen(
            [sys.executable, "-I", "-S", str(_LEASH), str(read_end), *command],
            cwd=folder,
            env=environment,
            stdin=task,
            stdout=report,
            stderr=messages,
            pass_fds=(read_end,),
        ) as leash,
    ):
        try:
            return leash.wait(timeout_s), False
        except subprocess.TimeoutExpired:
            leash.terminate()
        try:
            return leash.wait(_LAST_WORDS_S), True
        except subprocess.TimeoutExpired:
            kill()
            return leash.wait(), True
