"""Whether a solution was executed without runtime errors: what success@k counts."""

from __future__ import annotations

from exploracoder_kernel.observation import Observation

# unittest, numpy.testing, pandas.testing and torch.testing raise it too.
_REFUSAL = "AssertionError"


def is_executed(ran: Observation, checked: Observation | None) -> bool:
    """Whether nothing went wrong but that the check refused what came out.

    ``ran`` is what running the solution showed, ``checked`` what its check then showed, None
    without one. A function is only defined by running its text: the check is what executes it, so
    an error in the check other than a failed assertion, and a limit of time or memory that it hit,
    are the solution's own.
    Source: ExploraCoder, section 5.1, Success@k.
    """
    if not ran.ran or checked is None or checked.ran:
        return ran.ran
    error = checked.error
    return checked.status == "error" and error is not None and error.ename == _REFUSAL
