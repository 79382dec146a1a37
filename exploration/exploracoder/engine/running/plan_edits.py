"""Editing the plan: pure functions from an exploration to another.

What can be edited, and where something can be put, is for `exploracoder.abilities` to say.
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

    Raises CommandError for a goal without a word.
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
    # The solution that was written with the cells is that of the plan before.
    return exploration.model_copy(update={"steps": tuple(steps), "written": Written()})


def restore(
    exploration: Exploration, step: Step, before: Sequence[str], at_work: str
) -> Exploration:
    """The exploration with a step that was deleted, where it stood.

    ``before`` are the subtasks that came after it. It comes behind those that are done, and behind
    the one that is worked on. Raises CommandError when the plan is full.
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
    if step.subtask.id in ids:  # another has got its name since
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
    # What was tried was tried for another goal.
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
