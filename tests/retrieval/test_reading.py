"""What is read from the text of one file, without a library around it."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts import store
from exploracoder_retrieval.facts.fact_types import Module
from exploracoder_retrieval.facts.reading import parse, read_module
from exploracoder_retrieval.facts.store import NAMES, FactStore, read_file


def read(text: str, version: tuple[int, ...] = (3, 11, 2)) -> Module:
    return read_module(parse(text), "brew", is_package=False, version=version)


def test_reading_warns_of_nothing_and_leaves_filters_that_are_set_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_tree = ast.parse

    def parse_while_a_cell_runs(text: str, *rest: str) -> ast.AST:
        warnings.filterwarnings("ignore", message="of the user's cell")
        return read_tree(text, *rest)

    monkeypatch.setattr(ast, "parse", parse_while_a_cell_runs)
    parse(r'"a stray \d"')

    warnings.warn("of the user's cell", stacklevel=1)


@pytest.mark.parametrize(
    "test",
    [
        "sys.version_info[:2] >= (3, 11)",
        "sys.version_info[:2] == (3, 11)",
        "sys.version_info[0] == 3",
        "sys.version_info[1] > 10",
        "sys.version_info.major >= 3",
        "sys.version_info.minor < 12",
        f"os.name == {os.name!r}",
    ],
)
def test_only_the_branch_for_the_python_and_its_system_is_read(test: str) -> None:
    module = read(f"if {test}:\n    taken = 1\nelse:\n    missed = 1\n")

    assert [each.name for each in module.variables] == ["taken"]


def test_both_branches_are_read_where_only_running_would_tell() -> None:
    module = read("if found == None:\n    one = 1\nelse:\n    other = 1\n")

    assert [each.name for each in module.variables] == ["one", "other"]


def test_a_type_statement_defines_a_name_where_ours_is_a_python_that_knows_it() -> None:
    code = "type Json = dict[str, Json] | None"
    if sys.version_info < (3, 12):
        with pytest.raises(UnreadableSource):
            read(code)
        return

    (alias,) = read(code).variables

    assert (alias.name, alias.value) == ("Json", "dict[str, Json] | None")


@pytest.mark.parametrize(("version", "is_said"), [((3, 99, 1), True), ((3, 8, 0), False)])
def test_a_file_for_a_newer_python_than_ours_is_said_to_be_that(
    version: tuple[int, ...], is_said: bool, tmp_path: Path
) -> None:
    file = tmp_path / "brew.py"
    file.write_text("steep leaves")

    entry = read_file(file, "brew", is_package=False, version=version).entry

    assert ("and the library is for Python 3.99)" in entry.problem) is is_said


def test_facts_are_kept_apart_by_the_python_that_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = FactStore(tmp_path, (3, 13, 0))
    facts.keep(NAMES, "brew", {"steep": ("brew",)})
    monkeypatch.setattr(store, "_OWN_VERSION", (3, 99))

    assert facts.load(NAMES, "brew") == {}
