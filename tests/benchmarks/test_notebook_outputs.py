"""Outputs of two kernels are equal when only chance or a kernel's own ways tell them apart."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest
from exploracoder_bench.notebook_outputs import differences, normalised
from exploracoder_bench.notebooks_of_others import find, unpack
from nbformat import v4


def stream(name: str, text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def result(text: str) -> dict[str, Any]:
    data = {"text/plain": text}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}


def error(*lines: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": "E", "evalue": "no", "traceback": list(lines)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([stream("stdout", "a\n"), stream("stdout", "b\n")], [stream("stdout", "a\nb\n")]),
        (
            [stream("stdout", "a"), stream("stderr", "e"), stream("stdout", "b")],
            [stream("stdout", "ab"), stream("stderr", "e")],
        ),
        ([stream("stdout", "hello\r\n")], [stream("stdout", "hello\n")]),
        ([stream("stderr", "10%\r60%\r100%\n")], [stream("stderr", "100%\n")]),
        ([result("<f at 0x7fa9fa315080>")], [result("<f at 0x10>")]),
        ([result("1.25 ms ± 3 µs per loop")], [result("9 µs ± 1 ns per loop")]),
        ([result("2026-11-21T22:33:19.385048Z")], [result("2025-01-02T03:04:05Z")]),
        ([error("\x1b[31mE\x1b[39m", "Cell In[3]")], [error("E", "Cell In[12]")]),
        ([error("      1 x\n----> 2 y\n      3")], [error("----> 2 y")]),
        ([result("in <cell 3>")], [result("in /tmp/ipykernel_12/3350746092.py")]),
    ],
)
def test_what_only_chance_tells_apart_is_equal(
    one: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([stream("stdout", "a")], [stream("stderr", "a")]),
        ([stream("stdout", "a"), result("1")], [result("1"), stream("stdout", "a")]),
        ([result("1")], [result("2")]),
        ([result("1")], []),
        ([error("----> 2 y")], [error("----> 3 y")]),
    ],
)
def test_what_a_reader_would_notice_is_not_equal(
    one: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    assert normalised(one) != normalised(other)


def test_the_name_of_a_runs_own_folder_does_not_count() -> None:
    ours, theirs = [result("'/data/a/x.csv'")], [result("'/data/b/x.csv'")]
    folders = [Path("/data/a"), Path("/data/b")]

    assert normalised(ours, folders) == normalised(theirs, folders)


def notebook(*cells: list[dict[str, Any]]) -> Any:
    code = [v4.new_code_cell("x", outputs=outputs) for outputs in cells]
    return v4.new_notebook(cells=[v4.new_markdown_cell("# Title"), *code])


def test_each_cell_that_differs_is_named_with_its_first_difference() -> None:
    ours = notebook([result("1")], [result("2"), result("3")], [])
    theirs = notebook([result("1")], [result("2"), result("4")], [stream("stdout", "late")])

    found = differences(ours, theirs, [])

    assert [one.cell for one in found] == [2, 3]
    assert "3" in found[0].ours
    assert "4" in found[0].theirs
    assert found[1].ours == "(nothing)"


def test_only_the_folders_with_notebooks_leave_an_archive(tmp_path: Path) -> None:
    source = tmp_path / "pkg-1" / "docs"
    source.mkdir(parents=True)
    cell = '{"cells": [{"cell_type": "code", "source": "1"}], "metadata": {}}'
    (source / "a.ipynb").write_text(cell)
    (source / "data.csv").write_text("1\n")
    (tmp_path / "pkg-1" / "setup.py").write_text("")
    with tarfile.open(tmp_path / "pkg-1.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "pkg-1", "pkg-1")

    count = unpack(tmp_path / "pkg-1.tar.gz", tmp_path / "out")

    kept = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert count == 1
    assert kept == {"a.ipynb", "data.csv"}
    assert [path.name for path in find(tmp_path / "out", 1)] == ["a.ipynb"]
