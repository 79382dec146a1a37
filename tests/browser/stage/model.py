"""The scripted model of the engine's tests, with lines that a spec can change as it runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from exploracoder.testing import Delay, Failure, Hold, Outcome, RecordedRequest
from exploration.scripted import TeaModel, kind_of

_BY_STEP = ("drafts", "debugs")
_IN_TURN = ("scripts", "looks", "solutions", "repairs")
_AS_THEY_ARE = ("goals", "is_lost")


class SwitchedModel:
    """Answers as the lines say that it was given last.

    Lines are JSON: ``goals`` (of the cells), ``is_lost`` (whether the cells that it writes fail),
    ``drafts`` and ``debugs`` (by the step's number), ``scripts``, ``looks``, ``solutions``
    and ``repairs``. Each of these is a list of outcomes used in turn, the last again and again. An
    outcome is a reply, a list with a reply for each choice, or an object with ``status`` and
    ``message`` for an HTTP error. ``seconds`` says by kind of question how long to wait before the
    answer; ``*`` stands for all kinds. With ``is_held`` nothing is answered until other lines are
    given.
    """

    def __init__(self) -> None:
        self._model = TeaModel()
        self._seconds: Mapping[str, float] = {}
        self._held: threading.Event | None = None

    def switch(self, lines: Mapping[str, Any]) -> None:
        """Use these lines from now on."""
        rest = dict(lines)
        self._seconds = rest.pop("seconds", {})
        if self._held is not None:
            self._held.set()
        self._held = threading.Event() if rest.pop("is_held", False) else None
        as_they_are = {name: rest.pop(name) for name in _AS_THEY_ARE if name in rest}
        by_step = {
            name: {int(step): _outcomes(values) for step, values in rest.pop(name, {}).items()}
            for name in _BY_STEP
        }
        in_turn = {name: _outcomes(rest.pop(name)) for name in _IN_TURN if name in rest}
        if rest:
            raise ValueError(f"The model has no lines called {', '.join(rest)}.")
        self._model = TeaModel(**as_they_are, **by_step, **in_turn)

    def __call__(self, request: RecordedRequest) -> Outcome:
        outcome = self._model(request)
        if not request.path.endswith("/completions"):
            return outcome
        if self._held is not None:
            return Hold(self._held, outcome)
        seconds = self._seconds.get(kind_of(request), self._seconds.get("*", 0))
        return Delay(seconds, outcome) if seconds else outcome


def _outcomes(values: Sequence[Any]) -> list[Outcome]:
    return [_outcome(one) for one in values]


def _outcome(value: Any) -> Outcome:
    if isinstance(value, Mapping):
        return Failure(int(value["status"]), str(value.get("message", "scripted failure")))
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return [str(text) for text in value]
    raise ValueError(f"The model cannot say {json.dumps(value)}.")
