"""The events that user interfaces receive from a live exploration."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, computed_field

from exploracoder.commands import Mode
from exploracoder.state import Exploration, State, Step
from exploracoder.texts import parts_of

# What the session is doing: nothing, a command, or waiting for the user's review.
Activity = Literal["idle", "working", "review"]

# The kinds of commands; `insert` is done by front ends themselves, with the solution.
Action = Literal[
    "go_on",
    "synthesize",
    "cancel",
    "insert",
    "add_subtask",
    "rename_subtask",
    "delete_subtask",
    "move_subtask",
    "skip",
    "replan",
    "draft",
    "try_code",
    "go_back",
    "accept",
    "debug",
]
# By the id of a subtask or candidate, with "" for the exploration. On a subtask, `add_subtask`
# means that others can be inserted before it.
Abilities = dict[str, tuple[Action, ...]]


class TextParts(State):
    """A sentence that a page can translate: its ``template`` has %1, %2… for the ``values``."""

    template: str
    values: tuple[str, ...] = ()


class Progress(State):
    """How far the work is.

    ``part`` is ``plan``, the id of a subtask, ``solution``, or empty; ``message`` says in a few
    words what is being done or was done last; ``error`` is why the last command stopped, in words
    that say what to do next.
    """

    activity: Activity = "idle"
    mode: Mode = "auto"
    part: str = ""
    message: str = ""
    error: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def message_parts(self) -> TextParts:
        """The message for a page that translates it."""
        return _parts_of(self.message)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def error_parts(self) -> TextParts:
        """The error for a page that translates it."""
        return _parts_of(self.error)


class Event(State):
    """The exploration and its progress after something has happened."""

    exploration: Exploration
    progress: Progress


class Change(State):
    """What has changed since the previous event: apply it to get the new exploration.

    ``fields`` are the top-level fields of the exploration that changed, except ``steps``; ``steps``
    are the new or changed steps, and ``order`` the subtasks' ids if their order or number changed.
    ``abilities`` are those that changed, empty where nothing is possible any more.
    """

    fields: dict[str, Any] = Field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    order: tuple[str, ...] | None = None
    progress: Progress | None = None
    abilities: Abilities = Field(default_factory=dict)


def _parts_of(text: str) -> TextParts:
    template, values = parts_of(text)
    return TextParts(template=template, values=values)


def change_between(before: Exploration, after: Exploration) -> Change:
    """The change that turns ``before`` into ``after``."""
    names = [name for name in Exploration.model_fields if name != "steps"]
    changed_names = {name for name in names if getattr(before, name) != getattr(after, name)}
    # As JSON values, since that is how fields are sent.
    fields = after.model_dump(mode="json", include=changed_names) if changed_names else {}
    earlier_steps = {step.subtask.id: step for step in before.steps}
    steps = tuple(step for step in after.steps if earlier_steps.get(step.subtask.id) != step)
    order = tuple(step.subtask.id for step in after.steps)
    same_order = order == tuple(step.subtask.id for step in before.steps)
    return Change(fields=fields, steps=steps, order=None if same_order else order)


def changed_abilities(before: Abilities, after: Abilities) -> Abilities:
    """The abilities that changed; an empty tuple where nothing is possible any more."""
    ids = before.keys() | after.keys()
    return {id_: after.get(id_, ()) for id_ in ids if before.get(id_) != after.get(id_)}
