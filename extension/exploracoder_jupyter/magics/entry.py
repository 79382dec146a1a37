"""The functions that IPython calls, kept small so that loading them is quick."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from IPython.core.error import TryNext, UsageError
from IPython.core.magic import no_var_expand

if TYPE_CHECKING:
    from exploracoder_jupyter.magics.assistant import Assistant


class Entry:
    """The magics of one shell; their assistant is created on first use."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._assistant: Assistant | None = None

    # Text in braces or after a dollar is part of the task, not a variable to expand.
    @no_var_expand
    def run(self, line: str, cell: str | None = None) -> None:
        """Explore a task with a library that a language model does not know.

        Under %%exploracoder write what you want done; %exploracoder help lists the sub-commands.
        """
        self._guard(lambda assistant: assistant.run(line, cell))

    @no_var_expand
    def run_try(self, line: str, cell: str) -> None:
        """Run the cell as your own candidate of a subtask: %exploracoder edit writes such cells."""
        self._guard(lambda assistant: assistant.try_code(line, cell))

    def complete(self, shell: Any, event: Any) -> list[str]:
        """The completions at the cursor."""
        from exploracoder_jupyter.magics.completion import complete

        completions = complete(event.line, event.symbol)
        if not completions:
            raise TryNext
        return completions

    def close(self) -> None:
        """Stop and save the exploration that is open, if any."""
        assistant, self._assistant = self._assistant, None
        if assistant is not None:
            atexit.unregister(self.close)
            assistant.close()

    def _guard(self, work: Any) -> None:
        """Run ``work`` with the assistant, reporting our errors as a single line."""
        from exploracoder.errors import ExploraCoderError
        from exploracoder_kernel.errors import SidecarError
        from exploracoder_retrieval.errors import RetrievalError

        try:
            if self._assistant is None:
                from exploracoder_jupyter.magics.assistant import Assistant

                self._assistant = Assistant(self._shell)
                atexit.register(self.close)
            work(self._assistant)
        except (ExploraCoderError, SidecarError, RetrievalError) as error:
            # IPython shows a UsageError as one line, and it still stops "run all cells".
            raise UsageError(str(error)) from None
