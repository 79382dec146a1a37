"""The magics in a shell without a front end: the plan edited by words, and what is refused."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from exploracoder import Exploration, document
from exploracoder.state import Task
from exploracoder.testing import Failure
from exploracoder_kernel import notebook
from exploration.samples import exploration

from .conftest import CHECK, CONTEXT, KEEP, READ, TASK, TeaModel, Terminal, fenced

OWN = KEEP.replace("> 3", ">= 4")


def explore(options: str) -> str:
    return f"%%exploracoder --library tealeaf/ --context start --check goal {options}\n{TASK}"


def saved(name: str) -> Exploration:
    return document.load(Path(name))


def solution_in(file: Path) -> str:
    """The code of the solution that a notebook has."""
    solution = saved(str(file)).solution
    assert solution is not None
    return solution.final.code


@pytest.fixture
def ready(terminal: Terminal, tmp_path: Path) -> Terminal:
    """The user has what the task starts with and is checked by."""
    terminal.type(f"start, goal = {CONTEXT!r}, {CHECK!r}")
    return terminal


def test_the_plan_is_edited_and_own_code_accepted_by_words(ready: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "tea.ipynb"
    at_plan = ready.type(explore(f"--review --output {file}"))
    addition = ready.type("%exploracoder plan add Say them aloud")
    renaming = ready.type("%exploracoder plan rename 4 Sing them")
    move = ready.type("%exploracoder plan move 4 3")
    deletion = ready.type("%exploracoder plan delete 3")
    ready.type("%exploracoder next")
    ready.type("%exploracoder accept 1")
    ready.type("%exploracoder edit 1")
    mine = ready.type(ready.next_cell.replace(KEEP, OWN))
    back = ready.type("%exploracoder back 2")
    own = ready.type(f"%exploracoder save {file}")
    file.unlink()
    ready.type(f"%exploracoder save {file}")

    assert "Read the leaves out of the text" in at_plan
    assert "%exploracoder next" in at_plan
    assert "Say them aloud" in addition
    assert "Sing them" in renaming
    assert move.index("Sing them") < move.index("Collect the names")
    assert "Sing them" not in deletion
    assert "✓ 2 Keep the strong leaves in a lazy pipeline accepted" in " ".join(mine.split())
    assert "Candidate 2: ran, yours" in back
    assert "saved at every step" in own
    assert not (tmp_path / "tea.previous-1.ipynb").exists()
    assert len(saved(str(file)).steps) == 3


def test_a_notebook_from_elsewhere_runs_once_it_was_shown_and_agreed_to(
    ready: Terminal, tmp_path: Path
) -> None:
    library = str(ready.stage.folder / "tealeaf")
    task = Task(text="Name.", libraries=(library,), context='text = "assam 5; sencha 2"')
    content = document.to_notebook(exploration(task=task, steps=(), solution=None))
    file = tmp_path / "foreign.ipynb"
    notebook.write(file, content)

    ready.read()
    ready.shell.run_cell(f"%exploracoder replay {file}")
    preview = ready.read()
    agreement = ready.type(f"%exploracoder trust {file}")
    replay = ready.type(f"%exploracoder replay {file}")

    assert 'text = "assam 5; sencha 2"' in preview
    assert library in preview
    assert f"%exploracoder trust {file}" in " ".join(preview.split())
    assert "may run now" in " ".join(agreement.split())
    assert "1 of 1 cells are as they were" in " ".join(replay.split())


def test_a_notebook_from_elsewhere_is_not_trusted_before_it_was_shown(
    ready: Terminal, tmp_path: Path
) -> None:
    content = document.to_notebook(exploration(task=Task(text="a", libraries=("b",), context="1")))
    notebook.write(tmp_path / "foreign.ipynb", content)

    refusal = ready.fail(f"%exploracoder trust {tmp_path / 'foreign.ipynb'}")

    assert "was not made here by you" in refusal


def test_a_restarted_kernel_goes_on_from_the_file_and_replays_it(
    ready: Terminal, tmp_path: Path
) -> None:
    file = tmp_path / "tea.ipynb"
    ready.type(explore(f"--review --output {file}"))
    ready.type("%exploracoder next")
    ready.type("%exploracoder accept")
    # Its process ends with a kernel; what is open goes with it.
    ready.type("%reload_ext exploracoder")
    refusal = ready.fail("%exploracoder next")
    ready.type(ready.stage.configuration)
    resumption = ready.type(f"%exploracoder resume {file}")
    ready.type("%exploracoder config mode=auto")
    ready.type("%exploracoder next")
    replay = ready.type(f"%exploracoder replay {file}")

    assert "%exploracoder resume FILE" in " ".join(refusal.split())
    assert "1 Read the leaves" in " ".join(resumption.split())
    assert saved(str(file)).status == "solved"
    assert "cells are as they were" in " ".join(replay.split())
    assert "failed" not in replay


def test_the_users_kernel_is_as_it_was(ready: Terminal, tmp_path: Path) -> None:
    ready.type("leaf = {'name': 'assam'}\nimport math\n[1, 2]\n41 + 1")
    ready.type(CONTEXT)
    shell = ready.shell
    random.seed(7)
    before = state_of(shell)
    ready.type(
        "%%exploracoder --library tealeaf/ --bring text,leaf --auto"
        f" --output {tmp_path / 't.ipynb'}\n{TASK}"
    )
    ready.type("%exploracoder status")
    after = state_of(shell)

    assert after == before
    assert saved(str(tmp_path / "t.ipynb")).brought.variables[0].name == "text"


def state_of(shell: Any) -> dict[str, Any]:
    """What a user can see of their kernel, the record of the cells that they ran apart."""
    record_names = ("In", "_ih", "_i", "_ii", "_iii", "_exit_code")
    names = {
        name: (id(value), repr(value)[:500])
        for name, value in shell.user_ns.items()
        if name not in record_names and not name.startswith("_i")
    }
    outs = {number: repr(value) for number, value in shell.user_ns["Out"].items()}
    last = [repr(shell.user_ns.get(name)) for name in ("_", "__", "___")]
    return {
        "names": names,
        "outs": outs,
        "last": last,
        "folder": os.getcwd(),  # noqa: PTH109  # what the user sees
        "random": random.getstate(),
        "path": list(sys.path),
        "environment": dict(os.environ),
    }


def test_into_the_next_cell_comes_the_solution(ready: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "tea.ipynb"
    ready.type(explore(f"--into-next-cell --output {file}"))

    assert ready.next_cell == solution_in(file)
    assert "names" not in ready.shell.user_ns


def test_libraries_are_read_searched_and_looked_up(ready: Terminal) -> None:
    summary = ready.type("%exploracoder use tealeaf/")
    matches = ready.type("%exploracoder search read leaves out of a text")
    docs = ready.type("%exploracoder docs read_leaves")
    unknown = ready.fail("%exploracoder docs raed_leaves")

    assert "public APIs" in summary
    assert "tealeaf.read_leaves" in matches
    assert "text" in docs
    assert "Near: " in unknown


def test_the_tools_answer_on_the_libraries_in_use_and_on_a_folder(ready: Terminal) -> None:
    ready.type("%exploracoder use tealeaf/")
    info = ready.type("%exploracoder tools get_class_info --class Kettle")
    body = ready.type("%exploracoder tools get_method_body --root tealeaf --name read_leaves")
    ready.type("code = 'Kettle(celsius)'")
    imports = ready.type("%exploracoder tools get_imports --code code")
    unknown = ready.fail("%exploracoder tools get_class_info --class Ketle")
    no_tool = ready.fail("%exploracoder tools get_clas")
    slip = ready.fail("%exploracoder tools get_class_info --clas Kettle")

    assert "def heat(" in info
    assert "def read_leaves(" in body
    assert "from tealeaf" in imports
    assert "The nearest: Kettle" in unknown
    assert "The nearest is get_class_info" in no_tool
    assert "The nearest is --class" in slip


def test_a_model_that_fails_is_said_and_the_work_goes_on(ready: Terminal, tmp_path: Path) -> None:
    ready.stage.model.script = TeaModel(
        is_lost=True, drafts={1: [Failure(401, "no such key"), fenced(READ)]}
    )
    ready.type(explore(f"--review --output {tmp_path / 'tea.ipynb'}"))
    refusal = ready.fail("%exploracoder next")
    again = ready.type("%exploracoder next")

    assert "key" in refusal
    assert "Candidate 2: ran, proposed" in again


REFUSED = {
    "no such sub-command": ("%exploracoder nexd", "The nearest is 'next'"),
    "use before a task": ("%exploracoder accept 1", "No exploration is open in this kernel"),
    "the user's code before a task": ("%%exploracoder_try 1\nx = 1", "No exploration is open"),
    "no library": (f"%%exploracoder\n{TASK}", "Name a library"),
    "no such library": (f"%%exploracoder --library tealief\n{TASK}", "tealief"),
    "no such check": (
        f"%%exploracoder --library tealeaf/ --check gaol\n{TASK}",
        "--check: there is no variable 'gaol'",
    ),
    "a check that takes something": (
        f"%%exploracoder --library tealeaf/ --check needy\n{TASK}",
        "needy needs x",
    ),
    "no such cell": (
        f"%%exploracoder --library tealeaf/ --check 99\n{TASK}",
        "no cell 99 was run",
    ),
    "a name that is not there": (
        f"%%exploracoder --library tealeaf/ --bring laef\n{TASK}",
        "no variable 'laef'. Did you mean leaf?",
    ),
    "a name that cannot be copied": (
        f"%%exploracoder --library tealeaf/ --bring guard\n{TASK}",
        "none of the variables can be copied: guard (it is a lock)",
    ),
    "no such setting": ("%exploracoder config candidtes=2", "The nearest is 'candidates'"),
    "no such effort": ("%exploracoder config reasoning-effort=deep", "Known: none, minimal, low"),
    "a setting out of range": ("%exploracoder config candidates=0", "candidates cannot be '0'"),
    "a notebook that is not there": ("%exploracoder resume none.ipynb", "no file none.ipynb"),
    "a notebook of a newer version": ("%exploracoder resume newer.ipynb", "Upgrade it"),
    "a damaged notebook": ("%exploracoder replay damaged.ipynb", "is damaged at task"),
    "not a notebook": ("%exploracoder replay text.ipynb", "is not a notebook"),
    "an unknown word for help": ("%exploracoder help acept", "The nearest is 'accept'"),
    "a seed with two signs": ("%exploracoder config seed=--5", "seed is a whole number"),
    "a digit that is no number": (
        f"%%exploracoder --library tealeaf/ --check ²\n{TASK}",
        "no variable '²'",
    ),
}


def test_what_cannot_be_done_is_refused_with_a_sentence(ready: Terminal, tmp_path: Path) -> None:
    ready.type("import threading\nleaf, guard = 1, threading.Lock()\ndef needy(x): assert x")
    for name, metadata in (("newer", {"schema_version": 999}), ("damaged", {"schema_version": 8})):
        notebook = {"cells": [], "metadata": {"exploracoder": metadata}}
        text = json.dumps(notebook | {"nbformat": 4, "nbformat_minor": 5})
        (tmp_path / f"{name}.ipynb").write_text(text, encoding="utf-8")
    (tmp_path / "text.ipynb").write_text("tea", encoding="utf-8")
    here = {
        f"{name}.ipynb": str(tmp_path / f"{name}.ipynb") for name in ("newer", "damaged", "text")
    }

    for case, (cell, words) in REFUSED.items():
        for name, path in here.items():
            cell = cell.replace(name, path)
        refusal = ready.fail(cell)

        assert words in refusal, f"{case}: {refusal}"


def test_loading_twice_and_unloading_leave_no_trace(terminal: Terminal) -> None:
    names = set(terminal.shell.user_ns)
    terminal.type("%load_ext exploracoder")
    terminal.type("%unload_ext exploracoder")
    magic = terminal.shell.find_line_magic("exploracoder")
    terminal.type("%load_ext exploracoder")

    assert magic is None
    assert set(terminal.shell.user_ns) - names <= {f"_i{n}" for n in range(99)}
    assert terminal.shell.find_line_magic("exploracoder") is not None
