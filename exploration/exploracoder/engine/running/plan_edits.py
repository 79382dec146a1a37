"""Editing the plan: pure functions from an exploration to another.

Only open steps can be edited, and nothing can be put before a step that is done: its state would
not be what the plan says.
"""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder.commands import AddSubtask, DeleteSubtask, MoveSubtask, RenameSubtask
from exploracoder.engine.running.steering import find_step
from exploracoder.engine.running.trial import next_number
from exploracoder.errors import CommandError
from exploracoder.state import Exploration, Step, Subtask, Written
from exploracoder.texts import Text

PlanEdit = AddSubtask | RenameSubtask | DeleteSubtask | MoveSubtask
MAX_SUBTASKS = 200


def edit_plan(exploration: Exploration, edit: PlanEdit) -> Exploration:
    """The exploration with its plan edited.

    Raises InputError for a subtask that is not there, CommandError for one that is not open.
    """
    if not exploration.is_planned:
        raise CommandError("There is no plan yet. Explore first.")
    match edit:
        case AddSubtask():
            steps = _add(exploration, edit)
        case RenameSubtask():
            steps = _rename(exploration, edit)
        case DeleteSubtask():
            _find_open(exploration, edit.subtask)
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
    _check_room(exploration)
    steps = list(exploration.steps)
    position = next((n for n, one in enumerate(steps) if one.subtask.id in before), len(steps))
    begun = [
        n for n, one in enumerate(steps, 1) if one.status == "done" or one.subtask.id == at_work
    ]
    position = max(position, *begun[-1:], 0)
    ids = [one.subtask.id for one in steps]
    if step.subtask.id in ids:  # another has got its name since
        new = f"step-{next_number(ids)}"
        step = Step(subtask=step.subtask.model_copy(update={"id": new}))
    steps.insert(position, step)
    return exploration.model_copy(update={"steps": tuple(steps), "written": Written()})


def _add(exploration: Exploration, edit: AddSubtask) -> list[Step]:
    _check_room(exploration)
    number = next_number(step.subtask.id for step in exploration.steps)
    new = Step(subtask=Subtask(id=f"step-{number}", goal=_goal(edit.goal)))
    return _put(exploration, list(exploration.steps), new, edit.before)


def _rename(exploration: Exploration, edit: RenameSubtask) -> list[Step]:
    step = _find_open(exploration, edit.subtask)
    if _goal(edit.goal) == step.subtask.goal:
        return list(exploration.steps)
    # What was tried was tried for another goal.
    new = Step(subtask=step.subtask.model_copy(update={"goal": _goal(edit.goal)}))
    return [new if one.subtask.id == edit.subtask else one for one in exploration.steps]


def _move(exploration: Exploration, edit: MoveSubtask) -> list[Step]:
    step = _find_open(exploration, edit.subtask)
    if edit.before == edit.subtask:
        return list(exploration.steps)
    others = [one for one in exploration.steps if one.subtask.id != edit.subtask]
    return _put(exploration, others, step, edit.before)


def _put(exploration: Exploration, steps: list[Step], step: Step, before: str | None) -> list[Step]:
    position = len(steps)
    if before is not None:
        position = steps.index(find_step(exploration, before))
    if any(one.status == "done" for one in steps[position:]):
        raise CommandError("A subtask that is done comes after that place. Go back to it first.")
    return [*steps[:position], step, *steps[position:]]


def _find_open(exploration: Exploration, subtask: str) -> Step:
    step = find_step(exploration, subtask)
    if step.status == "done":
        raise CommandError(
            Text("%1 is done. Go back to it before you change the plan there.", subtask)
        )
    return step


def _goal(text: str) -> str:
    goal = " ".join(text.split())
    if not goal:
        raise CommandError("A subtask needs a goal: say in a sentence what it is to do.")
    return goal


def _check_room(exploration: Exploration) -> None:
    if len(exploration.steps) >= MAX_SUBTASKS:
        raise CommandError(Text("A plan has at most %1 subtasks.", MAX_SUBTASKS))
