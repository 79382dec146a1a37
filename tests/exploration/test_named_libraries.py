"""What lies beside a library that was named runs nowhere but in the sandbox, if at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Command, Explorer, Serve

TRAPS = ("sitecustomize", "usercustomize", "json", "site", "encodings", "IPython")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "it-ran"


@pytest.fixture
def trapped(own_library: Path, marker: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library, with modules beside it that Python looks for by itself."""
    code = f"try:\n    open({str(marker)!r}, 'a').write(__name__)\nexcept OSError:\n    pass\n"
    for folder in (own_library, own_library / "tealeaf"):
        for name in TRAPS:
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
        (folder / "trap.pth").write_text(f"import sys; exec({code!r})\n", encoding="utf-8")
    monkeypatch.chdir(own_library)
    return own_library


@pytest.mark.parametrize("target", ["tealeaf/", ".", "tealeaf/leaves.py"])
def test_index_runs_nothing_beside_a_named_library(
    target: str, trapped: Path, marker: Path, command: Command
) -> None:
    for name in TRAPS:
        (trapped / f"{name}.py").rename(trapped / "tealeaf" / f"{name}.py")

    outcome = command("index", f"{trapped}/{target}", "--json")

    assert outcome.code == 0
    assert not marker.exists()


@pytest.mark.parametrize("option", ["tools", "search"])
def test_looking_something_up_runs_nothing_beside_a_named_library(
    option: str, trapped: Path, marker: Path, command: Command
) -> None:
    words = {
        "search": ["search", "steep", "-l", "tealeaf/"],
        "tools": ["tools", "class-info", "Leaf", "--root", trapped],
    }

    command(*words[option])

    assert not marker.exists()


@pytest.mark.levels("strict", "network", reason="outside of a sandbox all may write everywhere")
def test_explore_and_replay_run_nothing_beside_a_named_library_outside_of_the_sandbox(
    trapped: Path, marker: Path, serve: Serve, explore: Explorer, command: Command
) -> None:
    # Inside they would stand in for modules that snippets need.
    for name in ("json", "site", "encodings", "IPython"):
        (trapped / f"{name}.py").unlink()

    explore_outcome = explore(serve(), "--profile", "small", "--set", "first-tries=0")
    was_written = marker.exists()
    replay_outcome = command("replay", explore.notebook, "--json")

    assert explore_outcome.code == 0
    assert replay_outcome.code == 0
    assert not was_written
    assert not marker.exists()
