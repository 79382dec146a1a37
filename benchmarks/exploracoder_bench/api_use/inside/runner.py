"""Runs a candidate with recording objects, once for each way that its conditions can go."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exploracoder_bench.api_use.inside.apart import NoAnswerError, answer_apart
from exploracoder_bench.api_use.inside.guard import FILE, RefusedError, parse
from exploracoder_bench.api_use.inside.recorder import Recorder, Shape, Spoiled
from exploracoder_bench.api_use.inside.surroundings import HARMLESS, surroundings
from exploracoder_bench.api_use.inside.values import LOOKS

MOST_PATHS = 32
_ERROR_CHARACTERS = 300
_UNSTEADY = "does something else each time it runs"


def record_all(payload: str) -> str:
    """Records each program of a batch. JSON in and out.

    Takes ``{"seal", "seconds", "is_apart", "libraries", "questions": [{"program", "function",
    "outer"}]}``, gives ``{"seal", "records"}``; the seal says that this function made the answer.
    With ``is_apart`` each program has a process of its own, else all of them share one.
    """
    given = json.loads(payload)
    shapes = {one["id"]: Shape(**one) for one in given["libraries"]}
    size = 1 if given["is_apart"] else len(given["questions"])
    records: list[Any] = []
    for start in range(0, len(given["questions"]), size):
        group = given["questions"][start : start + size]
        records += _apart(shapes, group, given["seconds"] * len(group))
    return json.dumps({"seal": given["seal"], "records": records})


def _apart(
    shapes: Mapping[str, Shape], questions: Sequence[Mapping[str, Any]], seconds: float
) -> list[Any]:
    """The records of programs that run in one process, which is no longer there afterwards."""
    try:
        text = answer_apart(lambda: json.dumps([record(shapes, one) for one in questions]), seconds)
        found = json.loads(text)
    except NoAnswerError as reason:
        return [{"refused": str(reason)}] * len(questions)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or len(found) != len(questions):
        return [{"refused": "gave an answer that cannot be read"}] * len(questions)
    return found


def record(shapes: Mapping[str, Shape], question: Mapping[str, Any]) -> dict[str, Any]:
    """What a program does: ``{"refused"}`` or ``{"paths"}``, one for each way it can go."""
    modules = frozenset(shape.module for shape in shapes.values()) | HARMLESS
    try:
        tree = parse(question["program"], modules)
        # Annotations stay text: a type that only the documentation knows is no mistake.
        code = compile(tree, FILE, "exec", flags=_ANNOTATIONS, dont_inherit=True)
    except RefusedError as refusal:
        return {"refused": str(refusal)}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"refused": f"cannot be compiled: {_short(error)}"}
    return _all_paths(shapes, question, code)


def _all_paths(
    shapes: Mapping[str, Shape], question: Mapping[str, Any], code: Any
) -> dict[str, Any]:
    paths: list[dict[str, Any]] = []
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        planned = waiting.pop()
        path = _path(shapes, question, code, planned)
        if len(paths) >= MOST_PATHS:
            return {"refused": f"can go more than {MOST_PATHS} ways, by values that nobody knows"}
        paths.append(path)
        taken = tuple(answer for _, answer in path["decisions"])
        if path["outcome"] != "spoiled":
            waiting += [(*taken[:at], True) for at in range(len(planned), len(taken))]
    return {"paths": paths}


def _path(
    shapes: Mapping[str, Shape], question: Mapping[str, Any], code: Any, planned: Sequence[bool]
) -> dict[str, Any]:
    """One way; it must be the same however values look."""
    first = _run(shapes, question, code, planned, 0)
    for look in range(1, LOOKS):
        if first["outcome"] == "spoiled":
            break
        other = _run(shapes, question, code, planned, look)
        if any(other[part] != first[part] for part in ("outcome", "nodes", "result", "decisions")):
            why = other["error"] if other["outcome"] == "spoiled" else _UNSTEADY
            return first | {"outcome": "spoiled", "error": why}
    return first


def _run(
    shapes: Mapping[str, Shape],
    question: Mapping[str, Any],
    code: Any,
    planned: Sequence[bool],
    look: int,
) -> dict[str, Any]:
    recorder = Recorder(shapes, planned, look)
    result, outcome, error = -1, "returned", ""
    try:
        result = _call(recorder, question, code)
    except Spoiled:
        pass
    except BaseException as raised:  # noqa: BLE001 - a candidate may raise anything
        # SystemExit too; none of it may end the judging.
        outcome, error = "raised", _short(raised)
    if recorder.spoiled:
        result, outcome, error = -1, "spoiled", recorder.spoiled
    return {
        "outcome": outcome,
        "error": error,
        "nodes": recorder.nodes,
        "result": result,
        "decisions": recorder.decisions,
    }


def _call(recorder: Recorder, question: Mapping[str, Any], code: Any) -> int:
    """The number of the node that the function returns."""
    modules = {shape.module: recorder.module(shape) for shape in recorder.libraries.values()}
    outer = [
        recorder.outer(place, name, kind) for place, (name, kind) in enumerate(question["outer"])
    ]
    asking: dict[str, Callable[..., object]] = {
        "isinstance": recorder.is_instance,
        "callable": recorder.is_callable,
    }
    names = surroundings(modules, asking)
    exec(code, names)
    function = names.get(question["function"])
    if not callable(function):
        raise NameError(f"there is no function {question['function']}")
    return recorder.number(function(*outer))


def _short(error: BaseException) -> str:
    """The error in words; a candidate's own exception may fail even at that."""
    try:
        name, text = type.__getattribute__(type(error), "__name__"), str(error)
        return str.__str__(f"{name}: {str.__str__(text)}")[:_ERROR_CHARACTERS]
    except BaseException:  # noqa: BLE001 - it is the candidate's own text that fails
        return "an error that cannot be shown"


_ANNOTATIONS = __import__("__future__").annotations.compiler_flag
