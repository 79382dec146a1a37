"""The plan as a list with states, and the choice of the subtask that is looked at."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from exploracoder.state import Exploration, Step

from exploracoder_jupyter.magics.faces.text import plain
from exploracoder_jupyter.magics.moment import Moment
from exploracoder_jupyter.magics.pages import STEP_WORDS, candidates_in_words, shown_step
from exploracoder_jupyter.magics.widgets.kit import Kit

_MOST_GOAL = 100
_EMPTY = "<p>The plan stands here once it is made.</p>"
_NOT_NEEDED = "<p>A first try solved it without a plan. Explore makes one.</p>"


class PlanPart:
    """The subtasks. The view goes where the work goes, until the user looks elsewhere.

    It goes there again with the next subtask, and when it is the user's turn.
    """

    def __init__(self, kit: Kit, changed: Callable[[], None]) -> None:
        self._kit = kit
        self._changed = changed
        self._list = kit.html(_EMPTY)
        self._choice = kit.choice("Subtask")
        self._choice.observe(self._pick, "index")
        self._picked = ""
        self._followed = ("", "")
        self._ids: tuple[str, ...] = ()
        self._is_drawing = False
        self.widgets = (self._list, self._choice)

    def step(self, moment: Moment) -> Step | None:
        """The subtask that is looked at."""
        if moment.exploration is None:
            return None
        followed = _followed(moment.exploration, moment.progress.part)
        turn = (followed.subtask.id if followed else "", moment.progress.activity)
        if turn != self._followed:
            self._followed, self._picked = turn, ""
        steps = {step.subtask.id: step for step in moment.exploration.steps}
        return steps.get(self._picked, followed)

    def update(self, moment: Moment, step: Step | None) -> None:
        """Bring it up to date."""
        whole = moment.exploration
        steps = whole.steps if whole is not None else ()
        is_solved = whole is not None and not whole.is_planned and whole.solution is not None
        at_work = moment.progress.part if moment.progress.activity == "working" else ""
        words = [_state(one, at_work) for one in steps]
        current = step.subtask.id if step is not None else ""
        items = "".join(_item(*pair, current) for pair in zip(steps, words, strict=True))
        listed = f'<h4>Plan</h4><ol aria-label="Plan">{items}</ol>'
        self._list.value = listed if steps else _NOT_NEEDED if is_solved else _EMPTY
        self._kit.show(self._choice, bool(steps))
        self._ids = tuple(one.subtask.id for one in steps)
        options = tuple(_option(number, one) for number, one in enumerate(steps, 1))
        self._draw_choice(options, self._ids.index(current) if current else None)

    def _draw_choice(self, options: tuple[str, ...], index: int | None) -> None:
        self._is_drawing = True
        try:
            with self._choice.hold_sync():
                if self._choice.options != options:
                    self._choice.options = options
                if self._choice.index != index:
                    self._choice.index = index
        finally:
            self._is_drawing = False

    def _pick(self, change: dict[str, int | None]) -> None:
        index = change["new"]
        if self._is_drawing or index is None or index >= len(self._ids):
            return
        self._picked = self._ids[index]
        self._changed()


def _followed(exploration: Exploration, part: str) -> Step | None:
    """The subtask that the work is at, or that waits for the user, or else the last."""
    at_work = [step for step in exploration.steps if step.subtask.id == part]
    last = exploration.steps[-1] if exploration.steps else None
    return at_work[0] if at_work else shown_step(exploration) or last


def _state(step: Step, at_work: str) -> str:
    return "working" if step.subtask.id == at_work else STEP_WORDS[step.status]


def _item(step: Step, state: str, current: str) -> str:
    notes = ", ".join(part for part in (state, candidates_in_words(step)) if part)
    here = ' aria-current="step"' if step.subtask.id == current else ""
    return f"<li{here}>{escape(plain(step.subtask.goal))} <em>({notes})</em></li>"


def _option(number: int, step: Step) -> str:
    return f"{number}. {' '.join(plain(step.subtask.goal).split())[:_MOST_GOAL]}"
