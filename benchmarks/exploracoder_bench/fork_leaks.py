"""Whether a session leaks: thousands of forks, each with a cell, one after another.

Run: ``python -m exploracoder_bench.fork_leaks [--forks 10000] [--sandbox off] [--alive 5]``

The table has processes, and memory and descriptors of the owner and of the keeper, after the first
hundred forks and at the end. ``--alive`` branches are there at any time.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from exploracoder_kernel import sandbox
from exploracoder_kernel.branch import linux
from exploracoder_kernel.sandbox import LEVELS, LevelChoice
from exploracoder_kernel.sidecar import Sidecar

from exploracoder_bench.markdown import markdown
from exploracoder_bench.process_use import Use, own_use, use_of

_SETTLED_AFTER = 100


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What there is at a moment."""

    forks: int
    processes: int
    owner: Use
    keeper: Use
    seconds: float


async def play(
    *, forks: int, level: LevelChoice, alive: int, cwd: Path
) -> tuple[Snapshot, Snapshot]:
    """Fork and run; the answer is how things stood early and at the end."""
    chosen = sandbox.choose(level, python=sys.executable, cwd=cwd)
    async with Sidecar(cwd=cwd, launcher=chosen.launcher) as sidecar:
        root_pid = await _see(sidecar, sidecar.root, "import os\nkept = list(range(1000))\n0", "0")
        assert root_pid
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
                early = await _snapshot(number, started)
            if number % 1000 == 0:
                print(f"{number} forks", file=sys.stderr, flush=True)
        replayed = sum(info.created != "fork" for info in sidecar.tree()[1:])
        if replayed:
            raise RuntimeError(f"{replayed} of {len(branches)} branches were not forked")
        assert early is not None
        return early, await _snapshot(forks, started)


async def _see(sidecar: Sidecar, branch: str, code: str, result: str) -> bool:
    seen = await sidecar.run(branch, code)
    if seen.result != result:
        raise RuntimeError(f"This was to give {result} and gave {seen}")
    return True


async def _snapshot(forks: int, started: float) -> Snapshot:
    seconds = time.monotonic() - started
    await asyncio.sleep(0.5)  # for those that end
    below = linux.descendants([os.getpid()])
    keeper = next(pid for pid in below if _is_keeper(pid))
    return Snapshot(forks, len(below), own_use(), use_of(keeper), seconds)


def _is_keeper(pid: int) -> bool:
    """It runs the branch's code, and whoever started it does not."""
    process = linux.read_process(pid)
    return _runs_ours(pid) and process is not None and not _runs_ours(process.parent)


def _runs_ours(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return any(word.endswith(b"/branch/process.py") for word in words[:3])


def table(early: Snapshot, late: Snapshot) -> str:
    """The figures."""
    rows = [
        (
            f"{one.forks:,}",
            str(one.processes),
            f"{one.owner.resident_mb:.1f} MB",
            str(one.owner.descriptors),
            f"{one.keeper.resident_mb:.1f} MB",
            str(one.keeper.descriptors),
            f"{one.forks / one.seconds:.0f}",
        )
        for one in (early, late)
    ]
    head = ("forks", "processes", "owner", "its fds", "keeper", "its fds", "forks a second")
    return markdown(head, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forks", type=int, default=10_000)
    parser.add_argument("--sandbox", choices=LEVELS, default="auto")
    parser.add_argument("--alive", type=int, default=5)
    options = parser.parse_args(arguments)
    level = cast("LevelChoice", options.sandbox)
    with tempfile.TemporaryDirectory() as folder:
        playing = play(forks=options.forks, level=level, alive=options.alive, cwd=Path(folder))
        early, late = asyncio.run(playing)
    print(table(early, late))
    return 0


if __name__ == "__main__":
    sys.exit(main())
