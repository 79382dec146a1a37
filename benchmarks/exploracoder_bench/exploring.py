"""What a saved exploration shows about exploring: which steps, how often the model looked, and
whether the solution resulted from it.
"""

from __future__ import annotations

from exploracoder.engine.exploring import arguments
from exploracoder.engine.finishing import synthesis
from exploracoder.engine.writing import looking
from exploracoder.methods import DEFAULT, paper
from exploracoder.state import Exploration, Step

_EXPLORING = {DEFAULT, *(method.name for method in paper.EXPLORING)}


def exploring_facts(exploration: Exploration) -> dict[str, object]:
    """``explored_steps``, ``looks`` and ``came_of_exploring`` of ``RunResult``; empty for a method
    that cannot explore.
    """
    if exploration.method not in _EXPLORING:
        return {}
    explored_steps = sum(is_explored(exploration, step) for step in exploration.steps)
    return {
        "explored_steps": explored_steps,
        "looks": _calls(exploration, looking.PART),
        "came_of_exploring": bool(explored_steps) and _is_of_steps(exploration),
    }


def is_tried(step: Step) -> bool:
    """Whether any code was run for a step."""
    return any(one.observation is not None for one in step.candidates)


def is_explored(exploration: Exploration, step: Step) -> bool:
    """Whether the model was asked for code for this step alone, and some of it was run.

    A cell that ran as first written along with the others was not explored, nor was a subtask for
    which the model only ranked docs. Example arguments are not a subtask.
    """
    is_subtask = step.subtask.id != arguments.STEP
    return is_subtask and is_tried(step) and _calls(exploration, step.subtask.id) > 0


def _is_of_steps(exploration: Exploration) -> bool:
    """Whether the solution of an exploration with explored steps came after them.

    Then the model was asked for it, or it was made of the steps alone: it leaves no doubt, and is
    the only attempt, or passes a check that those before it failed. One that was written with the
    cells can stand all the same: if it leaves some doubt, or a look changed it for the worse.
    """
    solution = exploration.solution
    if solution is None:
        return False
    is_alone = len(solution.attempts) == 1 or solution.final.checks == "passed"
    is_composed = is_alone and solution.final.leaves_no_doubt
    return is_composed or _calls(exploration, synthesis.PART) > 0


def _calls(exploration: Exploration, part: str) -> int:
    return sum(one.usage.calls for one in exploration.spending if one.part == part)
