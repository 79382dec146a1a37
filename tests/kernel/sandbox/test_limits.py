"""Hard limits: met by an error that the snippet can handle, and named in the observation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel import launch_command
from exploracoder_kernel.branch import linux
from exploracoder_kernel.sandbox import SandboxLimits
from exploracoder_kernel.sidecar import Sidecar

from .conftest import Choose, Look

SMALL = SandboxLimits(file_bytes=2**20, open_files=64, memory_bytes=2**29)


async def test_a_file_over_its_size_is_an_error_and_names_the_limit(look: Look) -> None:
    observation = await look("open('big', 'wb').write(bytes(2**21))", limits=SMALL)

    assert (observation.status, observation.limits_hit) == ("limit", ("file_bytes",))
    assert observation.error is not None
    assert observation.error.ename == "OSError"


async def test_too_many_open_files_are_an_error_and_name_the_limit(look: Look) -> None:
    observation = await look(
        "files = []\nwhile True: files.append(open('/dev/null'))", limits=SMALL
    )

    assert (observation.status, observation.limits_hit) == ("limit", ("open_files",))


async def test_too_much_memory_is_an_error_and_names_the_limit(look: Look) -> None:
    observation = await look("x = bytearray(2**30)", limits=SMALL)

    assert (observation.status, observation.limits_hit) == ("limit", ("memory_bytes",))
    assert observation.error is not None
    assert observation.error.ename == "MemoryError"


async def test_limits_can_not_be_raised(look: Look, value_of: Callable[..., Any]) -> None:
    observation = await look(
        "import resource\nrefused = []\n"
        "for name in ('FSIZE', 'NOFILE', 'DATA', 'CORE'):\n"
        "    number = getattr(resource, f'RLIMIT_{name}')\n"
        "    try: resource.setrlimit(number, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "    except (OSError, ValueError): refused.append(name)\n"
        "refused",
        limits=SMALL,
    )

    assert value_of(observation) == ["FSIZE", "NOFILE", "DATA", "CORE"]


async def test_a_cell_that_lowers_a_limit_keeps_its_outcome(look: Look) -> None:
    observation = await look(
        "import resource\n_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (hard // 2, hard // 2))\n6 * 7"
    )

    assert (observation.status, observation.result) == ("ok", "42")


@pytest.mark.parametrize("place", ["/dev/shm/x", "/tmp/x", "x", "~/x"])
async def test_what_may_be_written_is_bounded_in_all(
    look: Look, mechanism: str, place: str
) -> None:
    observation = await look(
        f"import os, time\nplace = os.path.expanduser({place!r})\n"
        "for number in range(64):\n"
        "    with open(f'{place}{number}', 'wb') as file: file.write(bytes(2**20))\n"
        "time.sleep(10)",
        limits=SandboxLimits(scratch_bytes=2**24),
    )

    if mechanism == "landlock" and place.startswith("/"):
        assert observation.error is not None
        assert observation.error.ename == "PermissionError"
    else:
        assert (observation.status, observation.limits_hit) == ("limit", ("scratch_bytes",))


async def test_how_many_files_may_be_made_is_bounded(look: Look, mechanism: str) -> None:
    observation = await look(
        "import time\nfor number in range(5000): open(str(number), 'w').close()\ntime.sleep(10)",
        limits=SandboxLimits(scratch_files=1000),
    )

    name = "scratch_bytes" if mechanism == "bubblewrap" else "scratch_files"
    assert (observation.status, observation.limits_hit) == ("limit", (name,))


@pytest.mark.parametrize("mechanism", ["bubblewrap"], indirect=True)
async def test_files_in_memory_count_as_what_a_branch_holds(boxed: Choose, task: Path) -> None:
    async with Sidecar(sys.executable, task, launcher=boxed().launcher) as sidecar:
        branch = await sidecar.fork(sidecar.root)
        await sidecar.run(branch, "open('/dev/shm/x', 'wb').write(bytes(2**26))")

        root, child = await sidecar.measure()

    assert root.own_bytes is not None
    assert child.own_bytes is not None
    assert child.own_bytes - root.own_bytes > 2**26 - 2**24


@pytest.mark.parametrize("mechanism", ["landlock"], indirect=True)
async def test_after_a_folder_that_is_too_deep_others_are_still_looked_at(
    boxed: Choose, task: Path
) -> None:
    deep = "import os, time\nfor _ in range(1200): os.mkdir('d'); os.chdir('d')\ntime.sleep(5)"
    large = "import time\nopen('x', 'wb').write(bytes(2**25))\ntime.sleep(10)"
    limits = SandboxLimits(scratch_bytes=2**24)
    async with Sidecar(sys.executable, task, launcher=boxed(limits=limits).launcher) as sidecar:
        first, second = [await sidecar.fork(sidecar.root) for _ in range(2)]

        observations = [await sidecar.run(first, deep), await sidecar.run(second, large)]

    assert [one.limits_hit for one in observations] == [("scratch_files",), ("scratch_bytes",)]


@pytest.mark.parametrize("mechanism", ["landlock"], indirect=True)
async def test_files_without_a_name_count_for_the_branch_that_holds_them(
    boxed: Choose, task: Path
) -> None:
    hold = "import os\nfd = os.open('.', os.O_TMPFILE | os.O_RDWR)\nos.write(fd, bytes(3 * 2**22))"
    write = "import time\nopen('x', 'wb').write(bytes(2**23))\ntime.sleep(2)"
    limits = SandboxLimits(scratch_bytes=2**24)
    async with Sidecar(sys.executable, task, launcher=boxed(limits=limits).launcher) as sidecar:
        first, second = [await sidecar.fork(sidecar.root) for _ in range(2)]

        observations = [await sidecar.run(first, hold), await sidecar.run(second, write)]

    assert [(one.status, one.limits_hit) for one in observations] == [("ok", ()), ("ok", ())]


def test_a_containers_memory_counts_as_the_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "two" / "max").write_text("max\n")
    (tmp_path / "one" / "max").write_text("268435456\n")
    (tmp_path / "max").write_text("536870912\n")
    (tmp_path / "cgroup").write_text("2:cpu,memory:/gone\n1:name=systemd:/\n0::/one/two\n")
    limits = {"": (str(tmp_path), "max"), "memory": (str(tmp_path / "gone"), "max")}
    monkeypatch.setattr(linux, "MEMORY_LIMITS", limits)
    monkeypatch.setattr(linux, "CGROUPS", str(tmp_path / "cgroup"))

    assert linux.machine_memory() == 2**28
    assert SandboxLimits().memory_bytes == 2**27


async def test_a_containers_memory_bounds_what_a_branch_uses_in_all(
    look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_command, "machine_memory", lambda: 2**29)

    observation = await look(
        "import time\nx = b'x' * 2**29\ntime.sleep(10)", limits=SandboxLimits(memory_bytes=2**32)
    )

    assert (observation.status, observation.limits_hit) == ("limit", ("memory_bytes",))
