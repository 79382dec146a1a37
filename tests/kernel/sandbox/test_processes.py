"""A sandbox knows no process but its own, and has no rights over the machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from .conftest import Look

SECRET = f"sk-{uuid4().hex}"


@pytest.fixture
def neighbour() -> Iterator[subprocess.Popen[bytes]]:
    """Another program of the same user, with a secret in its environment."""
    environment = {**os.environ, "NEIGHBOUR_TOKEN": SECRET}
    with subprocess.Popen(["sleep", "60"], env=environment) as process:
        yield process
        process.kill()


# Landlock shows the process table, and says so in its reason.
@pytest.mark.parametrize("mechanism", ["bubblewrap"], indirect=True)
async def test_other_processes_are_not_seen(
    look: Look, neighbour: subprocess.Popen[bytes], value_of: Callable[..., Any]
) -> None:
    observation = await look(
        "import os\nsorted(int(name) for name in os.listdir('/proc') if name.isdigit())"
    )

    assert len(value_of(observation)) <= 4
    assert neighbour.pid not in value_of(observation)


async def test_no_environment_and_no_memory_of_others_is_read(
    look: Look, neighbour: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    observation = await look(
        "import glob, os\nfound, opened = '', []\n"
        "for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try:\n        found += open(path).read()\n"
        "    except OSError: pass\n"
        f"for pid in {neighbour.pid}, {os.getpid()}, os.getppid(), 1:\n"
        "    try:\n        opened.append(open(f'/proc/{pid}/mem', 'rb'))\n"
        "    except OSError: pass\n"
        f"{SECRET!r} in found, len(opened)"
    )

    assert observation.result == "(False, 0)"


async def test_other_processes_are_not_signalled(
    look: Look, neighbour: subprocess.Popen[bytes]
) -> None:
    observation = await look(f"import os\nos.kill({neighbour.pid}, 9)")

    assert observation.error is not None
    assert observation.error.ename in ("PermissionError", "ProcessLookupError")
    assert neighbour.poll() is None


async def test_programs_have_no_capabilities_and_a_branch_only_that_for_its_own_mounts(
    look: Look, mechanism: str, value_of: Callable[..., Any]
) -> None:
    observation = await look(
        "import subprocess\n"
        "def held(text):\n"
        "    lines = dict(l.split(':\\t', 1) for l in text.splitlines() if ':\\t' in l)\n"
        "    return [lines[n] for n in ('NoNewPrivs', 'CapPrm', 'CapEff', 'CapBnd')]\n"
        "of_program = subprocess.check_output(['cat', '/proc/self/status'], text=True)\n"
        "held(open('/proc/self/status').read()), held(of_program)"
    )

    own, programs = value_of(observation)
    capabilities = "0000000000200000" if mechanism == "bubblewrap" else "0" * 16
    assert own == ["1", capabilities, capabilities, capabilities]
    assert programs == ["1", "0" * 16, "0" * 16, capabilities]


async def test_no_namespace_can_be_made_inside(look: Look) -> None:
    observation = await look(
        "import subprocess\n"
        "subprocess.run(['unshare', '-U', 'true'], capture_output=True).returncode"
    )

    assert observation.result != "0"


# Landlock changes no names.
@pytest.mark.parametrize("mechanism", ["bubblewrap"], indirect=True)
async def test_the_machine_and_the_user_have_no_names(look: Look) -> None:
    observation = await look(
        "import getpass, os, socket\ngetpass.getuser(), os.getuid(), socket.gethostname()"
    )

    assert observation.result == "('sandbox', 1000, 'sandbox')"
