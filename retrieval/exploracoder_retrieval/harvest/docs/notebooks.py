"""Notebooks and example scripts: code in order, with the words before it."""

from __future__ import annotations

from collections.abc import Iterator

from exploracoder_retrieval.harvest.docs.code import ImportsSoFar, notebook_cells, without_magics
from exploracoder_retrieval.harvest.docs.pieces import Page, Passage, Piece, clean


def read_notebook(page: Page, text: str) -> Iterator[Piece]:
    """The code and text cells of an ``.ipynb`` file; outputs are not read.

    Raises:
        UnreadableSource: it is not a notebook.
    """
    title, imports = "", ImportsSoFar()
    for number, (kind, source) in enumerate(notebook_cells(text, only_code=False), start=1):
        # A line number in the file means nothing to a person; the cell's number does.
        place = page.place(anchor=f"cell-{number}")
        if kind == "code":
            code = clean(without_magics(source))
            if code:
                cell_title = f"{title} (cell {number})".strip()
                yield Passage("example", code, cell_title, place, imports.before(code))
        elif kind == "markdown" and source.strip():
            title = source.strip().splitlines()[0].lstrip("# ")[:200]
            if "`" in source:
                yield Passage("text", clean(source), title, place)


def read_script(page: Page, text: str) -> Iterator[Piece]:
    """An example script, whole."""
    if text.strip():
        title = page.path.stem.replace("_", " ").replace("-", " ")
        yield Passage("example", clean(text), title, page.place(1))
