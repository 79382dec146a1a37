"""``input()`` and ``getpass.getpass()``: the owner's user is asked, if there is one."""

from __future__ import annotations

import builtins
import getpass
import threading

from .owner import Owner


class Stdin:
    """Stands in, once created, for the terminal that a branch does not have."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self.is_allowed = False
        builtins.input = self.input
        getpass.getpass = self.getpass

    def input(self, prompt: object = "", /) -> str:
        """Ask for a line.

        Raises:
            EOFError: Nobody can be asked.
        """
        return self._ask(str(prompt), "input", is_password=False)

    def getpass(self, prompt: str = "Password: ", stream: object = None, **_others: object) -> str:
        """Ask for a line that is not shown.

        Raises:
            EOFError: Nobody can be asked.
        """
        return self._ask(str(prompt), "getpass", is_password=True)

    def _ask(self, prompt: str, function: str, *, is_password: bool) -> str:
        is_main = threading.current_thread() is threading.main_thread()
        answer = None
        if self.is_allowed and is_main and self._owner.is_ours:
            answer = self._owner.ask(prompt, is_password)
        if answer is None:
            raise EOFError(
                f"{function}() is not available: nobody sits at this kernel. "
                "Put the value into the code."
            )
        return answer
