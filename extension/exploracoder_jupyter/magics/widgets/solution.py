"""The solution, what it showed, and whether it was verified."""

from __future__ import annotations

from exploracoder.state import Attempt, Exploration

from exploracoder_jupyter.magics.page import Code, Heading
from exploracoder_jupyter.magics.pages import docs_fold, verified
from exploracoder_jupyter.magics.widgets.kit import Kit, html_of
from exploracoder_jupyter.magics.widgets.outputs import outputs_of


class SolutionPart:
    """The attempt that the exploration stands by."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._code = kit.html()
        self._output = kit.output(())
        self._shown: Attempt | None = None
        self.widgets = (self._code, self._output)

    def update(self, exploration: Exploration | None) -> None:
        """Bring it up to date."""
        solution = exploration.solution if exploration is not None else None
        for widget in self.widgets:
            self._kit.show(widget, solution is not None)
        if exploration is None or solution is None or solution.final is self._shown:
            return
        self._shown = final = solution.final
        docs = (docs_fold(final.docs),) if final.docs else ()
        self._code.value = html_of(
            (Heading("Solution"), *verified(exploration), Code(final.code), *docs)
        )
        self._output.outputs = outputs_of(final.failure or final.observation)
