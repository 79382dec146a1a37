"""What a folder of runs was begun with, and what it went on with."""

from __future__ import annotations

from exploracoder_bench.plan import Plan, going_on

from .made_results import plan


def test_what_a_run_went_on_with_is_kept_once_and_what_it_was_begun_with_stays() -> None:
    original = plan()
    assert going_on(original, plan(), []).also_with == ()

    older = going_on(original, plan(version="1.1"), [])
    again = going_on(older, plan(version="1.1"), [])
    back = going_on(going_on(again, plan(version="1.1", python="3.12.0"), []), plan(), [])

    assert (back.version, back.python) == ("1.0", "3.11.2")
    assert back.also_with == (
        "ExploraCoder 1.1, Python 3.11.2",
        "ExploraCoder 1.1, Python 3.12.0",
    )


def test_a_plan_of_an_earlier_version_is_read() -> None:
    fields = plan().model_dump(mode="json", exclude={"also_with"})

    assert Plan.model_validate(fields).also_with == ()
