"""Edits the plan: pure functions from one exploration to another.

`exploracoder.abilities` decides what can be edited, and where something can be put.
"""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder.abilities import MAX_SUBTASKS
from exploracoder.commands import AddSubtask, DeleteSubtask, MoveSubtask, RenameSubtask
from exploracoder.engine.running.steering import find_step
from exploracoder.engine.running.trial import next_number
from exploracoder.errors import CommandError
from exploracoder.state import Exploration, Step, Subtask, Written

PlanEdit = AddSubtask | RenameSubtask | DeleteSubtask | MoveSubtask


def edit_plan(exploration: Exploration, edit: PlanEdit) -> Exploration:
    """The exploration with its plan edited.

    Raises CommandError for an empty goal.
    """
    match edit:
        case AddSubtask():
            steps = _add(exploration, edit)
        case RenameSubtask():
            steps = _rename(exploration, edit)
        case DeleteSubtask():
            steps = [one for one in exploration.steps if one.subtask.id != edit.subtask]
        case MoveSubtask():
            steps = _move(exploration, edit)
    # The solution that was written with the cells belongs to the previous plan.
    return exploration.model_copy(update={"steps": tuple(steps), "written": Written()})


def restore(
    exploration: Exploration, step: Step, before: Sequence[str], at_work: str
) -> Exploration:
    """The exploration with a deleted step put back where it was.

    ``before`` are the subtasks that came after it. It goes after the done steps, and after the one
    that is being worked on, ``at_work``. Raises CommandError if the plan is full.
    """
    if len(exploration.steps) >= MAX_SUBTASKS:
        raise CommandError(f"A plan has at most {MAX_SUBTASKS} subtasks.")
    steps = list(exploration.steps)
    position = next((n for n, one in enumerate(steps) if one.subtask.id in before), len(steps))
    positions = [
        n for n, one in enumerate(steps, 1) if one.status == "done" or one.subtask.id == at_work
    ]
    position = max(position, *positions[-1:], 0)
    ids = [one.subtask.id for one in steps]
    if step.subtask.id in ids:  # its id has been reused since
        new = f"step-{next_number(ids)}"
        step = Step(subtask=step.subtask.model_copy(update={"id": new}))
    steps.insert(position, step)
    return exploration.model_copy(update={"steps": tuple(steps), "written": Written()})


def _add(exploration: Exploration, edit: AddSubtask) -> list[Step]:
    number = next_number(step.subtask.id for step in exploration.steps)
    new = Step(subtask=Subtask(id=f"step-{number}", goal=_goal(edit.goal)))
    return _put(exploration, list(exploration.steps), new, edit.before)


def _rename(exploration: Exploration, edit: RenameSubtask) -> list[Step]:
    step = find_step(exploration, edit.subtask)
    if _goal(edit.goal) == step.subtask.goal:
        return list(exploration.steps)
    # The old candidates were tried for another goal.
    new = Step(subtask=step.subtask.model_copy(update={"goal": _goal(edit.goal)}))
    return [new if one.subtask.id == edit.subtask else one for one in exploration.steps]


def _move(exploration: Exploration, edit: MoveSubtask) -> list[Step]:
    step = find_step(exploration, edit.subtask)
    if edit.before == edit.subtask:
        return list(exploration.steps)
    others = [one for one in exploration.steps if one.subtask.id != edit.subtask]
    return _put(exploration, others, step, edit.before)


def _put(exploration: Exploration, steps: list[Step], step: Step, before: str | None) -> list[Step]:
    position = len(steps)
    if before is not None:
        position = steps.index(find_step(exploration, before))
    return [*steps[:position], step, *steps[position:]]


def _goal(text: str) -> str:
    goal = " ".join(text.split())
    if not goal:
        raise CommandError("A subtask needs a goal: say in a sentence what it is to do.")
    return goal
