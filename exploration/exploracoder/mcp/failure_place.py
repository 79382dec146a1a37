"""Where a solution failed: in its own code, or in the check."""

from __future__ import annotations

import re
from typing import Literal

from exploracoder_kernel.observation import Observation

from exploracoder.state import Attempt

Place = Literal["solution", "check"]

_CELL = re.compile(r"<cell (\d+)>")


def failed(attempt: Attempt) -> Observation | None:
    """The run that failed: the solution's, or else the check's or the example call's."""
    call = attempt.call.observation if attempt.call is not None else None
    runs = (attempt.observation, attempt.check_observation, call)
    return next((one for one in runs if one is not None and not one.ran), None)


def failed_in(attempt: Attempt) -> Place | None:
    """Whose code is innermost in the traceback; None if that cannot be told.

    A check that calls the solution's functions fails in the solution when those raise.
    """
    failure = failed(attempt)
    if failure is None or failure is attempt.observation:
        return "solution" if failure is not None else None
    places = _places(attempt)
    frames = [places.get(number) for number in _CELL.findall(_lines(failure))]
    return next((place for place in reversed(frames) if place is not None), None)


def traceback(attempt: Attempt) -> str:
    """The traceback of the failure, with `<solution>` and `<check>` in place of cell numbers."""
    failure, places = failed(attempt), _places(attempt)
    if failure is None:
        return ""
    return _CELL.sub(lambda cell: f"<{places.get(cell[1], 'context')}>", _lines(failure))


def _lines(observation: Observation) -> str:
    return "\n".join(observation.error.traceback) if observation.error is not None else ""


def _places(attempt: Attempt) -> dict[str, Place]:
    """Which cell numbers are the solution's and the check's."""
    places: dict[str, Place] = {str(attempt.observation.execution_count): "solution"}
    if attempt.check_observation is not None:
        places[str(attempt.check_observation.execution_count)] = "check"
    return places
