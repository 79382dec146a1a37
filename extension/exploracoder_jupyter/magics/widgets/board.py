"""Where the widgets of a kernel are made, and where their buttons lead."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.widgets.view import View
from exploracoder_jupyter.magics.widgets.widget_support import FrontEnd

Press = Callable[[Order], None]


class Board:
    """Makes views once the front end is known to draw them, or at once when that is asked for."""

    def __init__(self, shell: Any, press: Press, on_answer: Callable[[], None]) -> None:
        self._shell = shell
        self._press = press
        self._front_end = FrontEnd(on_answer)
        self.is_forced = False

    @property
    def is_drawn(self) -> bool:
        """Whether widgets that are made now are seen by somebody."""
        return self.is_forced or self._front_end.has_answered

    def new_view(self) -> View:
        """Widgets of an exploration."""
        return View(self._press_in_main)

    def _press_in_main(self, order: Order) -> None:
        """Do it where cells run: front ends may send what is pressed to another thread."""
        if threading.current_thread() is threading.main_thread():
            self._press(order)
        else:
            self._shell.kernel.io_loop.add_callback(self._press, order)
