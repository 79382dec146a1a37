"""A file is found by its name: no two modules have the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("benchmarks", "exploration", "extension", "kernel_tools", "retrieval")
# Python's own, and what every package has.
COMMON = {"__init__.py", "__main__.py", "errors.py"}
# Others' modules, and libraries that are data.
OTHERS = {"node_modules", "unknown_libraries"}
COMMANDS = ROOT / "exploration/exploracoder/cli"


def test_no_two_modules_have_one_name() -> None:
    files = [file for room in ROOMS for file in (ROOT / room).glob("*/**/*.py")]
    # A command's file has the command's name, as has what it starts.
    ours = [file for file in files if not OTHERS & {*file.parts} and file.parent != COMMANDS]
    counts = Counter(file.name for file in ours if file.name not in COMMON)

    assert len(counts) > 50
    assert [name for name, count in counts.items() if count > 1] == []
