"""Translates the sub-commands that steer an exploration into a session's commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from exploracoder import commands as c
from exploracoder.engine.running import steering
from exploracoder.errors import CommandError, InputError
from exploracoder.state import Exploration

from exploracoder_jupyter.magics import places
from exploracoder_jupyter.magics.registry import nearest


def command_for(name: str, rest: str, exploration: Exploration) -> c.Command:
    """The command that a sub-command stands for.

    Raises InputError for an invalid number or goal, CommandError when nothing is open for it.
    """
    return _COMMANDS[name](rest, exploration)


def plan_command(rest: str, exploration: Exploration) -> c.Command:
    """The command for ``plan ACTION …``. Raises InputError, with the nearest action, if unknown."""
    action, _, words = rest.partition(" ")
    if action not in _PLAN:
        near = nearest(action, tuple(_PLAN), cutoff=0.0)
        raise InputError(f"plan has no {action!r}. The nearest is '{near}'.")
    return _PLAN[action](words.strip(), exploration)


def _next(rest: str, exploration: Exploration) -> c.Command:
    _nothing(rest, "next")
    first = steering.next_open(exploration)
    is_proposed = first is not None and first.status == "review"
    if first is not None and is_proposed and first.candidate is not None and first.candidate.ran:
        return c.Accept(subtask=first.subtask.id)
    if exploration.solution is not None and exploration.solution.final.is_good and first is None:
        raise CommandError(
            "Nothing is left to do: '%exploracoder insert' puts the solution into the next cell."
        )
    return c.GoOn()


def _accept(rest: str, exploration: Exploration) -> c.Command:
    step, candidate = places.candidate(exploration, rest)
    return c.Accept(subtask=step.subtask.id, candidate=candidate.id if candidate else None)


def _debug(rest: str, exploration: Exploration) -> c.Command:
    number, hint = places.split_number(rest)
    step, candidate = places.candidate(exploration, number)
    if candidate is None and step.candidates:
        candidate = step.candidates[-1]
    return c.Debug(
        subtask=step.subtask.id, candidate=candidate.id if candidate else None, hint=hint
    )


def _retry(rest: str, exploration: Exploration) -> c.Command:
    return c.Draft(subtask=places.subtask_or_shown(exploration, "").subtask.id, hint=rest)


def _skip(rest: str, exploration: Exploration) -> c.Command:
    return c.Skip(subtask=places.subtask_or_shown(exploration, rest).subtask.id)


def _back(rest: str, exploration: Exploration) -> c.Command:
    if rest:
        return c.GoBack(subtask=places.subtask(exploration, rest).subtask.id)
    done_steps = [step for step in exploration.steps if not step.is_open]
    if not done_steps:
        raise CommandError("Nothing is accepted yet, so there is nothing to go back to.")
    return c.GoBack(subtask=done_steps[-1].subtask.id)


def _solve(rest: str, exploration: Exploration) -> c.Command:
    _nothing(rest, "solve")
    return c.Synthesize()


def _add(rest: str, exploration: Exploration) -> c.Command:
    return c.AddSubtask(goal=_goal(rest, "add"))


def _rename(rest: str, exploration: Exploration) -> c.Command:
    word, _, goal = rest.partition(" ")
    step = places.subtask(exploration, word)
    return c.RenameSubtask(subtask=step.subtask.id, goal=_goal(goal.strip(), "rename S"))


def _delete(rest: str, exploration: Exploration) -> c.Command:
    return c.DeleteSubtask(subtask=places.subtask(exploration, rest).subtask.id)


def _move(rest: str, exploration: Exploration) -> c.Command:
    word, _, before = rest.partition(" ")
    step = places.subtask(exploration, word)
    other = places.subtask(exploration, before.strip()) if before.strip() else None
    return c.MoveSubtask(subtask=step.subtask.id, before=other.subtask.id if other else None)


def _again(rest: str, exploration: Exploration) -> c.Command:
    return c.Replan(subtask=places.subtask_or_shown(exploration, rest).subtask.id)


def _goal(words: str, usage: str) -> str:
    if not 0 < len(words) <= c.MAX_GOAL_CHARS:
        raise InputError(
            f"plan {usage} needs a goal of at most {c.MAX_GOAL_CHARS} characters after it."
        )
    return words


def _nothing(rest: str, name: str) -> None:
    if rest:
        raise InputError(f"'{name}' takes nothing after it, not {rest!r}.")


_Make = Callable[[str, Exploration], c.Command]
_COMMANDS: Mapping[str, _Make] = {
    "next": _next,
    "accept": _accept,
    "debug": _debug,
    "retry": _retry,
    "skip": _skip,
    "back": _back,
    "solve": _solve,
}
_PLAN: Mapping[str, _Make] = {
    "add": _add,
    "rename": _rename,
    "delete": _delete,
    "move": _move,
    "again": _again,
}
STEERING = frozenset(_COMMANDS)
