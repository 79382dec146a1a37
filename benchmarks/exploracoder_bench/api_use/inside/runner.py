"""Run a candidate with recording objects, once for each path that its conditions can take."""

from __future__ import annotations

import builtins
import functools
import json
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

from exploracoder_bench.api_use.inside.apart import NoAnswerError, answer_apart
from exploracoder_bench.api_use.inside.recorder import Recorder, RunSpoiled, Shape
from exploracoder_bench.api_use.inside.syntax_guard import FILE, RefusedError, parse
from exploracoder_bench.api_use.inside.unknown_values import LOOKS

MOST_PATHS = 32
_ERROR_CHARACTERS = 300
_UNSTEADY = "does something else each time it runs"


def record_all(payload: str) -> str:
    """Record each program of a batch. JSON in and out.

    Takes ``{"seal", "seconds", "libraries", "questions": [{"program", "function", "outer"}]}``,
    returns ``{"seal", "records"}``; the seal shows that this function made the answer. Each program
    runs in a process of its own.
    """
    functools.cache = functools.lru_cache = _uncached  # type: ignore[assignment]
    batch = json.loads(payload)
    shapes = {one["id"]: Shape(**one) for one in batch["libraries"]}
    records = [_apart(shapes, one, batch["seconds"]) for one in batch["questions"]]
    return json.dumps({"seal": batch["seal"], "records": records})


def _apart(shapes: Mapping[str, Shape], question: Mapping[str, Any], seconds: float) -> Any:
    """The record of a program, run in a process that is gone afterwards."""
    try:
        return json.loads(answer_apart(lambda: json.dumps(record(shapes, question)), seconds))
    except NoAnswerError as reason:
        return {"refused": str(reason)}
    except (ValueError, RecursionError):
        return {"refused": "gave an answer that cannot be read"}


def record(shapes: Mapping[str, Shape], question: Mapping[str, Any]) -> dict[str, Any]:
    """What a program does: ``{"refused"}`` or ``{"paths"}``, one for each path it can take."""
    libraries = frozenset(shape.module for shape in shapes.values())
    try:
        tree = parse(question["program"], libraries)
        # Annotations stay text: a type that only the documentation knows is no error.
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
    stack: list[tuple[bool, ...]] = [()]
    while stack:
        plan = stack.pop()
        path = _path(shapes, question, code, plan)
        if len(paths) >= MOST_PATHS:
            return {"refused": f"can go more than {MOST_PATHS} ways, by values that nobody knows"}
        paths.append(path)
        answers = tuple(answer for _, answer in path["decisions"])
        if path["outcome"] != "spoiled":
            stack += [(*answers[:at], True) for at in range(len(plan), len(answers))]
    return {"paths": paths}


def _path(
    shapes: Mapping[str, Shape], question: Mapping[str, Any], code: Any, plan: Sequence[bool]
) -> dict[str, Any]:
    """One path; it must be the same however values look."""
    first = _run(shapes, question, code, plan, 0)
    for look in range(1, LOOKS):
        if first["outcome"] == "spoiled":
            break
        other = _run(shapes, question, code, plan, look)
        if any(other[part] != first[part] for part in ("outcome", "nodes", "result", "decisions")):
            why = other["error"] if other["outcome"] == "spoiled" else _UNSTEADY
            return first | {"outcome": "spoiled", "error": why}
    return first


def _run(
    shapes: Mapping[str, Shape],
    question: Mapping[str, Any],
    code: Any,
    plan: Sequence[bool],
    look: int,
) -> dict[str, Any]:
    recorder = Recorder(shapes, plan, look)
    result, outcome, error = -1, "returned", ""
    try:
        result = _call(recorder, question, code)
    except RunSpoiled:
        pass
    except BaseException as exception:  # noqa: BLE001 - a candidate may raise anything
        # SystemExit included: nothing may end the judging.
        outcome, error = "raised", _short(exception)
    if recorder.spoil_reason:
        result, outcome, error = -1, "spoiled", recorder.spoil_reason
    return {
        "outcome": outcome,
        "error": error,
        "nodes": recorder.nodes,
        "result": result,
        "decisions": recorder.decisions,
    }


def _call(recorder: Recorder, question: Mapping[str, Any], code: Any) -> int:
    """The number of the node that the function returns."""
    outer = [
        recorder.outer(place, name, kind) for place, (name, kind) in enumerate(question["outer"])
    ]
    module = types.ModuleType(FILE)
    sys.modules[FILE] = module
    for shape in recorder.libraries.values():
        sys.modules[shape.module] = recorder.module(shape)
    overrides = {"isinstance": recorder.is_instance, "callable": recorder.is_callable}
    vars(module)["__builtins__"] = {**vars(builtins), **overrides}
    exec(code, vars(module))
    function = vars(module).get(question["function"])
    if not callable(function):
        raise NameError(f"there is no function {question['function']}")
    return recorder.number(function(*outer))


def _uncached(function: object = None, **_: object) -> object:
    """A cache that keeps nothing: a real one would have to tell unknown values apart."""
    return function if callable(function) else lambda inner: inner


def _short(error: BaseException) -> str:
    """The error in words; a candidate's own exception may fail even at that."""
    try:
        name, text = type.__getattribute__(type(error), "__name__"), str(error)
        return str.__str__(f"{name}: {str.__str__(text)}")[:_ERROR_CHARACTERS]
    except BaseException:  # noqa: BLE001 - it is the candidate's own text that fails
        return "an error that cannot be shown"


_ANNOTATIONS = __import__("__future__").annotations.compiler_flag
