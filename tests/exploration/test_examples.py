"""The notebooks in examples/ still do what they show; `make test` makes their environments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from exploracoder import document

from .conftest import Command, Outcome

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
# Which environment an example was made in: the newer justhtml, or the older one and pandas.
DEMO = ROOT / ".venv-demo" / "bin" / "python"
OLDER = ROOT / ".venv-examples" / "bin" / "python"
MADE_WITH = {
    "demo": DEMO,
    "private_library": DEMO,
    "dataframe_and_plot": OLDER,
    "debugging": DEMO,
    "library_upgrade": OLDER,
}

pytestmark = pytest.mark.skipif(
    not (DEMO.exists() and OLDER.exists()), reason="`make test` makes the examples' environments"
)


@pytest.fixture(scope="module")
def analysis(start_kernel: Callable[..., str]) -> str:
    """The connection file of a kernel in which a person ran the notebook with the DataFrame."""
    notebook = nbformat.read(EXAMPLES / "dataframe_and_plot" / "analysis.ipynb", as_version=4)
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return start_kernel(*cells, python=OLDER)


def replayed(command: Command, name: str, python: Path, *options: object) -> Outcome:
    notebook = EXAMPLES / name / "exploration.ipynb"
    return command("replay", notebook, "--trust", "--python", python, *options, "--json")


@pytest.mark.parametrize("name", MADE_WITH)
def test_an_example_does_what_it_did(
    command: Command, request: pytest.FixtureRequest, name: str
) -> None:
    exploration = document.load(EXAMPLES / name / "exploration.ipynb")
    kernel = ["--kernel", request.getfixturevalue("analysis")] if exploration.brought else []
    outcome = replayed(command, name, MADE_WITH[name], *kernel)

    assert outcome.code == 0, outcome.out + outcome.err
    assert {cell["result"] for cell in outcome.json["cells"]} == {"same"}
    assert outcome.json["versions"] == []
    assert exploration.status == "solved"


def test_after_an_upgrade_the_steps_that_changed_are_named(command: Command) -> None:
    outcome = replayed(command, "library_upgrade", DEMO)
    results = {cell["cell"]: cell["result"] for cell in outcome.json["cells"]}

    assert outcome.code == 1
    assert outcome.json["versions"] == [
        {"library": "justhtml", "before": "0.24.0", "now": "3.16.0"}
    ]
    changed_cells = {cell for cell, result in results.items() if result != "same"}
    assert changed_cells == {"step-3", "solution", "check"}
    now = {cell["cell"]: cell["now"] for cell in outcome.json["cells"]}
    assert now["step-3"] == "[]\nfields: list, length 0 = []"


def test_the_debugged_example_holds_what_failed_first() -> None:
    exploration = document.load(EXAMPLES / "debugging" / "exploration.ipynb")

    repairs = [step for step in exploration.steps if step.candidate and step.candidate.debug_of]
    assert repairs
    assert not all(candidate.ran for step in repairs for candidate in step.candidates)
