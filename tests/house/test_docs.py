"""The pages say what the code says, and nothing they point to is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("exploration", "retrieval", "kernel_tools", "extension", "benchmarks")
FOLDERS = (*ROOMS, "tests", "docs", "examples")
# Prompts are no pages, and the made ones may lie there from an earlier build.
_FOREIGN = {"prompts", "node_modules", "reference"}
_FENCE = re.compile(r"^ *(```+).*?^ *\1", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
_INCLUDED = re.compile(r"^```{include} (\S+)", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_VARIABLE = re.compile(r"\b(?:EXPLORACODER|OPENAI|HF)_[A-Z_]*[A-Z]\b")
_ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `(\w+)` \| `([^`]+)` \|$", re.MULTILINE)
# A class, a function, a constant or a field, in Python or TypeScript.
_DEFINED = r"^ *(?:export |async |default )*(?:def|class|function|const) {0}\b|^ *{0}\b(?:: .+)? = "


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The text of all pages by their path from the root on, with those made from the code."""
    reference = tmp_path_factory.mktemp("reference")
    subprocess.run([sys.executable, ROOT / "docs" / "generate.py", reference], check=True)
    below = (page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))
    paths = [page.relative_to(ROOT) for page in [*ROOT.glob("*.md"), *below]]
    ours = {page: ROOT / page for page in paths if not _FOREIGN & set(page.parts)}
    ours |= {Path("docs", "reference", page.name): page for page in reference.iterdir()}
    return {str(page): file.read_text(encoding="utf-8") for page, file in ours.items()}


def _anchors(text: str) -> set[str]:
    """What headings are called in an address, as forges and the site make it."""
    heads = (re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", head) for head in _HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def _leads_nowhere(page: str, target: str, anchor: str, pages: Mapping[str, str]) -> bool:
    there = os.path.normpath(Path(page).parent / target) if target else page
    if include := _INCLUDED.search(pages.get(there, "")):
        there = os.path.normpath(Path(there).parent / include[1])
    if there not in pages:
        return not (ROOT / there).exists()
    return bool(anchor) and anchor not in _anchors(_FENCE.sub("", pages[there]))


def test_every_link_leads_to_a_page_and_a_heading(pages: Mapping[str, str]) -> None:
    dead = [
        f"{page}: {target}#{anchor}"
        for page, text in pages.items()
        for target, anchor in _LINK.findall(_FENCE.sub("", text))
        if _leads_nowhere(page, target, anchor, pages)
    ]

    assert dead == []


def test_what_is_read_outside_the_site_links_to_no_page_that_is_made(
    pages: Mapping[str, str],
) -> None:
    outside = {page: text for page, text in pages.items() if not page.startswith("docs/")}

    assert [page for page, text in outside.items() if "docs/reference" in text] == []


def test_every_environment_variable_that_the_code_reads_is_documented(
    pages: Mapping[str, str],
) -> None:
    sources = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)

    read_names, documented_names = (
        set(_VARIABLE.findall(text)) for text in (code, pages["docs/reference/settings.md"])
    )

    assert read_names == documented_names


def test_who_wants_to_change_something_is_sent_to_what_is_there() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page[page.index("## To change X") : page.index("## And then")]

    rows = _ROW.findall(table)

    assert len(rows) == sum(line.startswith("| ") for line in table.splitlines()) - 2 * 5 >= 40
    assert {path.split("/")[0] for path, _, _ in rows} == {*ROOMS, "docs"}
    for path, name, tests in rows:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(_DEFINED.format(name), text, re.MULTILINE), f"{path} has no {name}"
        assert tests == "npm test" or (ROOT / tests).exists(), tests


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
    process = subprocess.run(
        ["make", "help"], cwd=ROOT, env=own, capture_output=True, text=True, check=True
    )

    names = [line.split()[1] for line in process.stdout.splitlines()]
    assert sorted(names) == sorted(targets)
