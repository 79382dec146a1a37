"""How a front end asks for a cell, and how it is shown what the cell does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class StdinNotAllowed(Exception):  # noqa: N818  # an answer, which the cell sees as an error
    """The front end can't ask its user for a line."""


class FrontEnd(Protocol):
    """Somebody who looks on while a cell runs.

    Both methods are called in the loop of the sidecar's owner. Messages are dictionaries with an
    ``output_type``: ``stream``, ``display_data``, ``update_display_data``, ``execute_result``,
    ``error``, ``clear_output``, ``comm_open``, ``comm_msg`` or ``comm_close``. The other keys are
    those of the content of the message of this name in the Jupyter protocol; a comm message may
    have ``buffers``, as bytes, and ``metadata`` besides.
    """

    allow_stdin: bool

    def output(self, message: dict[str, Any]) -> None:
        """Take the next output; called at once, in order. Must not raise or block."""
        ...

    async def input(self, prompt: str, is_password: bool) -> str:
        """Ask the user for a line. Cancelled when the cell is interrupted meanwhile.

        Raises:
            StdinNotAllowed: The user can't be asked.
        """
        ...


@dataclass(frozen=True, slots=True)
class CellRequest:
    """How a notebook's cell asks to be run.

    Attributes:
        silent: No result is shown, nothing is kept in the history, and the cell is not counted.
        store_history: The cell is counted, and its source and result are kept (``In``, ``Out``).
        user_expressions: Names and the expressions to evaluate after a cell that ran.
        parent: The message that asks, which widgets name to have outputs put into them.
        wants_variables: The Observation shall say which variables changed, though a front end looks
            on.
    """

    silent: bool = False
    store_history: bool = True
    user_expressions: Mapping[str, str] = field(default_factory=dict)
    parent: Mapping[str, Any] = field(default_factory=dict)
    wants_variables: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether the cell counts."""
        return self.store_history and not self.silent
