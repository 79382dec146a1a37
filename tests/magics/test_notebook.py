"""The magics in a real kernel: one notebook that uses every sub-command, run by nbclient.

EXPLORACODER_TEST_IPYTHON8 names the interpreter of an environment with IPython 8, in which the
notebook runs as well.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from exploracoder import document
from exploracoder.testing import Delay
from exploracoder_jupyter.magics import registry
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from .conftest import CHECK, CONTEXT, KEEP, SOLUTION, TASK, Stage, TeaModel, fenced

IPYTHON8 = os.environ.get("EXPLORACODER_TEST_IPYTHON8", "")
VERSION = "__import__('IPython').version_info[0]"
OPTIONS = "--library tealeaf/ --context start --check goal"
# Each cell, and words that its output must have.
CELLS: tuple[tuple[str, str], ...] = (
    ("%load_ext exploracoder", ""),
    ("CONFIGURE", "candidates"),
    ("%exploracoder config wait=true", "True"),
    (f"start, goal = {CONTEXT!r}, {CHECK!r}", ""),
    ("%exploracoder help", "%exploracoder TASK"),
    ("%exploracoder use tealeaf/", "public APIs"),
    ("%exploracoder search read leaves", "tealeaf.read_leaves"),
    ("%exploracoder docs read_leaves", "tealeaf.read_leaves"),
    ("%exploracoder tools get_signature --name read_leaves", "def read_leaves(text)"),
    (f"%%exploracoder {OPTIONS} --review --output tea.ipynb\n{TASK}", "Waiting for you."),
    ("%exploracoder plan", "Keep the strong leaves"),
    ("%exploracoder next", "Candidate 1: ran, proposed"),
    ("%exploracoder debug 1 Print them too", "Candidate 1"),
    ("%exploracoder retry In another way", "Candidate 1"),
    ("%exploracoder accept 1", "Candidate 1: ran, proposed"),
    ("%exploracoder edit 1", "next cell"),
    (f"%%exploracoder_try step-2\n{KEEP}", "accepted"),
    ("%exploracoder back 2", "Candidate 1"),
    ("%exploracoder skip", "left out"),
    ("%exploracoder back 2", "Waiting for you."),
    ("%exploracoder next", "Candidate 1"),
    ("%exploracoder next", "Waiting for you."),
    ("%exploracoder solve", "Verified"),
    ("%exploracoder insert", "It was not run there."),
    ("%exploracoder cost", "completion tokens"),
    ("%exploracoder status", "Solved."),
    ("%exploracoder save copy.ipynb", "Saved in copy.ipynb"),
    ("%exploracoder trust copy.ipynb", "may run"),
    ("%exploracoder replay copy.ipynb", "cells are as they were"),
    ("%exploracoder resume copy.ipynb", "Solution"),
    ("%exploracoder cancel", "Nothing is worked on."),
    ("sorted(name for name in globals() if 'tealeaf' in name or name == 'names')", "[]"),
)


def said(cell: Any) -> str:
    """What a cell shows, as text."""
    parts = [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.get("outputs", [])
    ]
    return "\n".join(parts)


@pytest.fixture(params=["python3", "ipython8"])
def kernel_name(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """The kernel of this environment, and one of an environment with IPython 8."""
    name = str(request.param)
    if name == "ipython8":
        if not IPYTHON8:
            pytest.skip("EXPLORACODER_TEST_IPYTHON8 names no interpreter with IPython 8")
        spec = {
            "argv": [IPYTHON8, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "IPython 8",
            "language": "python",
        }
        folder = tmp_path / "kernels" / name
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return name


async def run(
    stage: Stage, cells: list[str], kernel_name: str = "python3"
) -> tuple[list[Any], list[dict[str, Any]]]:
    """Run cells in a new kernel; the cells with their outputs, and the kernel's replies."""
    cells = [stage.configuration if cell == "CONFIGURE" else cell for cell in cells]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    replies: list[dict[str, Any]] = []

    def keep(cell: Any, cell_index: int, execute_reply: dict[str, Any]) -> None:
        replies.append(execute_reply["content"])

    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name=kernel_name,
        resources={"metadata": {"path": str(stage.folder)}},
        on_cell_executed=keep,
    )
    await client.async_execute()
    return notebook.cells, replies


def next_cell(reply: dict[str, Any]) -> str:
    """The text that a reply puts into the next cell."""
    texts = [one["text"] for one in reply["payload"] if one["source"] == "set_next_input"]
    return str(texts[0]) if texts else ""


async def test_a_notebook_uses_every_sub_command(stage: Stage, kernel_name: str) -> None:
    stage.model.script = TeaModel(solutions=(fenced(SOLUTION),))

    results, replies = await run(stage, [VERSION, *(cell for cell, _ in CELLS)], kernel_name)

    version, *results = results
    replies = replies[1:]
    assert kernel_name != "ipython8" or said(version) == "8"
    for cell, (_, words) in zip(results, CELLS, strict=True):
        assert words in said(cell), f"{cell.source}\n{said(cell)}"
    texts = {cell.source: next_cell(reply) for cell, reply in zip(results, replies, strict=True)}
    assert texts["%exploracoder edit 1"] == f"%%exploracoder_try step-2\n{KEEP}"
    exploration = document.load(stage.folder / "tea.ipynb")
    assert exploration.status == "solved"
    assert exploration.solution is not None
    assert texts["%exploracoder insert"] == exploration.solution.final.code
    displays = [
        output["data"]
        for cell in results
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    ]
    assert all('<div class="exploracoder">' in data["text/html"] for data in displays)


def test_the_notebook_leaves_no_sub_command_out() -> None:
    used_names = {cell.split()[1] for cell, _ in CELLS if cell.startswith("%exploracoder ")}

    assert set(registry.names()) - used_names == set()


async def test_the_kernel_stays_usable_and_one_exploration_is_worked_on_at_a_time(
    stage: Stage,
) -> None:
    plan = Delay(60, '{"subtasks": ["Read the leaves"]}')
    stage.model.script = TeaModel(plans=[plan])
    task = f"%%exploracoder {OPTIONS} --output slow.ipynb\n{TASK}"
    cells = [
        "%load_ext exploracoder",
        "CONFIGURE",
        f"start, goal = {CONTEXT!r}, {CHECK!r}",
        task,
        "1 + 1",
        "%exploracoder status",
        f"try:\n    get_ipython().run_cell_magic('exploracoder', {OPTIONS!r}, 'Brew')\n"
        "except Exception as error:\n    print(error)",
        "%exploracoder cancel",
    ]

    results, _ = await run(stage, cells)

    assert said(results[4]) == "2"
    assert "…" in said(results[5])
    assert "%exploracoder cancel" in said(results[6])
    assert "Stopped." in said(results[7])


async def test_a_failed_command_stops_a_notebook(stage: Stage) -> None:
    with pytest.raises(CellExecutionError):
        await run(stage, ["%load_ext exploracoder", "%exploracoder nexd"])
