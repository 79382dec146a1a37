"""Hard limits: met by an error that the snippet can handle, and named in the observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exploracoder_kernel.sandbox import SandboxLimits

from .conftest import Look

SMALL = SandboxLimits(file_bytes=2**20, open_files=64, memory_bytes=2**29)


async def test_a_file_over_its_size_is_an_error_and_names_the_limit(look: Look) -> None:
    seen = await look("open('big', 'wb').write(bytes(2**21))", limits=SMALL)

    assert (seen.status, seen.limits_hit) == ("limit", ("file_bytes",))
    assert seen.error is not None
    assert seen.error.ename == "OSError"


async def test_too_many_open_files_are_an_error_and_name_the_limit(look: Look) -> None:
    seen = await look("files = []\nwhile True: files.append(open('/dev/null'))", limits=SMALL)

    assert (seen.status, seen.limits_hit) == ("limit", ("open_files",))


async def test_too_much_memory_is_an_error_and_names_the_limit(look: Look) -> None:
    seen = await look("x = bytearray(2**30)", limits=SMALL)

    assert (seen.status, seen.limits_hit) == ("limit", ("memory_bytes",))
    assert seen.error is not None
    assert seen.error.ename == "MemoryError"


async def test_limits_can_not_be_raised(look: Look, value_of: Callable[..., Any]) -> None:
    seen = await look(
        "import resource\nrefused = []\n"
        "for name in ('FSIZE', 'NOFILE', 'DATA', 'CORE'):\n"
        "    number = getattr(resource, f'RLIMIT_{name}')\n"
        "    try: resource.setrlimit(number, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "    except (OSError, ValueError): refused.append(name)\n"
        "refused",
        limits=SMALL,
    )

    assert value_of(seen) == ["FSIZE", "NOFILE", "DATA", "CORE"]


async def test_memory_for_temporary_files_is_bounded(look: Look, mechanism: str) -> None:
    seen = await look(
        "import os\nfd = os.open('/dev/shm/x', os.O_CREAT | os.O_WRONLY)\n"
        "while True: os.write(fd, bytes(2**18))",
        limits=SandboxLimits(shared_bytes=2**20),
    )

    assert seen.error is not None
    assert seen.error.ename == ("OSError" if mechanism == "bubblewrap" else "PermissionError")
