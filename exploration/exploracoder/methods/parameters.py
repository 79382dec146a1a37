"""The published parameters, as the profile ``paper`` has them.

Source: ExploraCoder, section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.config import PROFILES


def of_the_paper(*names: str) -> Mapping[str, object]:
    """Some settings with the values that the paper gives them."""
    values = PROFILES["paper"].model_dump()
    return {name: values[name] for name in names}


# k_D, k, k_G, m, temperature and top-p (section 5.1); a plan's length is not bounded there, and a
# candidate that repeats all earlier steps needs the room.
PARAMETERS = of_the_paper(
    "few_shot_plans",
    "max_subtasks",
    "retrieved_apis",
    "shown_apis",
    "overall_apis",
    "candidates",
    "debug_rounds",
    "temperature",
    "top_p",
    "step_tokens",
)
# How the APIs of a subtask and of the whole are found (section 3.3).
RETRIEVAL = of_the_paper("sift", "rerank", "shown_examples", "memory")
# A temperature for all class writers, MAX_CALLS for those that go on (RepoClassBench, appendix A
# and table 10); a class is longer than what else is asked for.
CLASS_PARAMETERS: Mapping[str, object] = {
    "temperature": 0.2,
    "top_p": 1.0,
    "oracle_calls": 5,
    "solution_tokens": 1500,
}
