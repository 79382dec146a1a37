"""The goals in a plan that a model wrote."""

from __future__ import annotations

from exploracoder.engine.exploring.planner import _distinct


def test_numbers_and_bullets_are_taken_off_goals_and_values_stay() -> None:
    goals = ["1. Read", "2)Sort", "- Keep", "* Brew", "3.Pour", "2.5 sigma are kept", "-1 as gap"]

    assert _distinct([*goals, "Read", " "]) == [
        "Read",
        "Sort",
        "Keep",
        "Brew",
        "Pour",
        "2.5 sigma are kept",
        "-1 as gap",
    ]
