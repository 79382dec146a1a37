"""The commands that a user can give to a live exploration.

The sidebar, the magics and Python send the same commands; `LiveSession.do` takes them. Subtasks
and candidates are referred to by id (`Subtask.id`, `Candidate.id`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from exploracoder.state import State

MAX_GOAL_CHARS = 2_000
MAX_CODE_CHARS = 100_000

Mode = Literal["auto", "review"]
Goal = Annotated[str, Field(min_length=1, max_length=MAX_GOAL_CHARS)]


class GoOn(State):
    """Work on whatever is open: plan, then subtask after subtask, then the solution.

    In ``review`` mode the work stops at each subtask whose candidates have run.
    """

    kind: Literal["go_on"] = "go_on"


class SetMode(State):
    """Choose whether to stop for a review at each subtask from now on."""

    kind: Literal["set_mode"] = "set_mode"
    mode: Mode


class AddSubtask(State):
    """Put a new subtask before another one; without one, at the end."""

    kind: Literal["add_subtask"] = "add_subtask"
    goal: Goal
    before: str | None = None


class RenameSubtask(State):
    """Reword the goal of an open subtask; its candidates are dropped."""

    kind: Literal["rename_subtask"] = "rename_subtask"
    subtask: str
    goal: Goal


class DeleteSubtask(State):
    """Remove an open subtask from the plan."""

    kind: Literal["delete_subtask"] = "delete_subtask"
    subtask: str


class RestoreSubtask(State):
    """Restore a subtask that was deleted in this session, with what was tried for it."""

    kind: Literal["restore_subtask"] = "restore_subtask"
    subtask: str


class MoveSubtask(State):
    """Put an open subtask before another open one; without one, at the end."""

    kind: Literal["move_subtask"] = "move_subtask"
    subtask: str
    before: str | None = None


class Skip(State):
    """Leave a subtask out, and go on with the next."""

    kind: Literal["skip"] = "skip"
    subtask: str


class Replan(State):
    """Plan again from an open subtask on; earlier subtasks stay."""

    kind: Literal["replan"] = "replan"
    subtask: str


class Accept(State):
    """Make a candidate that ran the subtask's experience, and go on from its state.

    Without a candidate, the proposed one is accepted. If the subtask is already done, the later
    subtasks run again on the new state; those that now fail are open again.
    """

    kind: Literal["accept"] = "accept"
    subtask: str
    candidate: str | None = None


class Debug(State):
    """Ask for a repair of a candidate; ``hint`` says what is wrong with it."""

    kind: Literal["debug"] = "debug"
    subtask: str
    candidate: str | None = None
    hint: Annotated[str, Field(max_length=MAX_GOAL_CHARS)] = ""


class Draft(State):
    """Ask for other candidates of a subtask."""

    kind: Literal["draft"] = "draft"
    subtask: str
    hint: Annotated[str, Field(max_length=MAX_GOAL_CHARS)] = ""


class TryCode(State):
    """Run the user's own code as a candidate of a subtask; if it runs, it is accepted."""

    kind: Literal["try_code"] = "try_code"
    subtask: str
    code: Annotated[str, Field(min_length=1, max_length=MAX_CODE_CHARS)]


class GoBack(State):
    """Go back to the state before a subtask: it and all later ones are open again.

    Their candidates stay, and can be accepted again.
    """

    kind: Literal["go_back"] = "go_back"
    subtask: str


class Synthesize(State):
    """Write the solution from what is accepted so far; open subtasks stay open."""

    kind: Literal["synthesize"] = "synthesize"


class Cancel(State):
    """Stop what is being worked on; all that was found so far stays."""

    kind: Literal["cancel"] = "cancel"


Command = Annotated[
    GoOn
    | SetMode
    | AddSubtask
    | RenameSubtask
    | DeleteSubtask
    | RestoreSubtask
    | MoveSubtask
    | Skip
    | Replan
    | Accept
    | Debug
    | Draft
    | TryCode
    | GoBack
    | Synthesize
    | Cancel,
    Field(discriminator="kind"),
]
COMMAND: TypeAdapter[Command] = TypeAdapter(Command)
