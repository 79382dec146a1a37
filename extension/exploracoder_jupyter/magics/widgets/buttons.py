"""The buttons, each of which runs a sub-command on what is being viewed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from exploracoder.events import Abilities, Action
from exploracoder.state import Candidate, Exploration, Step

from exploracoder_jupyter.magics.pages import number_of, shown_step
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.work_snapshot import Moment

if TYPE_CHECKING:
    from exploracoder_jupyter.magics.widgets.widget_factory import Kit


@dataclass(frozen=True, slots=True)
class ViewState:
    """What the user is viewing, and what can be done with it."""

    exploration: Exploration
    abilities: Abilities
    step: Step | None = None
    candidate: Candidate | None = None

    def can(self, look: Look) -> bool:
        """Whether a button's command would be taken now."""
        ids = [""]
        if self.step is not None:
            ids.append(self.step.subtask.id)
        if self.candidate is not None:
            ids.append(self.candidate.id)
        # `retry` takes no number: it always applies to the subtask of `shown_step`.
        is_meant = look.action != "draft" or self.step is shown_step(self.exploration)
        return is_meant and any(look.action in self.abilities.get(one, ()) for one in ids)


# Makes the words after the sub-command from what is being viewed and the hint.
Words = Callable[[ViewState, str], str]


@dataclass(frozen=True, slots=True)
class Look:
    """A button's name, tooltip and sub-command, the action of that, and its arguments."""

    name: str
    tooltip: str
    command: str
    action: Action
    words: Words = lambda at, hint: ""


def _subtask(at: ViewState, hint: str = "") -> str:
    return str(number_of(at.exploration, at.step)) if at.step is not None else ""


def _candidate(at: ViewState, hint: str = "") -> str:
    if at.step is None or at.candidate is None:
        return ""
    ids = [one.id for one in at.step.candidates]
    return f"{_subtask(at)}.{ids.index(at.candidate.id) + 1}"


GO_ON = Look("Explore", "Go on with what is open", "next", "go_on")
CANCEL = Look("Cancel", "Stop the work; what was found stays", "cancel", "cancel")
WHOLE = (GO_ON, CANCEL)
STEP = (
    Look("Accept", "Go on from this candidate's state", "accept", "accept", _candidate),
    Look(
        "Debug",
        "Ask for a repair of this candidate",
        "debug",
        "debug",
        lambda at, hint: f"{_candidate(at)} {hint}".strip(),
    ),
    Look(
        "Other candidates",
        "Ask for other ways to do this subtask",
        "retry",
        "draft",
        lambda at, hint: hint,
    ),
    Look(
        "Go back here",
        "Open this subtask and all later ones again",
        "back",
        "go_back",
        _subtask,
    ),
    Look("Skip", "Leave this subtask out", "skip", "skip", _subtask),
)
END = (
    Look("Synthesize", "Write the solution from what is accepted", "solve", "synthesize"),
    Look(
        "Insert into my notebook",
        "The solution comes below the next cell that you run; %exploracoder insert in a cell puts"
        " it below that one",
        "insert",
        "insert",
    ),
)


class ButtonsPart:
    """All buttons of a view, and the hint field that two of them use."""

    def __init__(self, kit: Kit, press: Callable[[Look], None]) -> None:
        self._buttons = {
            look.command: (look, kit.button(look.name, look.tooltip, partial(press, look)))
            for look in (*WHOLE, *STEP, *END)
        }
        self._hint = kit.line("Hint", "A hint for Debug and Other candidates (optional)")
        buttons = {command: button for command, (_, button) in self._buttons.items()}
        self.whole = kit.row([buttons[look.command] for look in WHOLE])
        self.step = kit.column([kit.row([buttons[look.command] for look in STEP]), self._hint])
        self.end = kit.row([buttons[look.command] for look in END])

    def order(self, look: Look, at: ViewState) -> Order:
        """The order that a press stands for; a command that takes the hint clears it."""
        hint = " ".join(self._hint.value.split())
        words = look.words(at, hint)
        if look.command in ("debug", "retry"):
            self._hint.value = ""
        return Order(look.command, words)

    def update(self, moment: Moment, at: ViewState | None) -> None:
        """Enable the buttons whose command would be accepted now."""
        for look, button in self._buttons.values():
            can = at.can(look) if at is not None else look is CANCEL and moment.is_working
            button.disabled = not can
        # A stopped exploration without a solution resumes; anything else is explored.
        exploration = moment.exploration
        is_idle = moment.progress.activity == "idle"
        was_stopped = exploration is not None and is_idle and exploration.solution is None
        self._buttons[GO_ON.command][1].description = "Resume" if was_stopped else "Explore"
