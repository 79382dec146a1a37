"""A small repository with a class, its tests, and a task that lacks the class."""

from __future__ import annotations

import json
from pathlib import Path

LEAF = '''\
"""Leaves."""


class Leaf:
    """A leaf of tea."""

    def __init__(self, name):
        self.name = name
'''
IMPORTS = "from __future__ import annotations\n\nfrom tea.leaf import Leaf\n"
POT = '''\
class Pot:
    """A pot of tea."""

    litres: int = 1

    def brew(self, leaf: Leaf) -> str:
        """What is poured then."""
        return f"{self.litres} l of {leaf.name}"
'''
WRONG = POT.replace("leaf.name", "leaf.title")
CUP = """\
class Cup:
    def sip(self):
        return None
"""
TESTS = """\
import time

import pytest

from tea.leaf import Leaf
from tea.pot import Cup, Pot


def test_a_leaf_has_a_name():
    assert Leaf("assam").name == "assam"


def test_a_pot_holds_a_litre():
    assert Pot().litres == 1


@pytest.mark.parametrize("name", ["assam", "oolong"])
def test_a_pot_brews(name):
    print("9 of 9 tests pass")
    assert Pot().brew(Leaf(name)) == f"1 l of {name}"


@pytest.mark.parametrize("moment", [time.time_ns()])
def test_a_pot_brews_at_any_time(moment):
    assert Pot().brew(Leaf("assam"))


def test_a_pot_wants_a_leaf():
    with pytest.raises(AttributeError):
        Pot().brew(None)


def test_a_cup_is_there():
    Cup()
"""
FILE = "tests/test_pot.py"
TELLING = tuple(
    f"{FILE}::{name}"
    for name in ("test_a_pot_brews[assam]", "test_a_pot_brews[oolong]", "test_a_pot_wants_a_leaf")
)


def write_repository(root: Path, *, has_pot: bool = True) -> Path:
    """The repository, with or without the class ``Pot``."""
    pot = f"\n\n{POT}" if has_pot else ""
    files = {
        "src/tea/__init__.py": "",
        "src/tea/leaf.py": LEAF,
        "src/tea/pot.py": f"{IMPORTS}\n\n{CUP}{pot}",
        FILE: TESTS,
        "pytest.ini": "[pytest]\naddopts = --no-such-option\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def write_task(folder: Path, **more: object) -> Path:
    """A task as ``bench class-tasks`` writes it; ``more`` goes into its task.json."""
    write_repository(folder / "repository", has_pot=False)
    about: dict[str, object] = {"entry_point": "Pot", "repository": "repository"}
    about |= {"file": "src/tea/pot.py", "tests": TELLING} | more
    (folder / "task.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "task.txt").write_text("A pot brews tea.", encoding="utf-8")
    (folder / "solution.py").write_text(POT, encoding="utf-8")
    return folder
