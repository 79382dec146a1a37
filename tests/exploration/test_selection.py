"""Which candidate the chain goes on from."""

from __future__ import annotations

from typing import Any

import pytest
from exploracoder.engine.running.selection import has_good_evidence, is_sound, missing, select
from exploracoder.state import Candidate, NameProblem
from exploracoder_kernel.observation import Observation, Variable

MADE = (Variable(name="leaves", type="list"),)


def candidate(id_: str, status: Any = "ok", **facts: Any) -> Candidate:
    """A candidate that ran, used an API, made a variable and printed, unless told otherwise."""
    fields = {"stdout": "tea\n", "variables": MADE} | facts.pop("seen", {})
    facts = {"code": "x = 1", "apis": ("tea.brew",)} | facts
    return Candidate(
        id=id_, origin="draft", observation=Observation(status=status, **fields), **facts
    )


FAILED = candidate("failed", "error")
BROKEN = Variable(name="leaves", type="Flow", preview_error="ValueError")
EMPTY = Variable(name="leaves", type="list", length=0)
PROBLEM = NameProblem(name="brow", owner="tea")


def choose(candidates: list[Candidate], **options: Any) -> str | None:
    settings: dict[str, Any] = {"strategy": "evidence", "seed": 0}
    choice = select(candidates, **settings | options)
    return choice.id if choice else None


@pytest.mark.parametrize(
    "worse",
    [
        FAILED,
        candidate("worse", seen={"variables": (BROKEN,)}),
        candidate("worse", apis=()),
        candidate("worse", problems=(PROBLEM,)),
        candidate("worse", seen={"variables": (), "stdout": ""}),
        candidate("worse", seen={"variables": (EMPTY,)}),
    ],
    ids=["failed", "broken value", "no API", "wrong name", "showed nothing", "empty"],
)
def test_evidence_prefers_what_ran_used_the_library_and_showed_something(
    worse: Candidate,
) -> None:
    assert choose([worse, candidate("better")]) == "better"
    assert choose([candidate("better"), worse]) == "better"


def test_a_shorter_text_is_no_evidence() -> None:
    longer = candidate("first", code="x = 1\nprint(x.fields)")

    assert choose([longer, candidate("second")]) == "first"


def test_random_takes_any_that_ran_and_repeats_with_its_seed() -> None:
    pool = [FAILED, *(candidate(str(number)) for number in range(5))]
    picks = [choose(pool, strategy="random", seed=seed) for seed in range(20)]

    assert picks == [choose(pool, strategy="random", seed=seed) for seed in range(20)]
    assert len(set(picks)) > 1
    assert "failed" not in picks


def test_when_none_ran_nothing_is_chosen() -> None:
    assert choose([FAILED]) is None
    assert choose([]) is None


def test_the_paper_keeps_a_failed_one_when_none_ran() -> None:
    assert choose([FAILED], strategy="random") == "failed"
    assert choose([FAILED, candidate("ran")], strategy="random") == "ran"


@pytest.mark.parametrize(
    "poor",
    [
        FAILED,
        candidate("poor", apis=()),
        candidate("poor", problems=(PROBLEM,)),
        candidate("poor", seen={"variables": (BROKEN,)}),
        candidate("poor", seen={"variables": (), "stdout": " \n"}),
        Candidate(id="poor", code="x", origin="draft"),
    ],
    ids=["failed", "no API", "wrong name", "broken value", "showed nothing", "never ran"],
)
def test_evidence_is_good_only_when_nothing_is_missing(poor: Candidate) -> None:
    assert has_good_evidence(candidate("good"))
    assert not has_good_evidence(poor)


@pytest.mark.parametrize(
    "empty",
    [
        Variable(name="names", type="list", length=0, preview="[]"),
        Variable(name="names", type="list", length=2, preview="['', '']"),
        Variable(name="names", type="dict", length=0, preview="{}"),
        Variable(name="names", type="str", length=0, preview="''"),
        Variable(name="names", type="NoneType", preview="None"),
        Variable(name="names", type="tealeaf.Flow", is_lazy=True, preview="[]"),
    ],
    ids=["empty list", "empty texts", "empty dict", "empty text", "None", "lazy and empty"],
)
def test_an_empty_result_is_not_sound_whatever_was_printed(empty: Variable) -> None:
    poor = candidate("poor", seen={"variables": (empty,), "stdout": "done\n"})

    assert not is_sound(poor)
    assert not has_good_evidence(poor)


@pytest.mark.parametrize(
    "full",
    [
        Variable(name="names", type="list", length=2, preview="['', 'assam']"),
        Variable(name="count", type="int", preview="0"),
        Variable(name="strong", type="bool", preview="False"),
    ],
    ids=["something in it", "zero", "false"],
)
def test_a_value_is_a_result_even_when_it_is_false(full: Variable) -> None:
    assert is_sound(candidate("good", seen={"variables": (full, EMPTY)}))


def test_a_function_that_was_imported_is_no_result() -> None:
    variable = Variable(name="brew", type="function", preview="<function brew>")

    assert not is_sound(candidate("poor", seen={"variables": (variable,), "stdout": ""}))


def test_evidence_is_good_only_when_the_wanted_results_are_made() -> None:
    good = candidate("good")

    assert missing(good, ["leaves", "names"]) == ("names",)
    assert has_good_evidence(good, ["leaves"])
    assert not has_good_evidence(good, ["leaves", "names"])
    assert missing(Candidate(id="0", code="x", origin="draft"), ["names"]) == ("names",)


def test_a_candidate_that_makes_what_is_wanted_is_preferred() -> None:
    named_candidate = candidate(
        "named", code="x = 1\ny = 2", seen={"variables": (Variable(name="names", type="list"),)}
    )

    assert choose([candidate("shorter"), named_candidate]) == "shorter"
    assert choose([candidate("shorter"), named_candidate], wanted_names=["names"]) == "named"
    assert choose([candidate("only")], wanted_names=["names"]) == "only"
