"""One exploration as widgets: where it stands, its plan, the subtask looked at, the solution."""

from __future__ import annotations

import threading
from collections.abc import Callable
from html import escape
from typing import Any

from exploracoder.abilities import abilities_of
from exploracoder.state import Step

from exploracoder_jupyter.magics.faces.text import plain
from exploracoder_jupyter.magics.moment import Moment
from exploracoder_jupyter.magics.page import Page
from exploracoder_jupyter.magics.pages import number_of
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.widgets.buttons import ButtonsPart, Look, Seen
from exploracoder_jupyter.magics.widgets.candidates import CandidatesPart
from exploracoder_jupyter.magics.widgets.docs import DocsPart
from exploracoder_jupyter.magics.widgets.kit import Kit
from exploracoder_jupyter.magics.widgets.plan import PlanPart
from exploracoder_jupyter.magics.widgets.solution import SolutionPart
from exploracoder_jupyter.magics.widgets.status import StatusPart

VIEW_MIME = "application/vnd.jupyter.widget-view+json"


class View:
    """The widgets of one output. What did not change is left alone, so that nothing flickers.

    It is brought up to date by the thread of the work, and touched by the one of the front end.
    """

    def __init__(self, press: Callable[[Order], None]) -> None:
        self._press = press
        self._lock = threading.RLock()
        self._moment: Moment | None = None
        self._kit = kit = Kit()
        self._status = StatusPart(kit)
        self._buttons = ButtonsPart(kit, self._pressed)
        self._plan = PlanPart(kit, self._draw)
        self._title = kit.html()
        self._candidates = CandidatesPart(kit, self._draw)
        self._docs = DocsPart(kit)
        self._solution = SolutionPart(kit)
        self.root = kit.column(
            (
                *self._status.head,
                self._buttons.whole,
                *self._plan.widgets,
                self._title,
                self._buttons.step,
                *self._candidates.widgets,
                *self._docs.widgets,
                *self._solution.widgets,
                self._buttons.end,
                *self._status.foot,
            )
        )

    @property
    def bundle(self) -> dict[str, Any]:
        """What of an output's data makes a front end draw the widgets."""
        return {VIEW_MIME: self.root.get_view_spec()}

    def update(self, moment: Moment) -> None:
        """Show the work as it stands now."""
        with self._lock:
            self._moment = moment
            self._draw()

    def say(self, page: Page) -> None:
        """Say what came of a button, below everything else."""
        with self._lock:
            self._status.say(page)

    def close(self) -> None:
        """End the widgets; a front end takes them away."""
        with self._lock:
            self._moment = None
            self._kit.close(self.root)
            self._kit.close_shared()

    def _draw(self) -> None:
        with self._lock:
            moment = self._moment
            if moment is None:
                return
            step = self._plan.step(moment)
            self._status.update(moment)
            self._plan.update(moment, step)
            self._title.value = _title(moment, step)
            self._kit.show(self._buttons.step, step is not None)
            self._candidates.update(step)
            self._docs.update(step)
            self._solution.update(moment.exploration)
            self._buttons.update(moment, self._seen(moment))

    def _seen(self, moment: Moment) -> Seen | None:
        if moment.exploration is None:
            return None
        abilities = abilities_of(moment.exploration, moment.progress)
        step, candidate = self._plan.step(moment), self._candidates.candidate
        return Seen(moment.exploration, abilities, step, candidate)

    def _pressed(self, look: Look) -> None:
        with self._lock:
            at = self._seen(self._moment) if self._moment is not None else None
            order = self._buttons.order(look, at) if at is not None else Order(look.command)
            self._status.say(Page(()))
        self._press(order)


def _title(moment: Moment, step: Step | None) -> str:
    if moment.exploration is None or step is None:
        return ""
    goal = escape(plain(step.subtask.goal))
    return f"<h4>{number_of(moment.exploration, step)}. {goal}</h4>"
