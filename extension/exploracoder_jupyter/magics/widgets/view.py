"""One exploration as widgets: the page, with buttons and choices between its parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from exploracoder.abilities import abilities_of
from exploracoder.state import Candidate, Exploration, Step

from exploracoder_jupyter.magics import pages
from exploracoder_jupyter.magics.faces.html_face import as_html
from exploracoder_jupyter.magics.faces.text_face import plain
from exploracoder_jupyter.magics.page_blocks import Block, Line, Page
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.widgets.buttons import ButtonsPart, Look, ViewState
from exploracoder_jupyter.magics.widgets.selected_item import Choice
from exploracoder_jupyter.magics.widgets.widget_factory import Kit
from exploracoder_jupyter.magics.work_snapshot import Moment

VIEW_MIME = "application/vnd.jupyter.widget-view+json"
_MOST_GOAL = 100
# ipywidgets marks widgets that have lost their kernel; no kernel is left to show the message then.
_GONE = """\
<style>
.exploracoder-gone { display: none }
.jupyter-widgets-disconnected .exploracoder-gone { display: block; font-weight: bold }
</style>"""


class View:
    """The widgets of one output. Unchanged parts are left alone, so that nothing flickers, unfolded
    parts stay unfolded, and screen readers announce only what is new.

    The thread of the work updates it; the front end's events arrive in another thread.
    """

    def __init__(self, press: Callable[[Order], None]) -> None:
        self._press = press
        self._lock = threading.RLock()
        self._moment: Moment | None = None
        self._step: Step | None = None
        self._candidate: Candidate | None = None
        self._kit = kit = Kit()
        self._task, self._status, self._wrong, self._plan = (kit.html() for _ in range(4))
        self._subtask, self._tries, self._solution = (kit.html() for _ in range(3))
        self._usage, self._message = kit.html(), kit.html()
        self._buttons = ButtonsPart(kit, self._pressed)
        self._subtasks = Choice(kit, "Subtask", self._draw)
        self._candidates = Choice(kit, "Candidate", self._draw)
        self.root = kit.column(
            (
                self._task,
                self._status,
                self._wrong,
                self._buttons.whole,
                self._plan,
                self._subtasks.widget,
                self._subtask,
                self._candidates.widget,
                self._buttons.step,
                self._tries,
                self._solution,
                self._buttons.end,
                self._usage,
                self._message,
            )
        )

    @property
    def bundle(self) -> dict[str, Any]:
        """The MIME bundle that makes a front end draw the widgets."""
        return {VIEW_MIME: self.root.get_view_spec()}

    def update(self, moment: Moment) -> None:
        """Show the work as it stands now."""
        with self._lock:
            self._moment = moment
            self._draw()

    def say(self, page: Page) -> None:
        """Show the outcome of a button press, below everything else."""
        with self._lock:
            self._message.value = _alert(page.blocks)

    def close(self) -> None:
        """Close the widgets, which removes them from the front end."""
        with self._lock:
            self._moment = None
            self._kit.close(self.root)
            self._kit.close_shared()

    def _draw(self) -> None:
        with self._lock:
            moment = self._moment
            if moment is None:
                return
            self._status.value = _status(moment)
            self._wrong.value = _alert(_wrong(moment))
            self._task.value = _head(moment)
            if moment.exploration is not None:
                self._draw_exploration(moment.exploration, moment)
            self._kit.show(self._buttons.step, self._step is not None)
            self._buttons.update(moment, self._seen(moment))

    def _draw_exploration(self, whole: Exploration, moment: Moment) -> None:
        self._plan.value = _html(pages.plan(whole, moment.progress))
        self._step = step = self._look_at_step(whole, moment)
        self._subtask.value = _html(pages.subtask(whole, step)) if step is not None else ""
        self._tries.value = _html(self._look_at_candidate(step))
        self._solution.value = _html(pages.solution(whole))
        self._usage.value = _html(pages.spent(whole, moment.notebook))

    def _look_at_step(self, whole: Exploration, moment: Moment) -> Step | None:
        """The subtask that is worked on or waits for the user, or that the user has selected."""
        steps = {step.subtask.id: step for step in whole.steps}
        last = whole.steps[-1] if whole.steps else None
        proposal = steps.get(moment.progress.part) or pages.shown_step(whole) or last
        id_ = proposal.subtask.id if proposal is not None else ""
        titles = {
            one.subtask.id: f"{number}. {_in_line(one.subtask.goal)[:_MOST_GOAL]}"
            for number, one in enumerate(whole.steps, start=1)
        }
        return steps.get(self._subtasks.update(titles, (id_, moment.progress.activity), id_))

    def _look_at_candidate(self, step: Step | None) -> Iterable[Block]:
        """The candidate that is proposed, or that the user has selected."""
        candidates = step.candidates if step is not None else ()
        chosen_id = step.chosen if step is not None else None
        ids = [one.id for one in candidates]
        titles = {
            one.id: pages.candidate_title(number, one, is_proposed=one.id == chosen_id)
            for number, one in enumerate(candidates, start=1)
        }
        turn = (step.subtask.id if step is not None else "", chosen_id)
        proposal = chosen_id if chosen_id in ids else ids[-1] if ids else ""
        at = self._candidates.update(titles, turn, str(proposal))
        self._candidate = candidates[ids.index(at)] if ids else None
        if self._candidate is None:
            return ()
        number = ids.index(at) + 1
        return pages.candidate(number, self._candidate, is_proposed=at == chosen_id)

    def _seen(self, moment: Moment) -> ViewState | None:
        if moment.exploration is None:
            return None
        abilities = abilities_of(moment.exploration, moment.progress)
        return ViewState(moment.exploration, abilities, self._step, self._candidate)

    def _pressed(self, look: Look) -> None:
        with self._lock:
            at = self._seen(self._moment) if self._moment is not None else None
            order = self._buttons.order(look, at) if at is not None else Order(look.command)
            self.say(Page(()))
        self._press(order)


def _html(blocks: Iterable[Block]) -> str:
    parts = tuple(blocks)
    return as_html(Page(parts)) if parts else ""


def _alert(blocks: Iterable[Block]) -> str:
    html = _html(blocks)
    return f'<div role="alert">{html}</div>' if html else ""


def _status(moment: Moment) -> str:
    if moment.exploration is not None:
        message = pages.where(moment.exploration, moment.progress)
    elif moment.error or moment.note:
        message = "Not open."
    else:
        message = f"Working: {moment.progress.message or 'starting'} …"
    label = 'role="status" aria-label="Exploration status"'
    return f"<div {label}>{escape(plain(message))}</div>"


def _wrong(moment: Moment) -> list[Block]:
    errors = dict.fromkeys((moment.progress.error, moment.error))
    blocks: list[Block] = [Line(text, "bad") for text in errors if text]
    return [*blocks, Line(moment.note, "strong")] if moment.note else blocks


def _head(moment: Moment) -> str:
    """The task, and a notice that appears once the widgets' kernel has been restarted."""
    title = [pages.title(moment.exploration)] if moment.exploration is not None else []
    message = f"The kernel was restarted: these buttons do nothing. To go on run {moment.way_back}"
    notice = f'<div class="exploracoder-gone" role="status">{escape(plain(message))}</div>'
    return f"{_html(title)}{_GONE}{notice}"


def _in_line(text: str) -> str:
    return " ".join(plain(text).split())
