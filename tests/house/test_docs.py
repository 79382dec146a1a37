"""The pages say what the code says, and nothing they point to is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("exploration", "retrieval", "kernel_tools", "extension", "benchmarks")
FOLDERS = (*ROOMS, "tests", "docs", "examples")
_GENERATE = ROOT / "docs" / "generate.py"
_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
_VARIABLE = re.compile(r"\b(?:EXPLORACODER|OPENAI|HF)_[A-Z_]*[A-Z]\b")


def _pages() -> list[Path]:
    below = (page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))
    ours = (page for page in below if not {"prompts", "node_modules"} & set(page.parts))
    return sorted([*ROOT.glob("*.md"), *ours])


def _generate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, _GENERATE, *arguments], capture_output=True, text=True, check=False
    )


def test_the_generated_pages_are_up_to_date() -> None:
    checked = _generate("--check")

    assert checked.returncode == 0, checked.stderr


def test_a_page_that_was_changed_by_hand_is_found(tmp_path: Path) -> None:
    _generate(tmp_path)
    with (tmp_path / "settings.md").open("a", encoding="utf-8") as page:
        page.write("One more line.\n")

    checked = _generate("--check", tmp_path)

    assert checked.returncode == 1
    assert "settings.md is stale" in checked.stderr
    assert "cli.md" not in checked.stderr


def test_every_environment_variable_that_the_code_reads_is_documented() -> None:
    sources = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    read, documented = set(_VARIABLE.findall(code)), set(_VARIABLE.findall(page))

    assert read == documented


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_links_only_to_what_is_there(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))

    missing = [target for target in targets if not (page.parent / target).exists()]

    assert missing == []


@pytest.mark.parametrize("room", FOLDERS)
def test_a_room_says_in_a_few_lines_what_lives_in_it(room: str) -> None:
    lines = (ROOT / room / "README.md").read_text(encoding="utf-8").splitlines()

    assert lines[0].startswith("# ")
    assert len(lines) <= 20


def test_make_says_what_each_target_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    targets = phony[1].split()

    # The tests themselves may run under make, which would tell this one how to behave.
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    said = subprocess.run(
        ["make", "help"], cwd=ROOT, env=own, capture_output=True, text=True, check=True
    )

    listed = [line.split()[1] for line in said.stdout.splitlines()]
    assert sorted(listed) == sorted(targets)
