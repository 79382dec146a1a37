"""What a saved exploration may not say although its types are right.

A notebook may be cut, merged by hand or made by somebody who means harm. What is found here would
otherwise end in an exception somewhere, or in a file that cannot be written again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from exploracoder_kernel.observation import Observation

from exploracoder.state import Exploration, Step

MOST_LEVELS = 100
# What nbformat takes as a cell's id, with room for the suffix of a goal's.
_SUBTASK_ID = re.compile(r"[A-Za-z0-9_-]{1,58}")
_OWN_CELLS = ("task", "context", "solution-verdict", "solution", "check", "branches")


class DamageError(Exception):
    """What is wrong, as the end of a sentence: ``at PLACE: REASON``."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"at {place}: {reason}")


def check_values(metadata: object) -> None:
    """Raise DamageError where values are nested too deeply or cannot be written as text.

    It walks without recursion, so that no depth can harm it.
    """
    waiting: list[tuple[object, tuple[str, ...]]] = [(metadata, ())]
    while waiting:
        value, place = waiting.pop()
        if len(place) > MOST_LEVELS:
            raise DamageError(_named(place[:4]), f"more than {MOST_LEVELS} levels are nested")
        if isinstance(value, str):
            _check_text(value, place)
        elif isinstance(value, Mapping):
            for key, part in value.items():
                _check_text(str(key), place)
                waiting.append((part, (*place, str(key))))
        elif isinstance(value, list | tuple):
            waiting += [(part, (*place, str(number))) for number, part in enumerate(value)]


def check_sense(exploration: Exploration) -> None:
    """Raise DamageError where parts contradict each other."""
    _check_ids(exploration)
    for number, step in enumerate(exploration.steps):
        _check_step(step, f"steps.{number}")
    solution = exploration.solution
    if solution is not None and not solution.attempts:
        raise DamageError("solution.attempts", "there is none")
    for place, observation in _observations(exploration):
        _check_observation(place, observation)
    _check_numbers(exploration)


def _check_ids(exploration: Exploration) -> None:
    ids = [step.subtask.id for step in exploration.steps]
    for number, id_ in enumerate(ids):
        if not _SUBTASK_ID.fullmatch(id_):
            raise DamageError(f"steps.{number}.subtask.id", "it is no name that a cell can have")
    twice = _twice([*_OWN_CELLS, *ids, *(f"{id_}-goal" for id_ in ids)])
    if twice:
        raise DamageError("steps", f"several cells would be named {twice!r}")


def _check_step(step: Step, place: str) -> None:
    twice = _twice(candidate.id for candidate in step.candidates)
    if twice is not None:
        raise DamageError(f"{place}.candidates", f"several have the id {brief(twice)!r}")
    # An open step's choice is only a proposal, and a repair may have taken the place of it.
    if step.status != "done":
        return
    if step.candidate is None:
        raise DamageError(
            f"{place}.chosen", "the step is done, and names no candidate that is there"
        )
    if step.candidate.observation is None:
        raise DamageError(f"{place}.chosen", "the candidate has never been run")


def _twice(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _observations(exploration: Exploration) -> Iterator[tuple[str, Observation]]:
    for number, step in enumerate(exploration.steps):
        for position, candidate in enumerate(step.candidates):
            if candidate.observation is not None:
                yield (
                    f"steps.{number}.candidates.{position}.observation",
                    candidate.observation,
                )
    attempts = exploration.solution.attempts if exploration.solution else ()
    for number, attempt in enumerate(attempts):
        yield f"solution.attempts.{number}.observation", attempt.observation
        if attempt.check_observation is not None:
            yield f"solution.attempts.{number}.check_observation", attempt.check_observation
        if attempt.call is not None:
            yield f"solution.attempts.{number}.call.observation", attempt.call.observation


def _check_observation(place: str, observation: Observation) -> None:
    """Outputs go into cells as they are, so they have to be what nbformat calls an output."""
    if not math.isfinite(observation.seconds):
        raise DamageError(f"{place}.seconds", "it is no finite number")
    for number, output in enumerate(observation.outputs):
        if not _is_output(output):
            raise DamageError(f"{place}.outputs.{number}", "it is no output of a notebook")


def _is_output(output: Mapping[str, Any]) -> bool:
    match output.get("output_type"):
        case "stream":
            return set(output) == {"output_type", "name", "text"} and (
                isinstance(output["name"], str) and _is_text(output["text"])
            )
        case "error":
            return set(output) == {"output_type", "ename", "evalue", "traceback"} and (
                isinstance(output["ename"], str)
                and isinstance(output["evalue"], str)
                and isinstance(output["traceback"], list | tuple)
                and all(isinstance(line, str) for line in output["traceback"])
            )
        case "display_data":
            return set(output) == {"output_type", "data", "metadata"} and _is_shown(output)
        case "execute_result":
            needed = {"output_type", "data", "metadata"}
            is_whole = needed <= set(output) <= needed | {"execution_count"}
            count = output.get("execution_count")
            return is_whole and (count is None or isinstance(count, int)) and _is_shown(output)
    return False


def _is_shown(output: Mapping[str, Any]) -> bool:
    data, metadata = output["data"], output["metadata"]
    if not isinstance(data, dict) or not isinstance(metadata, dict):
        return False
    return all(_JSON_KIND.fullmatch(kind) or _is_text(value) for kind, value in data.items())


_JSON_KIND = re.compile(r"application/(.*\+)?json")


def _is_text(value: object) -> bool:
    lines = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(line, str) for line in lines)


def _check_numbers(exploration: Exploration) -> None:
    """Numbers that JSON has no word for would be lost on the way to a front end."""
    scores = [
        (f"steps.{number}.recommendation", ranked.score)
        for number, step in enumerate(exploration.steps)
        for ranked in step.recommendation.apis
    ]
    scores += [("overall", ranked.score) for ranked in exploration.overall.apis]
    spent = [("spending", part.seconds_execution) for part in exploration.spending]
    spent += [("spending", part.usage.seconds) for part in exploration.spending]
    for place, value in (*scores, *spent, ("seconds_total", exploration.seconds_total)):
        if not math.isfinite(value):
            raise DamageError(place, "it is no finite number")


def _check_text(text: str, place: tuple[str, ...]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DamageError(_named(place), "half a character is no text") from None


def _named(place: Iterable[object]) -> str:
    return ".".join(brief(str(part)) for part in place) or "its top"


def brief(text: str, most: int = 60) -> str:
    """A text from a file of a stranger's, short and printable, for a message."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
