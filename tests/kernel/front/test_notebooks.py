"""nbclient runs an ordinary notebook with the outputs that it gets from ipykernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
from ipykernel.kernelspec import write_kernel_spec
from nbformat import v4

CELLS = [
    "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('out again')",
    "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>x'), Markdown('*y*'))",
    "shown = display({'text/plain': 'one'}, raw=True, display_id='d')",
    "shown.update({'text/plain': 'two'}, raw=True)",
    "from IPython.display import clear_output\nprint('gone')\nclear_output()\nprint('stays')",
    "import asyncio\nawait asyncio.sleep(0)\n6 * 7",
    "%%writefile note.txt\nhello",
    "!cat note.txt",
    "x = [1, 2]\nx",
    "_, Out[9], In[6][:14]",
    "%timeit -n1 -r1 -q pass\n%who_ls",
    "raise ValueError('no')",
    "def f():\n    return 1 / 0\nf()",
    "if True print(1)",
    "None",
    "'quiet';",
]


# The name of a cell's code is a kernel's own, and by it IPython shows lines around a failing one.
OWN = re.compile(
    r"\x1b\[[\d;]*m|<cell \d+>|(/\S*/)?(ipykernel_\d+/)?\d+\.py|^ +\d+(?: .*)?\n", re.MULTILINE
)


def shown(outputs: list[Any]) -> list[Any]:
    """What a person sees. ipykernel collects both streams for themselves: their order is lost."""
    streams: dict[str, str] = {}
    others = []
    for output in outputs:
        if output.output_type == "stream":
            streams[output.name] = streams.get(output.name, "") + output.text.replace("\r\n", "\n")
        elif output.output_type == "error":
            others.append(OWN.sub("", "\n".join([output.evalue, *output.traceback])))
        else:
            others.append((output.output_type, output.data))
    return [streams, *others]


@pytest.fixture(scope="module")
def specs(jupyter_home: Path) -> None:
    """ipykernel beside ours, in the same interpreter."""
    write_kernel_spec(str(jupyter_home / "share" / "jupyter" / "kernels" / "python3"), {})


def executed(kernel_name: str, folder: Path, cells: list[str]) -> Any:
    folder.mkdir()
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in cells])
    nbclient.NotebookClient(
        notebook,
        timeout=60,
        kernel_name=kernel_name,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    nbformat.validate(notebook)
    return notebook


@pytest.mark.usefixtures("specs")
def test_outputs_are_those_of_ipykernel(tmp_path: Path) -> None:
    ours = executed("exploracoder", tmp_path / "ours", CELLS)
    theirs = executed("python3", tmp_path / "theirs", CELLS)

    for mine, other in zip(ours.cells, theirs.cells, strict=True):
        assert shown(mine.outputs) == shown(other.outputs)
        assert mine.execution_count == other.execution_count
    assert ours.metadata.language_info.version == theirs.metadata.language_info.version


@pytest.mark.usefixtures("specs")
def test_figures_of_matplotlib_are_shown_inline(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed here")
    cells = ["import matplotlib.pyplot as plt\nplt.plot([1, 2]);", "plt.plot([2, 1])\nplt.show()"]

    ours = executed("exploracoder", tmp_path / "ours", cells)

    assert [cell.outputs[-1].data["image/png"][:4] for cell in ours.cells] == ["iVBO"] * 2
