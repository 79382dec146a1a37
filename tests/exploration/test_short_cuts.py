"""What spares the model work: a check that passes early, and a limit that comes near."""

from __future__ import annotations

import pytest

from .conftest import Explorer, Serve, model_words
from .scripted import (
    COLLECT,
    NAMES_CHECK,
    READ,
    SOLUTION,
    WRONG_SOLUTION,
    TeaModel,
    fenced,
    kinds_asked,
)

# For models that plan; others write at once anyway.
FIRST = ("--set", "cells=false", "--set")
AT_ONCE = (
    "import tealeaf\n"
    "names = [leaf.name for leaf in tealeaf.read_leaves(text) if leaf.strength > 3]\n"
    "print(names)"
)


def test_a_first_try_that_fails_is_explored_and_leaves_no_trace(
    serve: Serve, explore: Explorer
) -> None:
    wrong = fenced(WRONG_SOLUTION)
    server = serve(TeaModel(solutions=[wrong, wrong, wrong, fenced(SOLUTION)], repairs=[wrong]))
    outcome = explore(server, "--json", *FIRST, "first-tries=2")

    assert outcome.json["status"] == "solved"
    assert "plan" in kinds_asked(server)
    solution = explore.exploration.solution
    assert solution is not None
    assert [attempt.code for attempt in solution.attempts] == [SOLUTION]


def test_first_tries_are_drawn_until_one_passes(serve: Serve, explore: Explorer) -> None:
    wrong = fenced(WRONG_SOLUTION)
    server = serve(TeaModel(solutions=[wrong, wrong, fenced(SOLUTION)]))
    outcome = explore(server, "--json", *FIRST, "first-tries=5")

    assert outcome.json["solution"] == SOLUTION
    assert kinds_asked(server) == ["solution"] * 3


def test_first_tries_leave_the_most_of_a_limit_to_exploring(
    serve: Serve, explore: Explorer
) -> None:
    wrong = TeaModel(solutions=[fenced(WRONG_SOLUTION)] * 5, repairs=[fenced(WRONG_SOLUTION)])
    explore(serve(wrong), *FIRST, "first-tries=1")
    (spending,) = (one for one in explore.exploration.spending if one.part == "first tries")
    tokens = spending.usage.prompt_tokens + spending.usage.completion_tokens
    server = serve(wrong)
    explore(server, *FIRST, "first-tries=5", "--max-tokens", int(4.4 * tokens))

    kinds = kinds_asked(server)
    assert kinds[: kinds.index("plan")] == ["solution"] * 3


def test_going_on_with_what_a_first_try_solved_asks_nothing(
    serve: Serve, explore: Explorer
) -> None:
    explore(serve(), *FIRST, "first-tries=1")
    server = serve()
    words = ["resume", explore.notebook, *model_words(server), "--json", "--quiet"]
    again = explore.run(*words)

    assert again.json["status"] == "solved"
    assert again.json["solution"] == SOLUTION
    assert kinds_asked(server) == []


def test_what_cannot_be_seen_is_written_and_mended_without_a_plan(
    serve: Serve, explore: Explorer
) -> None:
    fails = fenced(f"{SOLUTION}\nraise ValueError('not yet')")
    server = serve(TeaModel(solutions=[fails]))
    outcome = explore(server, "--json", *FIRST, "first-tries=2", check=None)

    assert kinds_asked(server) == ["solution", "solution", "repair"]
    assert outcome.json["status"] == "unverified"
    assert outcome.json["solution"] == SOLUTION


def test_exploring_ends_when_the_check_passes(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(drafts={1: [fenced(AT_ONCE)]}))
    words = explore.files(NAMES_CHECK, entry_point=None)
    outcome = explore.run(*explore.words(server, "--json", "--set", "candidates=1"), *words)

    assert outcome.json["status"] == "solved"
    assert [step.status for step in explore.exploration.steps] == ["done", "skipped", "skipped"]
    assert "solution" not in kinds_asked(server)


def test_a_check_that_does_not_pass_yet_ends_nothing(serve: Serve, explore: Explorer) -> None:
    early = "names = ['assam']\n" + READ
    server = serve(TeaModel(drafts={1: [fenced(early)]}))
    words = explore.files(NAMES_CHECK, entry_point=None)
    explore.run(*explore.words(server, "--set", "candidates=1"), *words)

    steps = explore.exploration.steps
    assert steps[2].candidate is not None
    assert steps[2].candidate.code == COLLECT


@pytest.mark.parametrize(("setting", "share"), [("cells=false", 0.8), ("looks=0", 0.85)])
def test_near_a_limit_the_solution_is_written_from_what_is_there(
    serve: Serve, explore: Explorer, setting: str, share: float
) -> None:
    server = serve(TeaModel(is_lost=True))
    words = ("--set", "candidates=1", "--set", "functions=off", "--set", setting)
    words += ("--set", "memory=false")
    explore(server, *words)
    whole = explore.exploration.usage
    tokens = whole.prompt_tokens + whole.completion_tokens
    outcome = explore(server, "--json", *words, "--max-tokens", int(share * tokens))

    assert outcome.json["status"] == "solved"
    statuses = [step.status for step in explore.exploration.steps]
    assert statuses[0] == "done"
    assert "pending" in statuses
