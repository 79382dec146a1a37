"""Nothing calls home: no connection leaves this machine, and no name is looked up."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Explorer, Serve

# Telemetry waits until a program is not in a hurry any more.
_SECONDS = 12.0
_COMMANDS = """
import sys, time, json
from exploracoder import cli
for words in json.loads(sys.argv[1]):
    sys.argv = ["exploracoder", *words]
    try:
        cli.main()
    except SystemExit as ended:
        print(words[0], ended.code, flush=True)
time.sleep(float({seconds}))
"""
_CALL = re.compile(r"\b(?:connect|sendto|sendmsg|sendmmsg)\(.*?sa_family=AF_INET6?.*")
_LOOPBACK = re.compile(r'inet_addr\("127\.|inet_pton\(AF_INET6, "(?:::1|::ffff:127\.[\d.]+)"')
_LOOK_UP = re.compile(r"htons\(53\)|systemd/resolve|/resolv\.conf")


def _can_trace() -> str:
    """Why system calls cannot be traced here; empty when they can."""
    program = shutil.which("strace")
    if program is None:
        return "strace is not installed"
    process = subprocess.run([program, "-qq", "-o", os.devnull, "true"], capture_output=True)
    return "" if process.returncode == 0 else f"strace cannot trace here: {process.stderr.decode()}"


def traced(code: str, log: Path, *words: str) -> str:
    """What a program of ours printed; ``log`` gets its calls, those of its processes too."""
    calls = "trace=%network,openat"
    command = ["strace", "-f", "-qq", "-s", "200", "-e", calls, "-o", str(log), sys.executable]
    process = subprocess.run(
        [*command, "-c", code, *words], capture_output=True, text=True, timeout=300
    )
    return process.stdout + process.stderr


def strangers(log: Path) -> list[str]:
    """The calls that reach out of this machine, or look a name up."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    calls = [line for line in lines if _CALL.search(line) and not _LOOPBACK.search(line)]
    return [*calls, *(line for line in lines if _LOOK_UP.search(line))]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without anything that somebody agreed to, or that was sent already."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CI", "GITHUB_ACTIONS", "XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.mark.skipif(_can_trace() != "", reason=_can_trace())
def test_a_trace_sees_who_calls(home: Path, tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "socket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.1', 9))\n"
        "try:\n    socket.getaddrinfo('tea.example', 80)\nexcept OSError:\n    pass\n"
    )

    traced(code, tmp_path / "log")

    assert any("192.0.2.1" in line for line in strangers(tmp_path / "log"))
    assert any(_LOOK_UP.search(line) for line in strangers(tmp_path / "log"))


@pytest.mark.skipif(_can_trace() != "", reason=_can_trace())
def test_index_search_explore_and_replay_call_nobody(
    home: Path, serve: Serve, explore: Explorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    options = ["--profile", "small", "--set", "first-tries=0"]
    commands = [
        ["index", "tealeaf/"],
        ["search", "steep", "-l", "tealeaf/"],
        [*explore.words(serve()), *map(str, explore.files()), *options],
        ["replay", str(explore.notebook)],
    ]

    output = traced(_COMMANDS.format(seconds=_SECONDS), tmp_path / "log", json.dumps(commands))

    assert [f"{words[0]} 0" in output for words in commands] == [True] * 4
    assert strangers(tmp_path / "log") == []
    assert not list(home.rglob("*onnxruntime*"))
