"""What a branch says of its variables and names without running a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import memory, names, unpickling, wire
from .interrupts import TooLong, time_limit
from .runs import Runs

_SECONDS = 5.0

Message = wire.Message
Ask = Callable[[Message], Message]


class Introspection:
    """What may be asked, by the name of the request."""

    def __init__(self, cells: Any, runs: Runs) -> None:
        self._cells = cells
        self._runs = runs
        self.by_name: dict[str, Ask] = {
            "variables": self._variables,
            "resolve": self._resolve,
            "complete": self._complete,
            "is_complete": self._is_complete,
            "inspect": self._inspect,
            "inspect_at": self._inspect_at,
            "memory": memory.answer,
            "unpickle": self._unpickle,
        }

    def _variables(self, request: Message) -> Message:
        mine = self._runs.users()
        return {"variables": self._runs.describe(mine, mine, bool(request["may_force"]))}

    def _unpickle(self, request: Message) -> Message:
        return unpickling.unpickle(request, request["descriptors"][0], self._cells.namespace)

    def _resolve(self, request: Message) -> Message:
        namespace = self._cells.namespace
        return {"resolved": [names.resolve(str(name), namespace) for name in request["names"]]}

    def _inspect(self, request: Message) -> Message:
        return names.inspect_name(str(request["name"]), self._cells.namespace)

    def _complete(self, request: Message) -> Message:
        code, cursor = str(request["code"]), int(request["cursor"])
        nothing = {"matches": [], "start": cursor, "end": cursor}
        return dict(_in_time(lambda: self._cells.complete(code, cursor), nothing))

    def _is_complete(self, request: Message) -> Message:
        status, indent = _in_time(
            lambda: self._cells.is_complete(str(request["code"])), ("unknown", "")
        )
        return {"status": status, "indent": indent}

    def _inspect_at(self, request: Message) -> Message:
        code, cursor = str(request["code"]), int(request["cursor"])
        detail = int(request["detail"])
        return {"bundle": _in_time(lambda: self._cells.inspect_at(code, cursor, detail), {})}


def _in_time(answer: Callable[[], Any], otherwise: Any) -> Any:
    """Objects of the user's take part in these answers, and may take for ever over it."""
    try:
        with time_limit(_SECONDS):
            return answer()
    except TooLong:
        return otherwise
