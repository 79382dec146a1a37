"""What a task takes along from the notebook that it is written beside."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_jupyter.protocol import (
    CellError,
    InstalledLibrary,
    SourceCell,
    SuggestionRequest,
    Suggestions,
)
from exploracoder_jupyter.suggestions import Surroundings, suggest

from .server import Client

SITE = Path("/env/lib/python3.11/site-packages")
INSTALLED = [
    InstalledLibrary(name=name, import_name=module, version="1")
    for name, module in [
        ("tealeaf", "tealeaf"),
        ("pandas", "pandas"),
        ("Tea-Pots", "teapots"),
        ("click", "click"),
    ]
]


def suggested(
    task: str = "",
    *sources: str,
    variables: tuple[str, ...] = (),
    folder: Path | None = None,
    cell_id: str = "",
    error: CellError | None = None,
) -> Suggestions:
    cells = tuple(SourceCell(id=f"c{n}", source=source) for n, source in enumerate(sources))
    request = SuggestionRequest(
        task=task, cells=cells, variables=variables, cell_id=cell_id, error=error
    )
    return suggest(request, Surroundings(INSTALLED, (SITE,), folder))


def test_a_variable_that_the_task_names_is_brought() -> None:
    suggestion = suggested(
        "Sum the orders by month.", "orders = load()", variables=("orders", "month_", "x")
    )

    assert suggestion.bring == ("orders",)
    assert suggestion.cells == ()


def test_what_the_kernel_does_not_hold_comes_by_its_cells_and_what_they_need() -> None:
    suggestion = suggested(
        "Clean `text` with strip_all.",
        "import re",
        "words = ['a']",
        "text = ' '.join(words)",
        "def strip_all(value):\n    return re.sub(limit, '', value)",
        "unrelated = 1",
        variables=("limit",),
    )

    assert suggestion.cells == ("c0", "c1", "c2", "c3")
    assert suggestion.bring == ("limit",)


def test_what_a_cell_binds_anew_comes_from_the_cells_above_it() -> None:
    sources = ["df = read()", "df = df.dropna()", "df = tidy(df)", "df = None"]
    error = error_with("bad")

    assert suggested("", *sources, cell_id="c2", error=error).cells == ("c0", "c1")
    assert suggested("", *sources, cell_id="c2", error=error, variables=("df",)).bring == ("df",)
    assert suggested("the df", *sources[:2]).cells == ("c0", "c1")


def test_what_a_loop_binds_itself_is_not_asked_of_others() -> None:
    loop = "with open('x') as handle:\n    text = handle.read()"

    assert suggested("the text", "handle = 1", loop).cells == ("c1",)


def test_the_last_cell_that_binds_a_name_counts() -> None:
    assert suggested("Use `x`", "x = 1", "x = 2").cells == ("c1",)


@pytest.mark.parametrize("task", ["a plan that I made", "Make a list"])
def test_words_of_a_sentence_are_no_variables(task: str) -> None:
    assert suggested(task, variables=("a", "I")).bring == ()
    assert suggested(f"{task} of `a`", variables=("a", "I")).bring == ("a",)


def test_local_names_of_functions_are_none_of_the_notebooks() -> None:
    assert suggested("the total", "def f():\n    total = 1\n    return total").cells == ()


def test_libraries_are_those_that_are_imported_and_models_may_not_know() -> None:
    suggestion = suggested(
        "Brew", "import os, pandas as pd\nfrom tealeaf import pots\nimport teapots"
    )

    assert suggestion.libraries == ("tealeaf", "Tea-Pots")


def test_a_known_library_that_the_task_names_goes_first() -> None:
    suggestion = suggested("Do it with pandas", "import tealeaf\nimport pandas")

    assert suggestion.libraries == ("pandas", "tealeaf")


@pytest.mark.parametrize(
    ("task", "libraries"),
    [
        ("Brew with tealeaf", ("tealeaf",)),
        ("Use tealeaf to brew", ("tealeaf",)),
        ("Brew, by means of the teapots library", ("Tea-Pots",)),
        ("Brew `tealeaf.Pot()`", ("tealeaf",)),
        ("Let me click on it", ()),
        ("with nothing", ()),
    ],
)
def test_a_task_names_libraries_before_anything_is_imported(
    task: str, libraries: tuple[str, ...]
) -> None:
    assert suggested(task).libraries == libraries


def test_a_module_beside_the_notebook_is_a_library(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text("x = 1")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")

    assert suggested("", "import ours, pack.sub", folder=tmp_path).libraries == ("ours.py", "pack")


@pytest.mark.parametrize(
    "source", ["%%bash\nls", "def (", "x = 1\x00", "(" * 5000, "%matplotlib inline\nimport tealeaf"]
)
def test_cells_that_are_no_python_are_passed_over(source: str) -> None:
    suggestion = suggested("the text", source, "text = 1")

    assert suggestion.cells == ("c1",)


def test_the_cell_that_a_task_is_written_in_does_not_run_first() -> None:
    assert suggested("Use text", "text = 1", cell_id="c0").cells == ()


FAILED = "import tealeaf\nleaves = tealeaf.reed(text)"


def error_with(message: str, *frames: str) -> CellError:
    lines = [f'  File "\x1b[32m{frame}\x1b[0m", line 3, in f' for frame in frames]
    return CellError(name="AttributeError", message=message, traceback="\n".join(lines))


def test_a_failed_cell_becomes_the_task_with_what_it_needs() -> None:
    error = error_with("module 'tealeaf' has no attribute 'reed'")
    suggestion = suggested("", "text = 'assam'", FAILED, cell_id="c1", error=error)

    assert "AttributeError: module 'tealeaf' has no attribute 'reed'" in suggestion.task
    assert FAILED in suggestion.task
    assert suggestion.cells == ("c0",)
    assert suggestion.libraries == ("tealeaf",)


def test_the_library_is_the_one_that_the_cell_called_and_not_one_below_it() -> None:
    frames = [
        f"{SITE}/IPython/core/x.py",
        "/home/me/x.py",
        f"{SITE}/teapots/a.py",
        f"{SITE}/pandas/b.py",
    ]
    suggestion = suggested(
        "", "import teapots as t, pandas", "t.go()", cell_id="c1", error=error_with("no", *frames)
    )

    assert suggestion.libraries == ("Tea-Pots",)


def test_a_library_below_the_home_folder_is_recognised() -> None:
    site = Path.home() / "venv" / "lib" / "python3.11" / "site-packages"
    error = error_with("no", "~/venv/lib/python3.11/site-packages/teapots/a.py")
    cells = (SourceCell(id="c0", source="x.go()"),)
    request = SuggestionRequest(cells=cells, cell_id="c0", error=error)

    assert suggest(request, Surroundings(INSTALLED, (site,))).libraries == ("Tea-Pots",)


def test_a_long_cell_is_cut_in_the_task() -> None:
    suggestion = suggested("", "x = 1\n" * 5000, cell_id="c0", error=error_with("bad"))

    assert 1000 < len(suggestion.task) < 10_000


def test_without_a_frame_of_a_library_it_is_the_one_that_the_cell_uses() -> None:
    suggestion = suggested(
        "", "import pandas as pd, tealeaf as t", "pd.x(t.y)", cell_id="c1", error=error_with("bad")
    )

    assert suggestion.libraries == ("tealeaf",)


async def test_the_server_suggests_what_is_installed_and_beside_the_notebook(
    client: Client,
) -> None:
    cells = [{"id": "a", "source": "import tealeaf, pydantic"}]
    body = {"task": "t", "cells": cells, "path": "project/x.ipynb", "kernel_name": "python3"}

    answer = await client.post("suggestions", body)

    assert answer.status == 200, answer.text
    assert set(answer.json["libraries"]) == {"./project/tealeaf", "pydantic"}


@pytest.mark.parametrize(
    "body",
    [{"path": "../x.ipynb"}, {"kernel_name": "nowhere"}, {"task": 5}, {"cells": [{"id": "x"}]}],
)
async def test_what_cannot_be_used_is_refused(client: Client, body: dict[str, object]) -> None:
    assert (await client.post("suggestions", body)).status == 400
