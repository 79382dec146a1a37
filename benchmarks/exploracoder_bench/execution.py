"""Whether a solution was executed without runtime errors: what success@k counts."""

from __future__ import annotations

from exploracoder_kernel.observation import Observation

# unittest, numpy.testing, pandas.testing and torch.testing raise it too.
_REFUSAL = "AssertionError"


def is_executed(ran: Observation, check_observation: Observation | None) -> bool:
    """Whether nothing went wrong but that the check refused what came out.

    ``ran`` is what running the solution showed, ``check_observation`` what its check then
    showed, None without one. A function is only defined by running its text: the check is what
    executes it, so an error in the check other than a failed assertion, and a limit of time or
    memory that it hit, are the solution's own.
    Source: ExploraCoder, section 5.1, Success@k.
    """
    if not ran.ran or check_observation is None or check_observation.ran:
        return ran.ran
    error = check_observation.error
    return check_observation.status == "error" and error is not None and error.ename == _REFUSAL
