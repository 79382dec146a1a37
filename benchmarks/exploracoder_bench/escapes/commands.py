"""The command line in a place of its own, where somebody may have left something."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
    seconds: float
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
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=_limit_memory,  # noqa: PLW1509  # this program has no threads
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return Ended(None, out, err, time.monotonic() - started, 0)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        return Ended(process.returncode, out, err, time.monotonic() - started, peak)


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
        for name in os.listdir(place) if Path(place).is_dir() else ():
            if name != "bwrap" and not (folder / name).is_symlink():
                (folder / name).symlink_to(Path(place, name))
    return folder


def _without(environment: os._Environ[str], *prefixes: str) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(prefixes)}
