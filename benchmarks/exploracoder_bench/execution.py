"""Whether a solution was executed without runtime errors: what success@k counts."""

from __future__ import annotations

from exploracoder_kernel.observation import Observation

# unittest, numpy.testing, pandas.testing and torch.testing raise it too.
_REFUSAL = "AssertionError"


def is_executed(observation: Observation, check_observation: Observation | None) -> bool:
    """Whether nothing went wrong except that the check refused the result.

    ``observation`` is of running the solution, ``check_observation`` of its check, None without
    one. Running a function's text only defines it; the check executes it. So an error in the check
    other than a failed assertion, or a time or memory limit that it hit, is the solution's own.
    Source: ExploraCoder, section 5.1, Success@k.
    """
    if not observation.ran or check_observation is None or check_observation.ran:
        return observation.ran
    error = check_observation.error
    return check_observation.status == "error" and error is not None and error.ename == _REFUSAL
