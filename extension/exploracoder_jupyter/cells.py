"""The cells of an exploration's notebook, and at which revision each of them changed."""

from __future__ import annotations

from typing import Any

from exploracoder import document
from exploracoder.state import Exploration

from exploracoder_jupyter.protocol import Cells, NotebookCell


class CellLog:
    """Remembers cells as they were asked for last; nothing is made before somebody asks."""

    def __init__(self) -> None:
        self._made_from: Exploration | None = None
        self._cells: dict[str, tuple[int, dict[str, Any]]] = {}

    def after(self, exploration: Exploration, *, revision: int, after: int) -> Cells:
        """All cells of ``exploration``, which is at ``revision``; those changed after ``after``
        whole.

        A cell may be said to have changed later than it did, never earlier.
        """
        if exploration is not self._made_from:
            self._make(exploration, revision)
        return Cells(
            revision=revision,
            cells=tuple(
                NotebookCell(id=id_, cell=cell if changed > after else None)
                for id_, (changed, cell) in self._cells.items()
            ),
        )

    def _make(self, exploration: Exploration, revision: int) -> None:
        before, self._cells = self._cells, {}
        for made in document.cells(exploration):
            cell = dict(made)
            changed, known = before.get(cell["id"], (0, None))
            self._cells[cell["id"]] = (changed if cell == known else revision, cell)
        self._made_from = exploration
