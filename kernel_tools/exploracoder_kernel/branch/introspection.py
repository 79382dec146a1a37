"""Requests about a branch's variables and names, answered without running a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import memory_use, name_checks, unpickling, wire
from .cell_runs import Runs
from .interrupts import TooLong, time_limit

_SECONDS = 5.0

Message = wire.Message
Ask = Callable[[Message], Message]


def answers(cells: Any, runs: Runs) -> dict[str, Ask]:
    """The functions that answer requests, by the request's name."""
    namespace = cells.namespace

    def describe_all(request: Message) -> Message:
        mine = runs.users()
        return {"variables": runs.describe(mine, mine, bool(request["may_force"]))}

    def complete(request: Message) -> Message:
        code, cursor = str(request["code"]), int(request["cursor"])
        no_matches = {"matches": [], "start": cursor, "end": cursor}
        return dict(_in_time(lambda: cells.complete(code, cursor), no_matches))

    def is_complete(request: Message) -> Message:
        code = str(request["code"])
        status, indent = _in_time(lambda: cells.is_complete(code), ("unknown", ""))
        return {"status": status, "indent": indent}

    def inspect_at(request: Message) -> Message:
        place = str(request["code"]), int(request["cursor"]), int(request["detail"])
        return {"bundle": _in_time(lambda: cells.inspect_at(*place), {})}

    return {
        "variables": describe_all,
        "resolve": lambda request: {
            "resolved": [name_checks.resolve(str(name), namespace) for name in request["names"]]
        },
        "complete": complete,
        "is_complete": is_complete,
        "inspect": lambda request: name_checks.inspect_name(str(request["name"]), namespace),
        "inspect_at": inspect_at,
        "memory": memory_use.answer,
        "unpickle": lambda request: unpickling.unpickle(
            request, request["descriptors"][0], namespace
        ),
    }


def _in_time(answer: Callable[[], Any], otherwise: Any) -> Any:
    """The answer, or ``otherwise`` if it takes too long: the user's objects may take forever."""
    try:
        with time_limit(_SECONDS):
            return answer()
    except TooLong:
        return otherwise
