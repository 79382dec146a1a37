"""What can be asked of an exploration as it stands: buttons for the rest cannot be pressed.

Source: ``extension/src/abilities.ts``, by which the sidebar goes.
"""

from __future__ import annotations

from dataclasses import dataclass

from exploracoder.engine.running import steering
from exploracoder.events import Progress
from exploracoder.state import Candidate, Exploration, Step

from exploracoder_jupyter.magics.pages import shown_step


@dataclass(frozen=True, slots=True)
class Abilities:
    """An exploration, and the subtask and candidate that are looked at."""

    exploration: Exploration
    progress: Progress
    step: Step | None = None
    candidate: Candidate | None = None

    @property
    def is_working(self) -> bool:
        """Whether something is worked on, so that it can be cancelled and nothing else."""
        return self.progress.activity == "working"

    @property
    def can_go_on(self) -> bool:
        """Whether there is something to go on with that needs no decision first."""
        first = steering.next_open(self.exploration)
        is_open = first is not None and first.status == "pending"
        return not self.is_working and (is_open or not self.exploration.is_planned)

    @property
    def can_synthesize(self) -> bool:
        """Whether a solution can be written from what is accepted."""
        return not self.is_working and any(step.status == "done" for step in self.exploration.steps)

    @property
    def can_insert(self) -> bool:
        """Whether there is a solution that ran."""
        solution = self.exploration.solution
        return not self.is_working and solution is not None and solution.final.is_good

    @property
    def can_accept(self) -> bool:
        """Whether the candidate can become the experience of the subtask."""
        step, candidate = self.step, self.candidate
        if step is None or candidate is None or not self._is_in_turn(step):
            return False
        return candidate.ran and not (step.status == "done" and step.chosen == candidate.id)

    @property
    def can_debug(self) -> bool:
        """Whether a repair of the candidate can be asked for."""
        return self.step is not None and self.candidate is not None and self._is_in_turn(self.step)

    @property
    def can_draft(self) -> bool:
        """Whether other candidates can be asked for: of the subtask that the words mean."""
        step = self.step
        return step is not None and self._is_in_turn(step) and step is shown_step(self.exploration)

    @property
    def can_go_back(self) -> bool:
        """Whether the subtask is decided, and can be open again."""
        step = self.step
        return step is not None and not self.is_working and step.status not in steering.OPEN

    @property
    def can_skip(self) -> bool:
        """Whether the subtask can be left out."""
        return self.step is not None and not self.is_working and self.step.status != "skipped"

    def _is_in_turn(self, step: Step) -> bool:
        first = steering.next_open(self.exploration)
        is_first = first is not None and first.subtask.id == step.subtask.id
        return not self.is_working and (is_first or step.status not in steering.OPEN)
