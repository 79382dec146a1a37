"""The command line in a place of its own, where somebody may have left something."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from exploracoder_bench import runs
from exploracoder_bench.hostile_snippets import Variant

_SECONDS = 170.0
_GIGABYTE = 2**30


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; ``code`` is None when it had to be ended."""

    code: int | None
    out: str
    err: str
    peak_bytes: int

    def trouble(self, *, seconds: float, memory_bytes: int = _GIGABYTE) -> str:
        """What a command must not do whatever it is given; empty when it has not."""
        if self.code is None:
            return f"it did not end within {seconds:.0f} s"
        if "Traceback" in self.err + self.out:
            return f"a traceback: {self.err.strip().splitlines()[-1][:100]}"
        if self.peak_bytes > memory_bytes:
            return f"it took {self.peak_bytes >> 20} MB"
        return ""


class Workplace:
    """A home, a folder for temporary files, and a folder to work in, all below one folder."""

    def __init__(self, folder: Path, cache: Path, variant: Variant) -> None:
        self.folder = folder
        self.home, self.temporary, self.work = (
            folder / name for name in ("home", "temporary", "work")
        )
        for path in (self.home, self.temporary, self.work):
            path.mkdir(parents=True)
        self._environment = {
            **_without(os.environ, "OPENAI_", "EXPLORACODER_", "PYTHON", "XDG_"),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "EXPLORACODER_CACHE": str(cache),
            "EXPLORACODER_CONFIG": str(folder / "config"),
            "EXPLORACODER_SANDBOX": variant.level,
            "EXPLORACODER_STRATEGY": variant.strategy,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        if variant.mechanism == "landlock":
            self._environment["PATH"] = str(_programs_without_bubblewrap(folder / "programs"))

    def run(self, *words: object, seconds: float = _SECONDS) -> Ended:
        """Run ``exploracoder`` here, for at most so long and with at most four gigabytes."""
        command = [sys.executable, runs.script(), *map(str, words)]
        started = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command,
                cwd=self.work,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                preexec_fn=_limit_memory,
            )
            code, peak = _wait(process, started + seconds)
            return Ended(code, _text(out), _text(err), peak)


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[int | None, int]:
    """The exit code, None where it had to be killed, and the most memory it has had."""
    is_late = False
    while True:
        # Popen would not tell the memory of this child alone.
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return (None if is_late else process.returncode), usage.ru_maxrss * 1024
        if not is_late and time.monotonic() > deadline:
            process.kill()
            is_late = True
        time.sleep(0.02)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def explore_words(server_url: str, model: str, *libraries: object) -> Sequence[object]:
    """An exploration with a model at an address; the task is the same for all."""
    named = [word for library in libraries for word in ("--library", library)]
    where = ("--base-url", server_url, "--model", model)
    return ("explore", "Give the answer as a number.", *named, *where, "--quiet")


def _limit_memory() -> None:
    """What asks for more ends with an error instead of ending the machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (4 * _GIGABYTE, 4 * _GIGABYTE))


def _programs_without_bubblewrap(folder: Path) -> Path:
    """A folder with links to all programs but one, as on a machine that does not have it."""
    folder.mkdir()
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            link = folder / program.name
            if program.name != "bwrap" and not link.is_symlink():
                link.symlink_to(program)
    return folder


def _without(environment: os._Environ[str], *prefixes: str) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(prefixes)}
