"""Whether a session leaks: thousands of forks, each with a cell, one after another.

Run: ``python -m exploracoder_bench.fork_leaks [--forks 10000] [--mechanism landlock] [--alive 5]``

The table has what there is after the first hundred forks and at the end: processes, memory and
descriptors of the owner and of the sandbox's first process, files below the folder for temporary
files, mounts, namespaces of mounts, cgroups. ``--alive`` branches are there at any time. Exit code
1 when anything has grown.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

from exploracoder_kernel import sandbox
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sandbox import LEVELS, LevelChoice, Mechanism
from exploracoder_kernel.sidecar import Sidecar

from exploracoder_bench.markdown import markdown
from exploracoder_bench.process_use import descendants, own_use, use_of

_SETTLED_AFTER = 100
_MECHANISMS: tuple[Mechanism, ...] = ("bubblewrap", "landlock")
# Between two looks memory differs by this much even when nothing is kept.
_MOST_MORE_MB = 5.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What there is at a moment.

    Attributes:
        first_mb: Memory of the sandbox's first process, in megabytes, as ``owner_mb``.
        files: Below the folder for temporary files, folders included.
        owner_mounts: What is mounted where the owner is; ``first_mounts`` in the sandbox.
        namespaces: Of mounts, that the owner and all below it are in.
        cgroups: That the owner and all below it are in, with those that are empty below its own.
    """

    forks: int
    seconds: float
    processes: int
    owner_mb: float
    owner_descriptors: int
    first_mb: float
    first_descriptors: int
    files: int
    owner_mounts: int
    first_mounts: int
    namespaces: int
    cgroups: int

    def growth(self, late: Snapshot) -> list[str]:
        """What is more later, in words; forks and seconds are meant to be."""
        found = []
        for name in (field.name for field in fields(self)[2:]):
            before, after = getattr(self, name), getattr(late, name)
            if after > before + (_MOST_MORE_MB if name.endswith("_mb") else 0):
                found.append(f"{name}: {before:g} became {after:g}")
        return found


async def play(
    *,
    forks: int,
    level: LevelChoice,
    alive: int,
    cwd: Path,
    mechanisms: Sequence[Mechanism] = _MECHANISMS,
) -> tuple[Snapshot, Snapshot]:
    """Fork and run; the answer is how things stood early and at the end.

    Args:
        forks: How many, one after another.
        level: Of the sandbox.
        alive: How many branches are there at any time.
        cwd: The task's folder; beside it lies the folder for temporary files.
        mechanisms: The sandbox may be made by these.

    Raises:
        SidecarError: There is no such sandbox here.
        RuntimeError: A branch was not forked, or did not hold what it should.
    """
    chosen = sandbox.choose(level, python=sys.executable, cwd=cwd, mechanisms=mechanisms)
    with _temporary_folder() as temporary:
        async with Sidecar(cwd=cwd, launcher=chosen.launcher) as sidecar:
            return await _play(sidecar, forks, alive, temporary)


async def _play(
    sidecar: Sidecar, forks: int, alive: int, temporary: Path
) -> tuple[Snapshot, Snapshot]:
    await _see(sidecar, sidecar.root, "import os\nkept = list(range(1000))\n0", "0")
    branches: collections.deque[str] = collections.deque()
    started = time.monotonic()
    early: Snapshot | None = None
    for number in range(1, forks + 1):
        branch = await sidecar.fork(sidecar.root)
        branches.append(branch)
        await _see(sidecar, branch, f"kept.append({number})\nlen(kept)", "1001")
        if len(branches) > alive:
            await sidecar.drop(branches.popleft())
        if number == min(_SETTLED_AFTER, forks):
            early = await _snapshot(number, started, temporary)
        if number % 1000 == 0:
            print(f"{number} forks", file=sys.stderr, flush=True)
    replayed = sum(info.created != "fork" for info in sidecar.tree()[1:])
    if replayed:
        raise RuntimeError(f"{replayed} of {len(branches)} branches were not forked")
    assert early is not None
    return early, await _snapshot(forks, started, temporary)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    """A folder of its own for this process's temporary files, so that they can be counted."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="forks-") as name:
        tempfile.tempdir = name
        try:
            yield Path(name)
        finally:
            tempfile.tempdir = before


async def _see(sidecar: Sidecar, branch: str, code: str, result: str) -> None:
    seen = await sidecar.run(branch, code)
    if seen.result != result:
        raise RuntimeError(f"This was to give {result} and gave {seen}")


async def _snapshot(forks: int, started: float, temporary: Path) -> Snapshot:
    seconds = time.monotonic() - started
    await asyncio.sleep(0.5)  # for those that end
    below = descendants(os.getpid())
    first = next(pid for pid in below if _text(pid, "comm").strip() != "bwrap")
    owner_use, first_use = own_use(), use_of(first)
    everyone = [os.getpid(), *below]
    return Snapshot(
        forks=forks,
        seconds=seconds,
        processes=len(below),
        owner_mb=owner_use.resident_mb,
        owner_descriptors=owner_use.descriptors,
        first_mb=first_use.resident_mb,
        first_descriptors=first_use.descriptors,
        files=_count_files(temporary),
        owner_mounts=len(_text(os.getpid(), "mountinfo").splitlines()),
        first_mounts=len(_text(first, "mountinfo").splitlines()),
        namespaces=len({_namespace(pid) for pid in everyone}),
        cgroups=len({_text(pid, "cgroup") for pid in everyone}) + _own_cgroups(),
    )


def _count_files(folder: Path) -> int:
    return sum(1 for _ in folder.rglob("*"))


def _text(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def _namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/mnt").readlink())
    except OSError:
        return ""


def _own_cgroups() -> int:
    """How many groups there are below this process's own."""
    own = _text(os.getpid(), "cgroup").strip().rpartition(":")[2].lstrip("/")
    return sum(1 for path in Path("/sys/fs/cgroup", own).rglob("*") if path.is_dir())


def table(early: Snapshot, late: Snapshot) -> str:
    """The figures."""
    rows = [
        (
            field.name.replace("_", " "),
            *(f"{getattr(one, field.name):,.6g}" for one in (early, late)),
        )
        for field in fields(Snapshot)
    ]
    return markdown(("what", "early", "at the end"), rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when anything has grown."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forks", type=int, default=10_000)
    parser.add_argument("--sandbox", choices=LEVELS, default="auto")
    parser.add_argument("--mechanism", choices=_MECHANISMS, help="default: what can be had")
    parser.add_argument("--alive", type=int, default=5)
    options = parser.parse_args(arguments)
    level = cast("LevelChoice", options.sandbox)
    mechanisms = (options.mechanism,) if options.mechanism else _MECHANISMS
    with tempfile.TemporaryDirectory() as folder:
        playing = play(
            forks=options.forks,
            level=level,
            alive=options.alive,
            cwd=Path(folder),
            mechanisms=mechanisms,
        )
        try:
            early, late = asyncio.run(playing)
        except SidecarError as error:
            print(error, file=sys.stderr)
            return 2
    print(table(early, late))
    growth = early.growth(late)
    for text in growth:
        print(text, file=sys.stderr)
    return 1 if growth else 0


if __name__ == "__main__":
    sys.exit(main())
