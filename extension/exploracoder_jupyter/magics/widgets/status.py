"""Where the work is: in words, as a bar, and what it has cost."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from exploracoder import bringing
from exploracoder.state import Brought

from exploracoder_jupyter.magics.faces.text import plain
from exploracoder_jupyter.magics.moment import Moment
from exploracoder_jupyter.magics.page import Block, Heading, Line, Page
from exploracoder_jupyter.magics.pages import cost, where
from exploracoder_jupyter.magics.widgets.kit import Kit, html_of

# ipywidgets marks what has lost its kernel, and nothing in the kernel can say so any more.
_GONE = """\
<style>
.exploracoder-gone { display: none }
.jupyter-widgets-disconnected .exploracoder-gone { display: block; font-weight: bold }
</style>"""


class StatusPart:
    """The task, the status, and what was said last.

    Each is a place of its own: a place that changes is read out whole, and the others are not.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._task = kit.html()
        self._status = kit.html()
        self._wrong = kit.html()
        self._bar = kit.bar("Subtasks")
        self._cost = kit.html()
        self._said = kit.html()
        self.head = (self._task, self._status, self._wrong, self._bar, self._cost)
        self.foot = (self._said,)

    def say(self, page: Page) -> None:
        """Say what came of a button."""
        self._said.value = _alert(page.blocks)

    def update(self, moment: Moment) -> None:
        """Bring it up to date."""
        self._task.value = html_of(_about(moment)) + _gone(moment)
        label = 'role="status" aria-label="Exploration status"'
        self._status.value = f"<div {label}>{_words(moment)}</div>"
        self._wrong.value = _alert(_wrong(moment))
        self._kit.show(self._wrong, bool(self._wrong.value))
        self._cost.value = html_of(_usage(moment))
        steps = moment.exploration.steps if moment.exploration is not None else ()
        self._kit.show(self._bar, bool(steps))
        if steps:
            self._bar.max = len(steps)
            self._bar.value = sum(not step.is_open for step in steps)


def _alert(blocks: Sequence[Block]) -> str:
    return f'<div role="alert">{html_of(blocks)}</div>' if blocks else ""


def _gone(moment: Moment) -> str:
    """What is seen once the kernel of the widgets has been restarted."""
    said = f"The kernel was restarted: these buttons do nothing. To go on run {moment.way_back}"
    return f'{_GONE}<div class="exploracoder-gone" role="status">{escape(plain(said))}</div>'


def _words(moment: Moment) -> str:
    if moment.exploration is not None:
        return escape(plain(where(moment.exploration, moment.progress)))
    if moment.error or moment.note:
        return "Not open."
    return escape(plain(f"Working: {moment.progress.message or 'starting'} …"))


def _about(moment: Moment) -> list[Block]:
    if moment.exploration is None:
        return []
    return [Heading(" ".join(moment.exploration.task.text.split())[:200])]


def _wrong(moment: Moment) -> list[Block]:
    said = dict.fromkeys((moment.progress.error, moment.error))
    blocks: list[Block] = [Line(text, "bad") for text in said if text]
    return [*blocks, Line(moment.note, "strong")] if moment.note else blocks


def _usage(moment: Moment) -> list[Block]:
    exploration = moment.exploration
    if exploration is None:
        return []
    decided = sum(not step.is_open for step in exploration.steps)
    done = f"{decided} of {len(exploration.steps)} subtasks decided. " if exploration.steps else ""
    blocks: list[Block] = [Line(f"{done}{cost(exploration)} Notebook: {moment.notebook}", "dim")]
    if exploration.brought != Brought():
        blocks.append(Line(bringing.in_words(exploration.brought), "dim"))
    return blocks
