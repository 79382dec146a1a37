"""Detects whether a front end draws the widgets of this kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

_WORD = "1px"


class FrontEnd:
    """A probe that every front end with widgets answers by itself, and no other does.

    A `jsdlink` between two values of a widget runs in the front end, if it draws widgets: it copies
    the first value to the second, and the kernel hears of that change.
    """

    def __init__(self, on_answer: Callable[[], None]) -> None:
        self.has_answered = False
        self._on_answer = on_answer
        self._probe = ipywidgets.Layout(width=_WORD)
        self._probe.observe(self._hear, "height")
        self._link = ipywidgets.jsdlink((self._probe, "width"), (self._probe, "height"))

    def _hear(self, change: dict[str, Any]) -> None:
        if change["new"] == _WORD and not self.has_answered:
            self.has_answered = True
            self._on_answer()
