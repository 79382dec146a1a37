"""The buttons: each is a sub-command about what is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from exploracoder_jupyter.magics.moment import Moment
from exploracoder_jupyter.magics.pages import number_of
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.widgets.abilities import Abilities

if TYPE_CHECKING:
    from exploracoder_jupyter.magics.widgets.kit import Kit

Can = Callable[[Abilities], bool]
# The words after the sub-command, of what is looked at and of the hint.
Words = Callable[[Abilities, str], str]


@dataclass(frozen=True, slots=True)
class Look:
    """A button's name, what it says of itself, its sub-command, and when it can be pressed."""

    name: str
    tooltip: str
    command: str
    can: Can
    words: Words = lambda at, hint: ""


def _subtask(at: Abilities, hint: str = "") -> str:
    return str(number_of(at.exploration, at.step)) if at.step is not None else ""


def _candidate(at: Abilities, hint: str = "") -> str:
    if at.step is None or at.candidate is None:
        return ""
    ids = [one.id for one in at.step.candidates]
    return f"{_subtask(at)}.{ids.index(at.candidate.id) + 1}"


GO_ON = Look("Explore", "Go on with what is open", "next", lambda at: at.can_go_on)
CANCEL = Look("Cancel", "Stop the work; what was found stays", "cancel", lambda at: at.is_working)
WHOLE = (GO_ON, CANCEL)
STEP = (
    Look(
        "Accept",
        "Go on from this candidate's state",
        "accept",
        lambda at: at.can_accept,
        _candidate,
    ),
    Look(
        "Debug",
        "Ask for a repair of this candidate",
        "debug",
        lambda at: at.can_debug,
        lambda at, hint: f"{_candidate(at)} {hint}".strip(),
    ),
    Look(
        "Other candidates",
        "Ask for other ways to do this subtask",
        "retry",
        lambda at: at.can_draft,
        lambda at, hint: hint,
    ),
    Look(
        "Go back here",
        "Open this subtask and all later ones again",
        "back",
        lambda at: at.can_go_back,
        _subtask,
    ),
    Look("Skip", "Leave this subtask out", "skip", lambda at: at.can_skip, _subtask),
)
END = (
    Look(
        "Synthesize",
        "Write the solution from what is accepted",
        "solve",
        lambda at: at.can_synthesize,
    ),
    Look(
        "Insert into my notebook",
        "The solution comes below the next cell that you run; %exploracoder insert in a cell puts"
        " it below that one",
        "insert",
        lambda at: at.can_insert,
    ),
)


class ButtonsPart:
    """All buttons of a view, and the hint that two of them take along."""

    def __init__(self, kit: Kit, press: Callable[[Look], None]) -> None:
        self._buttons = {
            look.command: (look, kit.button(look.name, look.tooltip, partial(press, look)))
            for look in (*WHOLE, *STEP, *END)
        }
        self._hint = kit.line("Hint", "A hint for Debug and Other candidates (optional)")
        made = {command: button for command, (_, button) in self._buttons.items()}
        self.whole = kit.row([made[look.command] for look in WHOLE])
        self.step = kit.column([kit.row([made[look.command] for look in STEP]), self._hint])
        self.end = kit.row([made[look.command] for look in END])

    def order(self, look: Look, at: Abilities) -> Order:
        """What a press says, in words; the hint is used up by it."""
        hint = " ".join(self._hint.value.split())
        words = look.words(at, hint)
        if look.command in ("debug", "retry"):
            self._hint.value = ""
        return Order(look.command, words)

    def update(self, moment: Moment, at: Abilities | None) -> None:
        """Let those be pressed whose command would be taken now."""
        for look, button in self._buttons.values():
            can = look.can(at) if at is not None else look is CANCEL and moment.is_working
            button.disabled = not can
        # What was looked at is explored, a first try's solution too; what was stopped resumes.
        shown = moment.exploration
        is_idle = moment.progress.activity == "idle"
        was_stopped = shown is not None and is_idle and shown.solution is None
        self._buttons[GO_ON.command][1].description = "Resume" if was_stopped else "Explore"
