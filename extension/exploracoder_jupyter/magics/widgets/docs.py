"""The docs that were found for a subtask, each of which can be unfolded."""

from __future__ import annotations

from html import escape

from exploracoder.state import RankedApi, Step

from exploracoder_jupyter.magics.faces.text import plain
from exploracoder_jupyter.magics.pages import doc_blocks
from exploracoder_jupyter.magics.widgets.kit import Kit, html_of


class DocsPart:
    """Folds of the page itself: unlike those of ipywidgets they obey the keyboard too."""

    def __init__(self, kit: Kit) -> None:
        self._list = kit.html()
        self.widgets = (self._list,)

    def update(self, step: Step | None) -> None:
        """Bring it up to date; what is unfolded stays so while the docs are the same."""
        apis = step.recommendation.apis if step is not None else ()
        if not apis:
            self._list.value = ""
            return
        folds = "".join(map(_fold, apis))
        head = f"<h4>Retrieved docs ({len(apis)})</h4>"
        self._list.value = f'<section aria-label="Retrieved docs">{head}{folds}</section>'


def _fold(api: RankedApi) -> str:
    notes = [api.doc.kind, f"{api.score:.2f}"]
    notes += [] if api.is_kept else ["dropped: judged not to help here"]
    title = f"<code>{escape(plain(api.doc.path))}</code> {escape(' · '.join(notes))}"
    return f"<details><summary>{title}</summary>{html_of(doc_blocks(api.doc))}</details>"
