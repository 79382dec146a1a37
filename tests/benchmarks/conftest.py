"""A kit of three problems on a small library, as it lies on disk."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import venv
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from exploracoder_bench import harness
from exploracoder_bench.datasets.exec_kit import read_kit
from exploracoder_bench.judge import Verdict
from exploracoder_bench.problems import Problem
from exploracoder_bench.runs import BriefingOutcome

LIBRARY = '''
"""Small words for small numbers."""

__version__ = "1.0"


def frumple(number: int) -> str:
    """Spell a number from one to three."""
    return ("one", "two", "three")[number - 1]
'''

FUNCTION = {
    "id": "Tiny/0",
    "dataset": "Tiny",
    "library": "frumpkin",
    "kind": "function",
    "prompt": "import frumpkin\n\n\ndef spell(numbers):\n    # Spell each of the numbers.\n",
    "context": "import frumpkin\n\n\n",
    "requirement": "Spell each of the numbers.",
    "example_inputs": "numbers = [1, 2]",
    "test": "def check(candidate):\n    assert candidate([1, 3]) == ['one', 'three']\n\n"
    "check(spell)\n",
    "entry_point": "spell",
    "canonical_solution": ["    return [frumpkin.frumple(number) for number in numbers]"],
    "fixtures": None,
}
NUMBER = "import frumpkin\n\nnumber = int(open('data/number.txt').read())\n# Spell it."
ASSIGNMENT = {
    "id": "Tiny/1",
    "dataset": "Tiny",
    "library": "frumpkin",
    "kind": "assign",
    "prompt": f"{NUMBER}\nword = ",
    "context": NUMBER,
    "requirement": "Spell it.",
    "example_inputs": None,
    "test": "assert word == 'two'\n",
    "entry_point": None,
    "canonical_solution": ["frumpkin.frumple(number)"],
    "fixtures": "numbers",
}
CHECK_THAT_PROVES_NOTHING = ASSIGNMENT | {"id": "Other/0", "dataset": "Other", "test": "number\n"}
MORE = FUNCTION | {"id": "Tiny/2"}


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """The folder of the kit."""
    return make_kit(tmp_path / "kit")


def make_kit(folder: Path) -> Path:
    """Write the kit into a folder."""
    _write(folder / "private/frumpkin/__init__.py", LIBRARY)
    _write(folder / "fixtures/numbers/data/number.txt", "2")
    tiny = (FUNCTION, ASSIGNMENT, MORE)
    _write(folder / "dev/Tiny.jsonl", "".join(json.dumps(row) + "\n" for row in tiny))
    _write(folder / "dev/Other.jsonl", json.dumps(CHECK_THAT_PROVES_NOTHING) + "\n")
    return folder


@pytest.fixture
def problems(kit: Path) -> dict[str, Problem]:
    """The kit's problems by name, for this interpreter."""
    return {one.name: one for one in read_kit(kit, lambda _: sys.executable)}


@pytest.fixture
def judged_s(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """The seconds for a run with which problems were judged.

    Nothing is actually judged: each one counts. Nor are libraries indexed, or a model told of them.
    """
    seconds: list[float | None] = []

    def examine(
        problem: Problem, _: Path, run_seconds: float | None = None, **__: object
    ) -> Verdict:
        seconds.append(run_seconds)
        return Verdict(problem=problem.name, digest=problem.digest, is_sound=True)

    monkeypatch.setattr(harness, "examine", examine)
    monkeypatch.setattr(harness, "warm_index", lambda _: "")
    monkeypatch.setattr(harness, "brief_for", lambda *_, **__: BriefingOutcome(""))
    return seconds


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache folder for all tests: a library is indexed once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def own_cache(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the user's cache and endpoint out of the commands that a test starts."""
    monkeypatch.setenv("EXPLORACODER_CACHE", str(shared_cache))
    # A port may come again: what one test's server refuses says nothing of another's.
    (shared_cache / "dialects.json").unlink(missing_ok=True)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EXPLORACODER_MODEL"):
        monkeypatch.delenv(name, raising=False)


# What pytest needs, on Python 3.10 too. Without their metadata it finds no plugins.
_PYTEST = {"pytest", "pluggy", "iniconfig", "packaging", "pygments"}
_PYTEST |= {"exceptiongroup", "tomli", "typing_extensions"}


@pytest.fixture(scope="session")
def plain_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an environment that has pytest, and no plugin that is slow to start."""
    home = tmp_path_factory.mktemp("plain")
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    for name in _PYTEST & {one.metadata["Name"].lower() for one in metadata.distributions()}:
        for file in metadata.files(name) or ():
            if file.suffix == ".py" and ".." not in file.parts:
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.locate(), packages / file)
    return str(home / "bin/python")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def write_kit(folder: Path, pool: list[Any], questions: list[Any]) -> Path:
    """A kit of retrieval on one library, brew: its APIs, and questions about them."""
    (folder / "pools").mkdir(parents=True)
    with gzip.open(folder / "pools" / "brew.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in pool)
    _write(folder / "dev" / "brew.jsonl", "".join(json.dumps(one) + "\n" for one in questions))
    return folder
