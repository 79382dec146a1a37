"""A dropdown to select what is viewed: a subtask, or one of its candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exploracoder_jupyter.magics.widgets.widget_factory import Kit


class Choice:
    """Shows what is proposed until the user selects something else; keeps that until there is a
    new proposal."""

    def __init__(self, kit: Kit, name: str, on_change: Callable[[], None]) -> None:
        self._kit = kit
        self._on_change = on_change
        self._ids: tuple[str, ...] = ()
        self._at = ""
        self._turn: object = None
        self._is_drawing = False
        self.widget = kit.choice(name)
        self.widget.observe(self._pick, "index")
        kit.show(self.widget, False)

    def update(self, titles: Mapping[str, str], turn: object, proposal: str) -> str:
        """Update the dropdown, and return the id of the selection, empty if there is none.

        A new ``turn`` selects ``proposal``.
        """
        if turn != self._turn or self._at not in titles:
            self._turn, self._at = turn, proposal
        self._ids = tuple(titles)
        self._kit.show(self.widget, bool(titles))
        self._draw(tuple(titles.values()), self._ids.index(self._at) if titles else None)
        return self._at

    def _draw(self, options: tuple[str, ...], index: int | None) -> None:
        self._is_drawing = True
        try:
            with self.widget.hold_sync():
                if self.widget.options != options:
                    self.widget.options = options
                if self.widget.index != index:
                    self.widget.index = index
        finally:
            self._is_drawing = False

    def _pick(self, change: dict[str, Any]) -> None:
        index = change["new"]
        if not self._is_drawing and index is not None and index < len(self._ids):
            self._at = self._ids[index]
            self._on_change()
