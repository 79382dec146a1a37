"""Makes the widgets of a kernel, and routes their button presses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.widgets.view import View
from exploracoder_jupyter.magics.widgets.widget_support import FrontEnd

Press = Callable[[Order], None]


class Board:
    """Makes views once the front end is known to draw widgets, or at once if ``is_forced``."""

    def __init__(self, shell: Any, press: Press, on_answer: Callable[[], None]) -> None:
        self._shell = shell
        self._press = press
        self._front_end = FrontEnd(on_answer)
        self.is_forced = False

    @property
    def is_drawn(self) -> bool:
        """Whether widgets made now are taken to be drawn by a front end."""
        return self.is_forced or self._front_end.has_answered

    def new_view(self) -> View:
        """Make the widgets of an exploration."""
        return View(self._press_in_main)

    def _press_in_main(self, order: Order) -> None:
        """Do the order in the thread where cells run; button presses may arrive in another."""
        if threading.current_thread() is threading.main_thread():
            self._press(order)
        else:
            self._shell.kernel.io_loop.add_callback(self._press, order)
