"""Going back to a step that ran but was not right, and solutions that the steps make together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from exploracoder.engine.finishing import chain, composing, synthesis
from exploracoder.state import Attempt
from exploracoder.testing import ScriptedModelServer

from .conftest import Explorer, Outcome, Serve
from .scripted import (
    COLLECT,
    GOALS,
    KEEP,
    LOST,
    READ,
    TeaModel,
    fenced,
    kind_of,
    kinds_asked,
    script_of,
    step_of,
)
from .scripted import NAMES_CHECK as CHECK
from .scripted import whole_text as text_of

EXPECTED = '["assam", "oolong"]'
WEAK_KEEP = KEEP.replace("> 3", "> 4")
ONE_LEAF = READ.replace("read_leaves(text)", "read_leaves(text)[0]")
WRONG = COLLECT.replace("in kept", "in leaves")
SORT = "kept = sorted(kept, key=lambda leaf: leaf.strength)\nprint(kept)"
WHOLE = "\n".join([READ, KEEP, COLLECT])
# With a model that is lost: each step is explored.
EXPLORING = ("--set", "looks=0", "--set", "rerank=none", "--set", "functions=off")
ONE = (*EXPLORING, "--candidates", "1")


def explore_script(
    explore: Explorer, server: ScriptedModelServer, *more: str, check: str | None = CHECK
) -> Outcome:
    """Explores a task that wants a variable, not a function."""
    words = explore.words(server, *explore.files(check, entry_point=None), "--json", *more)
    return explore.run(*words)


def drafts(server: ScriptedModelServer, step: int) -> list[str]:
    """What was asked when a step was drafted."""
    return [
        request.last_user_message
        for request in server.chat_requests
        if kind_of(request) == "draft" and step_of(request) == step
    ]


def test_what_the_steps_make_together_is_the_solution_without_asking(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(is_lost=True))
    outcome = explore_script(explore, server, *ONE)

    assert outcome.json["status"] == "solved"
    assert outcome.json["verified"] == {"ran": True, "checks": "passed"}
    assert kinds_asked(server) == ["write", "draft", "draft", "draft"]
    assert outcome.json["solution"].splitlines() == [
        "import tealeaf",
        "",
        "leaves = tealeaf.read_leaves(text)",
        "kept = list(tealeaf.Flow(leaves).keep(lambda leaf: leaf.strength > 3))",
        "names = [leaf.name for leaf in kept]",
    ]


def test_what_a_step_does_once_more_stands_in_the_solution_once(
    serve: Serve, explore: Explorer
) -> None:
    goals = [*GOALS[:2], GOALS[1], GOALS[2]]
    drafts = {3: [fenced(KEEP)], 4: [fenced(COLLECT)]}
    server = serve(TeaModel(is_lost=True, goals=goals, drafts=drafts))
    outcome = explore_script(explore, server, *ONE)

    assert outcome.json["status"] == "solved"
    assert [step["code"] for step in outcome.json["subtasks"]].count(KEEP) == 2
    assert outcome.json["solution"].count("kept = ") == 1


def test_what_the_steps_make_together_comes_after_what_was_written(
    serve: Serve, explore: Explorer
) -> None:
    script = script_of(GOALS, [LOST] * 3, fenced("names = []"))
    outcome = explore_script(explore, serve(TeaModel(scripts=[script])), *ONE)

    assert outcome.json["status"] == "solved"
    assert outcome.json["attempts"] == 2


def test_what_the_check_refused_is_composed_once_while_steps_are_explored(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    async def try_solution(bench: Any, code: str, *rest: Any) -> Attempt:
        tried.append(code)
        return await synthesis.try_solution(bench, code, *rest)

    monkeypatch.setattr(composing, "try_solution", try_solution)
    empty, fails = fenced("import tealeaf\nnames = ['oolong']\nprint(names)"), fenced(LOST)
    drafts = {1: [empty], 2: [fails], 3: [fails]}
    model = TeaModel(is_lost=True, drafts=drafts, debugs={2: [fails], 3: [fails]})
    explore_script(explore, serve(model), *ONE, "--set", "backtracks=0")

    # Once more at the end, to see what the check blames.
    assert len(tried) == 2


async def test_late_in_a_limit_no_step_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> Any:
        return SimpleNamespace(is_good=False)

    async def doubt(*_: object) -> bool:
        raise AssertionError("a step is done again")

    monkeypatch.setattr(chain, "compose", refused)
    monkeypatch.setattr(chain, "doubt_checked_step", doubt)
    bench: Any = SimpleNamespace(
        settings=SimpleNamespace(backtracks=2),
        limits=SimpleNamespace(is_late=True),
        exploration=SimpleNamespace(steps=()),
    )

    assert await chain._compose(bench) is None


def test_a_candidate_that_was_not_chosen_may_take_its_step_s_place(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(is_lost=True, drafts={2: [[fenced(WEAK_KEEP), fenced(KEEP)]]}))
    outcome = explore_script(explore, server, *EXPLORING, "--candidates", "2")
    candidate = explore.exploration.steps[1].candidate

    assert candidate is not None
    assert candidate.code == WEAK_KEEP
    assert outcome.json["status"] == "solved"
    assert "strength > 3" in outcome.json["solution"]
    assert "solution" not in kinds_asked(server)


@pytest.mark.parametrize(
    ("check", "setting"), [(None, "compose=true"), (CHECK, "compose=false")], ids=["check", "wish"]
)
def test_without_a_check_or_the_wish_for_it_the_model_writes_the_solution(
    serve: Serve, explore: Explorer, check: str | None, setting: str
) -> None:
    server = serve(TeaModel(is_lost=True, solutions=[fenced(WHOLE)]))
    outcome = explore_script(explore, server, *ONE, "--set", setting, check=check)

    assert outcome.code == 0
    assert kinds_asked(server)[-1] == "solution"


def test_without_a_check_all_steps_are_explored(serve: Serve, explore: Explorer) -> None:
    task = "Put the strong leaves into `kept`, the weakest first."
    goals = [*GOALS[:2], "Sort `kept` by strength"]
    server = serve(TeaModel(is_lost=True, goals=goals, drafts={3: [fenced(SORT)]}))
    files = explore.files(None, entry_point=None)
    outcome = explore.run(*explore.words(server, *files, "--json", *ONE, task=task))

    assert outcome.json["status"] == "unverified"
    assert [step["status"] for step in outcome.json["subtasks"]] == ["done"] * 3
    assert "kept = sorted(" in outcome.json["solution"]
    assert "check passes" not in outcome.err.lower()


def test_a_step_with_a_magic_leaves_the_solution_to_the_model(
    serve: Serve, explore: Explorer
) -> None:
    magic = fenced("%time names = [leaf.name for leaf in kept]")
    server = serve(TeaModel(is_lost=True, drafts={3: [magic]}, solutions=[fenced(WHOLE)]))
    outcome = explore_script(explore, server, *ONE)

    assert outcome.json["subtasks"][2]["status"] == "done"
    assert outcome.json["status"] == "solved"
    assert kinds_asked(server)[-1] == "solution"


def test_the_step_whose_value_a_check_finds_wrong_is_done_in_another_way(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(is_lost=True, drafts={3: [fenced(WRONG), fenced(COLLECT)]}))
    outcome = explore_script(explore, server, *ONE)
    first, again = drafts(server, 3)

    assert outcome.json["status"] == "solved"
    assert outcome.json["subtasks"][2]["code"] == COLLECT
    assert [len(drafts(server, step)) for step in (1, 2)] == [1, 1]
    assert "solution" not in kinds_asked(server)
    assert "A check of names failed: AssertionError" not in first
    assert "A check of names failed: AssertionError" in again
    assert "'sencha'" in again
    assert WRONG in again


@pytest.mark.parametrize("most", [0, 1, 2])
def test_steps_are_done_again_as_often_as_is_allowed(
    serve: Serve, explore: Explorer, most: int
) -> None:
    wrong = [COLLECT.replace("in kept", f"in leaves[{number}:]") for number in range(4)]
    server = serve(TeaModel(is_lost=True, drafts={3: [fenced(code) for code in wrong]}))
    explore_script(explore, server, *ONE, "--set", f"backtracks={most}")

    assert len(drafts(server, 3)) == 1 + most


def test_steps_after_the_one_done_again_go_on_from_its_new_state(
    serve: Serve, explore: Explorer
) -> None:
    check = f"assert [leaf.name for leaf in kept] == {EXPECTED}\n{CHECK}"
    server = serve(TeaModel(is_lost=True, drafts={2: [fenced(WEAK_KEEP), fenced(KEEP)]}))
    outcome = explore_script(explore, server, *ONE, check=check)
    last = explore.exploration.steps[2].candidate

    assert outcome.json["status"] == "solved"
    assert last is not None
    assert last.observation is not None
    assert last.observation.stdout == "['assam', 'oolong']\n"
    assert len(drafts(server, 3)) == 1


def test_what_a_check_expects_never_enters_a_prompt(serve: Serve, explore: Explorer) -> None:
    wrong = fenced(WHOLE.replace("> 3", "> 4"))
    server = serve(
        TeaModel(
            is_lost=True,
            drafts={3: [fenced(WRONG)]},
            debugs={3: [fenced(WRONG)]},
            solutions=[wrong],
            repairs=[wrong, fenced(WHOLE)],
        )
    )
    outcome = explore_script(explore, server, *ONE)

    assert outcome.json["status"] == "solved"
    assert kinds_asked(server).count("repair") == 2
    assert any("A check of names failed" in text for text in drafts(server, 3))
    assert not any(EXPECTED in text_of(request) for request in server.chat_requests)
    assert not any("assert names" in text_of(request) for request in server.chat_requests)


@pytest.mark.parametrize("written", [[ONE_LEAF, KEEP, COLLECT], [LOST, LOST, COLLECT]])
def test_when_a_step_fails_the_one_before_is_done_in_another_way(
    serve: Serve, explore: Explorer, written: list[str]
) -> None:
    look = script_of(GOALS, [ONE_LEAF, KEEP])
    model = TeaModel(scripts=[script_of(GOALS, written)], looks=[look], drafts={1: [fenced(READ)]})
    server = serve(model)
    outcome = explore_script(explore, server, *ONE, "--set", "looks=1")
    (again,) = drafts(server, 1)

    assert outcome.json["status"] == "solved"
    assert [one["code"] for one in outcome.json["subtasks"]] == [READ, KEEP, COLLECT]
    assert f"The next step ({GOALS[1]}) failed on it" in again
    assert "TypeError" in again
    assert ONE_LEAF in again


def test_going_back_in_vain_leaves_the_chain_as_it_was(serve: Serve, explore: Explorer) -> None:
    fewer = f"{READ}\nleaves = leaves[:1]"
    failing, count = "mistaken = 1 / 0", "count = len(leaves)\nprint(count)"
    server = serve(
        TeaModel(
            scripts=[script_of(GOALS, [READ, failing, count])],
            drafts={1: [fenced(fewer)], 2: [fenced(failing)]},
            debugs={2: [fenced(failing)]},
        )
    )
    explore_script(explore, server, *ONE, check=None)
    first, second, third = explore.exploration.steps

    assert len(drafts(server, 1)) == 1
    assert (first.status, second.status) == ("done", "failed")
    assert [one.code for one in first.candidates] == [READ]
    assert first.candidate == first.candidates[0]
    assert third.candidate is not None
    assert third.candidate.observation is not None
    assert third.candidate.observation.stdout == "3\n"


def test_without_backtracks_a_failed_step_stays_failed(serve: Serve, explore: Explorer) -> None:
    failing = fenced("mistaken = 1 / 0")
    server = serve(TeaModel(is_lost=True, drafts={2: [failing]}, debugs={2: [failing]}))
    explore_script(explore, server, *ONE, "--set", "backtracks=0", check=None)

    assert len(drafts(server, 1)) == 1
    assert explore.exploration.steps[1].status == "failed"
