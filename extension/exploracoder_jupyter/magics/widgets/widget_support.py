"""Whether somebody draws the widgets of this kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

_WORD = "1px"


class FrontEnd:
    """A question that every front end with widgets answers by itself, and no other does.

    A link between two values of a widget is carried out where widgets are drawn: there the second
    takes the value of the first, and the kernel is told so.
    """

    def __init__(self, on_answer: Callable[[], None]) -> None:
        self.has_answered = False
        self._answered = on_answer
        self._probe = ipywidgets.Layout(width=_WORD)
        self._probe.observe(self._hear, "height")
        self._link = ipywidgets.jsdlink((self._probe, "width"), (self._probe, "height"))

    def _hear(self, change: dict[str, Any]) -> None:
        if change["new"] == _WORD and not self.has_answered:
            self.has_answered = True
            self._answered()
