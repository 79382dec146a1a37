"""Resolves the numbers by which a user refers to subtasks and candidates."""

from __future__ import annotations

import re

from exploracoder.engine.running import steering
from exploracoder.errors import CommandError, InputError
from exploracoder.state import Candidate, Exploration, Step

from exploracoder_jupyter.magics.pages import number_of, shown_step

_CANDIDATE = re.compile(r"(?:([0-9]+)\.)?([0-9]+)")


def subtask(exploration: Exploration, word: str) -> Step:
    """A subtask by its number in the plan, or its id. Raises InputError when there is none."""
    steps = exploration.steps
    if word.isascii() and word.isdigit() and 0 < int(word) <= len(steps):
        return steps[int(word) - 1]
    step = steering.find_in(exploration, word)
    if step is None:
        raise InputError(f"There is no subtask {word!r}. The plan has {len(steps)}, from 1 on.")
    return step


def subtask_or_shown(exploration: Exploration, word: str) -> Step:
    """Like `subtask`, but without a word the one that is shown."""
    if word:
        return subtask(exploration, word)
    step = shown_step(exploration)
    if step is None:
        raise CommandError(
            "No subtask is open. Say which one: 'back S' opens it again, 'accept S.N' and 'edit"
            " S.N' take a candidate of it."
        )
    return step


def candidate(exploration: Exploration, word: str) -> tuple[Step, Candidate | None]:
    """The subtask and candidate of ``N`` or ``S.N``; without a word, the proposed one, if any.

    Raises InputError when there is no such subtask or candidate, CommandError when none is open.
    """
    if not word:
        step = subtask_or_shown(exploration, "")
        return step, step.candidate
    match = _CANDIDATE.fullmatch(word)
    if match is None:
        raise InputError(f"A candidate is a number like 2, or 3.2 in subtask 3, not {word!r}.")
    step = subtask_or_shown(exploration, match[1] or "")
    count, position = len(step.candidates), int(match[2])
    if not 0 < position <= count:
        number = number_of(exploration, step)
        raise InputError(f"Subtask {number} has no candidate {position}; it has {count}.")
    return step, step.candidates[position - 1]


def split_number(rest: str) -> tuple[str, str]:
    """A candidate's number at the start of a line, and what follows it."""
    first, _, others = rest.partition(" ")
    return (first, others.strip()) if _CANDIDATE.fullmatch(first) else ("", rest)
