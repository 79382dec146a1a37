"""The tutorials: what a page has in its blocks is what is run here, with a scripted model.

A ``text`` block after another one says what that shows, among other things, line by line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer
from exploracoder_kernel.sandbox import ChosenSandbox
from exploration.scripted import fenced, kind_of, script_of
from extension.server import Client, Server
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)

CELLS = {
    "Read the log": "from tidemark import take_log\n\nlog = take_log(text)",
    "Find the highest reading": "peak = log.crest()",
    "Count the readings above 3 metres": "floods = log.over(3.0).count()",
    "Write the smoothed log as a table": "table = log.calm().to_table()",
}
SOLUTION = "\n".join(CELLS.values())


def model(request: RecordedRequest) -> Outcome:
    """Writes the cells and the solution in one reply; when it looks, it finds them right."""
    is_first = request.path.endswith("/completions") and kind_of(request) == "write"
    return script_of([*CELLS], [*CELLS.values()], fenced(SOLUTION)) if is_first else "### Done"


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page, and the lines that the page shows of what comes out."""

    language: str
    text: str
    shown: Sequence[str]


def read(path: Path) -> str:
    """The text of a file."""
    return path.read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    """What a page has its reader do, in order."""
    matches = _BLOCK.findall(read(ROOT / "docs" / page))
    return [
        Block(language, text, after[1].splitlines() if after[0] == "text" else [])
        for (language, text), after in zip(matches, [*matches[1:], ("", "")], strict=True)
    ]


@pytest.fixture(scope="module")
def surroundings(
    tmp_path_factory: pytest.TempPathFactory, sandboxing: ChosenSandbox, strategy: str
) -> Iterator[Mapping[str, str]]:
    """The environment of a person who has chosen a model, and nothing else."""
    folder = tmp_path_factory.mktemp("person")
    with ScriptedModelServer(model) as server:
        yield {
            "EXPLORACODER_CACHE": str(folder / "cache"),
            "EXPLORACODER_CONFIG": str(folder / "config"),
            "EXPLORACODER_MODEL": server.model,
            "EXPLORACODER_SANDBOX": sandboxing.level,
            "EXPLORACODER_STRATEGY": strategy,
            "IPYTHONDIR": str(folder / "ipython"),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": server.base_url,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The examples, to be written into."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_the_first_task_on_the_command_line(
    checkout: Path, surroundings: Mapping[str, str]
) -> None:
    steps = [block for block in blocks("first-command-line.md") if block.language == "sh"]
    script = "\nprintf '\\0'\n".join(step.text for step in steps)

    process = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        check=False,
    )

    assert process.returncode == 0, process.stderr
    for step, out in zip(steps, process.stdout.split("\0"), strict=True):
        assert [line for line in step.shown if line not in out] == [], out


async def test_the_first_task_in_a_notebook(
    checkout: Path, surroundings: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    cells = [block for block in blocks("first-magics.md") if block.language == "ipython"]
    replies: list[dict[str, Any]] = []
    client = NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(checkout / "examples" / "private_library")}},
        on_cell_executed=lambda execute_reply, **_: replies.append(execute_reply["content"]),
    )

    async def run(code: str) -> str:
        client.nb.cells.append(nbformat.v4.new_code_cell(code))
        cell = await client.async_execute_cell(client.nb.cells[-1], len(client.nb.cells) - 1)
        return str(cell.outputs)

    async with client.async_setup_kernel():
        outputs = [await run(cell.text) for cell in cells]
        (solution,) = [one["text"] for one in replies[-1]["payload"]]
        await run(f"{solution}\nexec(check)")

    for cell, out in zip(cells, outputs, strict=True):
        assert [line for line in cell.shown if line not in out] == [], out


async def test_the_first_task_in_jupyterlab(
    checkout: Path, surroundings: Mapping[str, str]
) -> None:
    data, task, library, check = (block.text for block in blocks("first-jupyterlab.md"))
    (checkout / "examples").rename(checkout / "root")
    server = Server(checkout, surroundings).start()
    client = Client(server)
    path = "private_library/tides.ipynb"
    try:
        kernel = await client.jupyter("POST", "kernels", {"name": "python3"})
        await client.run_in_kernel(kernel["id"], data)
        beside = {"task": task, "cells": [{"id": "a", "source": data}], "variables": ["text"]}
        suggestions = (await client.post("suggestions", {**beside, "path": path})).json
        reply = await client.start(
            task=task,
            libraries=[library.strip()],
            check=check,
            bring=suggestions["bring"],
            kernel_id=kernel["id"],
            kernel_name="python3",
            path=path,
            mode="auto",
        )
        state = await client.rested(reply["exploration"]["id"])
        exploration = state["exploration"]
        chdir = f"import os; os.chdir({str(server.root / 'private_library')!r})"
        await client.run_in_kernel(kernel["id"], chdir, f"{SOLUTION}\n{check}")
    finally:
        await client.aclose()
        server.stop()

    assert suggestions["bring"] == ["text"]
    assert exploration["status"] == "solved", state["progress"]["error"]
    assert exploration["solution"]["attempts"][-1]["code"] == SOLUTION


def test_the_tutorial_calls_buttons_by_their_names() -> None:
    page = read(ROOT / "docs" / "first-jupyterlab.md")
    sources = (ROOT / "extension" / "src").rglob("*.ts*")
    labels = set(re.findall(r"__\(\s*'(.+?)(?: \(%1\))?'", "\n".join(map(read, sources))))

    assert set(re.findall(r"\*\*(.+?)\*\*", page)) <= labels | {"ExploraCoder"}
