"""What is said, and what still holds, where a container forbids what a sandbox is made of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from exploracoder_kernel.sandbox import seccomp

# Loads a filter as container engines do, then starts a sandbox and says what came of it.
FORBIDDING = """
import asyncio, errno, sys
from pathlib import Path

import pyseccomp

program = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in sys.argv[1].split():
    if name == "namespaces":
        has_flag = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, 0x10000000, 0x10000000)
        for call in ("clone", "unshare"):
            program.add_rule(pyseccomp.ERRNO(errno.EPERM), call, has_flag)
        program.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    else:
        program.add_rule(pyseccomp.ERRNO(errno.ENOSYS), name)
program.load()

from exploracoder_kernel.errors import SandboxUnavailable
from exploracoder_kernel.sandbox import Consent, choose
from exploracoder_kernel.sidecar import Sidecar


async def main():
    try:
        consent = Consent(Path("no-consent.json"))
        chosen = choose(sys.argv[2], python=sys.executable, cwd=Path.cwd(), consent=consent)
    except SandboxUnavailable as refusal:
        print("refused:", refusal)
        return
    async with Sidecar(launcher=chosen.launcher) as sidecar:
        branch = await sidecar.fork(sidecar.root)
        seen = await sidecar.run(branch, "open('x', 'w').write('mine'); 6 * 7")
        print(chosen, seen.result)


asyncio.run(main())
"""


def outcome(folder: Path, forbidden: str, level: str = "auto") -> str:
    """What a process says that may not make some calls."""
    command = [sys.executable, "-c", FORBIDDING, forbidden, level]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return process.stdout.strip() or process.stderr


def test_without_user_namespaces_landlock_keeps_code_in(tmp_path: Path) -> None:
    assert outcome(tmp_path, "namespaces") == "strict (landlock) 42"


def test_without_landlock_bubblewrap_does(tmp_path: Path) -> None:
    assert outcome(tmp_path, "landlock_create_ruleset") == "strict (bubblewrap) 42"


@pytest.mark.parametrize("level", ["auto", "strict", "network"])
def test_without_both_it_is_refused_and_said_what_to_do(tmp_path: Path, level: str) -> None:
    output = outcome(tmp_path, "namespaces landlock_create_ruleset", level)

    assert output.startswith("refused: There is no sandbox to run snippets in.")
    assert "In a container, allow user namespaces" in output
    assert "Landlock" in output


@pytest.mark.parametrize("level", ["auto", "strict", "network"])
def test_without_filters_of_system_calls_it_is_refused_and_said_why(
    tmp_path: Path, level: str
) -> None:
    output = outcome(tmp_path, "seccomp", level)

    assert output.startswith("refused: There is no sandbox to run snippets in.")
    assert "System calls can't be filtered here" in output


def test_without_libseccomp_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    seccomp.trouble.cache_clear()

    reason = seccomp.trouble()

    seccomp.trouble.cache_clear()
    assert reason is not None
    assert "apt install libseccomp2" in reason
