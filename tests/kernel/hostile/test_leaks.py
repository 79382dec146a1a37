"""Many forks in one session leave nothing behind.

``EXPLORACODER_TEST_FORKS`` says how many; ten thousand take some minutes.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import ctypes
import os
import sys
import time
from pathlib import Path

import psutil
import pytest
from exploracoder_kernel import sandbox
from exploracoder_kernel.sandbox import LevelChoice, Mechanism
from exploracoder_kernel.sidecar import Sidecar

from .snippet import Variant
from .test_snippets import require

FORKS = int(os.environ.get("EXPLORACODER_TEST_FORKS", "300"))
SETTLED_AFTER = 100
MECHANISMS: tuple[Mechanism, ...] = ("bubblewrap", "landlock")
# Between two looks memory differs by so much even when nothing is kept.
MOST_MORE_MB = {"owner_mb": 5.0, "first_mb": 1.0}
Look = dict[str, float]


def living(besides: set[int]) -> list[psutil.Process]:
    """All processes below this one, but for some."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if one.pid not in besides and one.status() != "zombie":
                found.append(one)
    return found


async def settled(besides: set[int]) -> list[psutil.Process]:
    """Processes of the sandbox, once those that end have ended."""
    count, same = -1, 0
    deadline = time.monotonic() + 30
    while same < 5 and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
        before, count = count, len(living(besides))
        same = same + 1 if count == before else 0
    assert same >= 5, "processes come and go"
    return living(besides)


def look(temporary: Path, below: list[psutil.Process]) -> Look:
    """What there is now, of the owner and of the sandbox's first process."""
    ctypes.CDLL(None).malloc_trim(0)  # what the C library keeps for later is no leak
    owner = psutil.Process()
    first = next(one for one in below if one.name() != "bwrap")
    everyone = [owner, *below]
    return {
        "processes": len(below),
        "owner_mb": owner.memory_info().rss / 2**20,
        "owner_descriptors": owner.num_fds(),
        "first_mb": first.memory_info().rss / 2**20,
        "first_descriptors": first.num_fds(),
        "files": sum(1 for _ in temporary.rglob("*")),
        "owner_mounts": len(told(owner, "mountinfo").splitlines()),
        "first_mounts": len(told(first, "mountinfo").splitlines()),
        "namespaces": len({os.readlink(f"/proc/{one.pid}/ns/mnt") for one in everyone}),  # noqa: PTH115 - no path
        "cgroups": len({told(one, "cgroup") for one in everyone}) + own_cgroups(owner),
    }


def told(process: psutil.Process, name: str) -> str:
    return Path(f"/proc/{process.pid}/{name}").read_text(errors="replace")


def own_cgroups(process: psutil.Process) -> int:
    """How many groups there are below a process's own."""
    own = told(process, "cgroup").strip().rpartition(":")[2].lstrip("/")
    return sum(1 for path in Path("/sys/fs/cgroup", own).rglob("*") if path.is_dir())


def growth(early: Look, late: Look) -> list[str]:
    """What is more later, in words."""
    return [
        f"{name}: {early[name]:g} became {late[name]:g}"
        for name in early
        if late[name] > early[name] + MOST_MORE_MB.get(name, 0)
    ]


async def play(
    forks: int, alive: int, folder: Path, level: LevelChoice, *mechanisms: Mechanism
) -> list[Look]:
    """Fork and run, with ``alive`` branches there at any time: how things stood early and late."""
    choice = sandbox.choose(level, python=sys.executable, cwd=folder, mechanisms=mechanisms)
    looks, branches = [], collections.deque[str]()
    others = {one.pid for one in living(set())}  # such as a kernel that other tests share
    async with Sidecar(cwd=folder, launcher=choice.launcher) as sidecar:
        await sidecar.run(sidecar.root, "kept = list(range(1000))")
        for number in range(1, forks + 1):
            branches.append(await sidecar.fork(sidecar.root))
            observation = await sidecar.run(branches[-1], f"kept.append({number})\nlen(kept)")
            assert observation.result == "1001"
            if len(branches) > alive:
                await sidecar.drop(branches.popleft())
            if number in (min(SETTLED_AFTER, forks), forks):
                looks.append(look(folder.with_name("temporary"), await settled(others)))
        assert {info.created for info in sidecar.tree()[1:]} == {"fork"}
    return looks


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task's folder; temporary files lie in one of their own, so that they can be counted."""
    for name in ("task", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path / "task"


@pytest.mark.timeout(0)
@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_many_forks_leave_nothing_behind(folder: Path, mechanism: Mechanism) -> None:
    require(Variant(mechanism))

    early, late = await play(FORKS, 3, folder, "strict", mechanism)

    print(f"after {SETTLED_AFTER}: {early}\nafter {FORKS}: {late}")  # noqa: T201 - a figure
    assert growth(early, late) == []


async def test_what_has_grown_is_named(folder: Path) -> None:
    (few,) = await play(3, 1, folder, "off")
    (many,) = await play(3, 3, folder, "off")

    assert growth(few, few) == []
    assert f"processes: {few['processes']:g} became {many['processes']:g}" in growth(few, many)
