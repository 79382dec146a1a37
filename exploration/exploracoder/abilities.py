"""Which commands an exploration accepts in its current state, and why not the others.

The session enforces these rules, and front ends receive the result: a button is enabled exactly
when its command would be accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from exploracoder import commands as c
from exploracoder.engine.running.steering import find_candidate, find_step
from exploracoder.errors import CommandError
from exploracoder.events import Abilities, Action, Progress
from exploracoder.state import Candidate, Exploration, Step
from exploracoder.texts import Text

MAX_SUBTASKS = 200


def abilities_of(exploration: Exploration, progress: Progress) -> Abilities:
    """The actions possible now, by id; ids without any are left out."""
    return dict(Rules(exploration, progress).abilities())


def check(command: c.Command, exploration: Exploration, progress: Progress) -> None:
    """Raise CommandError if a command cannot be accepted now, and InputError if it names a
    subtask or candidate that does not exist."""
    if isinstance(command, c.Cancel | c.SetMode | c.RestoreSubtask):
        return
    rules = Rules(exploration, progress)
    subtask_id = getattr(command, "subtask", None)
    step = None if subtask_id is None else find_step(exploration, subtask_id)
    candidate = None
    if step is not None and isinstance(command, c.Accept | c.Debug):
        candidate = find_candidate(step, command.candidate)
    refusal = rules.refusal(command.kind, step, candidate)
    before = getattr(command, "before", None)
    if not refusal and before is not None and before != subtask_id:
        refusal = rules.refusal("add_subtask", find_step(exploration, before))
    if refusal:
        raise CommandError(refusal)


class Rules:
    """The rules, applied to one state. Each returns why an action is refused, or an empty text."""

    def __init__(self, exploration: Exploration, progress: Progress) -> None:
        self._exploration = exploration
        self._progress = progress
        steps = exploration.steps
        self._places = {step.subtask.id: place for place, step in enumerate(steps)}
        self._first = next((step for step in steps if step.is_open), None)
        self._last_done = next((step for step in reversed(steps) if step.status == "done"), None)
        self._whole: Mapping[Action, Callable[[], str]] = {
            "go_on": self._go_on,
            "synthesize": self._synthesize,
            "cancel": self._cancel,
            "insert": self._insert,
            "add_subtask": self._add,
        }
        self._of_step: Mapping[Action, Callable[[Step], str]] = {
            "add_subtask": self._put_before,
            "rename_subtask": self._edit,
            "delete_subtask": self._edit,
            "move_subtask": self._edit,
            "skip": self._skip,
            "replan": self._replan,
            "draft": self._in_turn,
            "try_code": self._in_turn,
            "go_back": self._go_back,
        }
        self._of_candidate: Mapping[Action, Callable[[Step, Candidate], str]] = {
            "accept": self._accept,
            "debug": lambda step, candidate: self._in_turn(step),
        }

    def refusal(
        self, action: Action, step: Step | None = None, candidate: Candidate | None = None
    ) -> str:
        """Why an action is not possible now, and what to do instead; empty if it is possible."""
        if step is None:
            return self._whole[action]()
        if candidate is None:
            return self._of_step[action](step)
        return self._of_candidate[action](step, candidate)

    def abilities(self) -> Iterator[tuple[str, tuple[Action, ...]]]:
        """The ids that have actions, each with its actions."""
        entries: list[tuple[str, tuple[Action, ...]]] = [
            ("", tuple(one for one, why_not in self._whole.items() if not why_not()))
        ]
        for step in self._exploration.steps:
            can = tuple(one for one, why_not in self._of_step.items() if not why_not(step))
            entries.append((step.subtask.id, can))
            for candidate in step.candidates:
                rules = self._of_candidate.items()
                may = tuple(one for one, why_not in rules if not why_not(step, candidate))
                entries.append((candidate.id, may))
        return ((id_, actions) for id_, actions in entries if actions)

    def not_acceptable(self, step: Step, candidate: Candidate) -> str:
        """Why a candidate cannot become the state of the chain; empty if it can."""
        if candidate.observation is None:
            return Text("%1 has not run yet. Go on, and accept it then.", candidate.id)
        if not candidate.ran:
            return Text("%1 did not run, so it cannot be accepted. Debug it first.", candidate.id)
        return self._in_turn(step)

    def _busy(self) -> str:
        if self._progress.activity != "working":
            return ""
        activity = self._progress.message or "something else"
        return Text("It is working (%1). Cancel that first, or wait.", activity)

    def _go_on(self) -> str:
        first, solution = self._first, self._exploration.solution
        if self._busy() or not self._exploration.is_planned:
            return self._busy()
        if first is None and solution is not None and solution.final.is_good:
            return "Nothing is left to do: take the solution, or go back to a subtask."
        is_asked = self._progress.activity == "review" and self._progress.mode == "review"
        if first is not None and first.status == "review" and is_asked:
            return Text("%1 waits for you: accept or skip it first.", first.subtask.id)
        return ""

    def _synthesize(self) -> str:
        if self._busy() or self._last_done is not None:
            return self._busy()
        return "Nothing is accepted yet, so there is nothing to write it from."

    def _cancel(self) -> str:
        return "" if self._progress.activity == "working" else "Nothing is worked on."

    def _insert(self) -> str:
        solution = self._exploration.solution
        is_good = solution is not None and solution.final.is_good
        return "" if is_good else "There is no solution that ran yet."

    def _add(self) -> str:
        if not self._exploration.is_planned:
            return "There is no plan yet. Explore first."
        is_full = len(self._exploration.steps) >= MAX_SUBTASKS
        return Text("A plan has at most %1 subtasks.", MAX_SUBTASKS) if is_full else ""

    def _put_before(self, step: Step) -> str:
        if self._last_done is not None and self._place(step) <= self._place(self._last_done):
            return "A subtask that is done comes after that place. Go back first."
        # Once that one is done, an open one would come before it.
        at_work = self._places.get(self._progress.part, -1) if self._busy() else -1
        if self._place(step) <= at_work:
            return Text("%1 is being explored. Put it after that.", self._progress.part)
        return ""

    def _edit(self, step: Step) -> str:
        if not self._exploration.is_planned:
            return "There is no plan yet. Explore first."
        if step.status == "done":
            return Text(
                "%1 is done. Go back to it before you change the plan there.", step.subtask.id
            )
        # A subtask must not change while it is being explored.
        if self._busy() and self._progress.part == step.subtask.id:
            return Text("%1 is being explored. Cancel that first.", step.subtask.id)
        return ""

    def _skip(self, step: Step) -> str:
        if step.status == "skipped":
            return Text("%1 is left out already.", step.subtask.id)
        return self._busy() if step.is_open else self._in_turn(step)

    def _replan(self, step: Step) -> str:
        last_step = self._last_done
        if self._busy() or last_step is None or self._place(last_step) < self._place(step):
            return self._busy()
        return Text("%1 is done. Go back to it first.", last_step.subtask.id)

    def _go_back(self, step: Step) -> str:
        is_open = Text("%1 is open already.", step.subtask.id)
        return is_open if step.is_open else self._in_turn(step)

    def _accept(self, step: Step, candidate: Candidate) -> str:
        if step.status == "done" and step.chosen == candidate.id:
            return Text("%1 is accepted already.", candidate.id)
        return self.not_acceptable(step, candidate)

    def _in_turn(self, step: Step) -> str:
        """Refuse while an earlier subtask is open: the state to start from is missing."""
        first = self._first
        if self._busy() or first is None or self._place(step) <= self._place(first):
            return self._busy()
        return Text(
            "%1 comes before %2 and is open. Accept or skip it first.",
            first.subtask.id,
            step.subtask.id,
        )

    def _place(self, step: Step) -> int:
        return self._places[step.subtask.id]
