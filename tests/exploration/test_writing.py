"""Writing first: all cells and the solution at once, looks at what came out, and what fails."""

from __future__ import annotations

import pytest
from exploracoder import commands as c

from .conftest import Explorer, Serve
from .live_sessions import live_session
from .scripted import (
    CHECK,
    COLLECT,
    GOALS,
    KEEP,
    LOST,
    READ,
    SOLUTION,
    WRONG_SOLUTION,
    TeaModel,
    fenced,
    kind_of,
    kinds_asked,
    script_of,
    whole_text,
)

BADLY_CALLED = "import tealeaf\nleaves = tealeaf.read_leaves('assam 5', 2, sorted=True)"
RIGHT = f"### Solution\n{fenced(SOLUTION)}"


def test_a_check_that_passes_says_it_all(serve: Serve, explore: Explorer) -> None:
    server = serve()
    done = explore(server, "--json")

    assert kinds_asked(server) == ["write"]
    assert done.json["status"] == "solved"
    assert [step.status for step in explore.exploration.steps] == ["done"] * 3


def test_without_a_check_the_model_looks_at_what_came_out(serve: Serve, explore: Explorer) -> None:
    calls = "print(strong_names('assam 5; sencha 2'))"
    server = serve(
        TeaModel(scripts=[script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION), calls)])
    )
    explore(server, check=None)
    look = server.chat_requests[-1]

    assert kinds_asked(server) == ["write", "look"]
    assert "['assam', 'oolong']" in look.last_user_message
    assert "['assam']" in look.last_user_message


def test_what_a_look_corrects_is_run(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)], looks=[RIGHT]))
    done = explore(server, "--json")
    look = server.chat_requests[-1]

    assert kinds_asked(server) == ["write", "look"]
    assert done.json["status"] == "solved"
    assert done.json["attempts"] == 2
    assert "AssertionError" in look.last_user_message
    assert CHECK.strip() not in whole_text(look)


def test_calls_that_fail_are_looked_at(serve: Serve, explore: Explorer) -> None:
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION), "strong_names(7)")
    server = serve(TeaModel(scripts=[script], looks=[f"{RIGHT}\n### Calls\nstrong_names('')"]))
    done = explore(server, "--json", check=None)
    look = next(one for one in server.chat_requests if kind_of(one) == "look")

    assert "AttributeError" in look.last_user_message
    assert kinds_asked(server) == ["write", "look"]
    assert done.json["status"] == "unverified"


def test_a_look_puts_another_cell_in_the_place_of_one(serve: Serve, explore: Explorer) -> None:
    model = TeaModel(
        scripts=[script_of(GOALS, [READ, LOST, COLLECT])],
        looks=[f"### 2. Keep the strong\n{fenced(KEEP)}\n{RIGHT}"],
    )
    server = serve(model)
    done = explore(server, "--json")
    first, second, third = explore.exploration.steps

    assert kinds_asked(server) == ["write", "look"]
    assert done.json["status"] == "solved"
    assert [len(step.candidates) for step in (first, second, third)] == [1, 2, 1]
    assert second.candidate is not None
    assert (second.candidate.code, second.candidate.debug_of) == (KEEP, "step-2/1")
    assert second.subtask.goal == "Keep the strong"
    assert third.candidate is not None
    assert third.candidate.ran


def test_who_looks_at_a_failure_sees_docs_and_source(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(scripts=[script_of(GOALS, [BADLY_CALLED, KEEP])], looks=[RIGHT]))
    explore(server)
    look = server.chat_requests[-1]

    assert "TypeError" in look.last_user_message
    assert "Cell 2 was not run" in look.last_user_message
    assert "def read_leaves(" in look.last_user_message.partition("The source of tealeaf")[2]


def test_only_what_still_fails_is_explored(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(scripts=[script_of(GOALS, [READ, LOST, COLLECT])]))
    done = explore(server, "--json", "--candidates", "1", "--set", "rerank=none")

    assert kinds_asked(server) == ["write", "look", "draft", "solution"]
    assert done.json["status"] == "solved"
    assert [one["code"] for one in done.json["subtasks"]] == [READ, KEEP, COLLECT]


def test_looks_are_limited(serve: Serve, explore: Explorer) -> None:
    wrong = f"### Solution\n{fenced(WRONG_SOLUTION)}"
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(WRONG_SOLUTION))
    server = serve(TeaModel(scripts=[script], looks=[wrong]))
    done = explore(server, "--json", "--set", "looks=2", "--set", "rerank=none")

    assert kinds_asked(server) == ["write", "look", "look", "solution"]
    assert done.json["status"] == "solved"


def test_a_solution_alone_is_cut_into_cells(serve: Serve, explore: Explorer) -> None:
    program = f"{READ}\n\n{KEEP}\n\n{COLLECT}"
    server = serve(TeaModel(scripts=[fenced(program)]))
    words = explore.words(server, *explore.files(None, entry_point=None), "--json")
    done = explore.run(*words)

    assert done.json["solution"] == program
    assert [one["code"] for one in done.json["subtasks"]] == [READ, KEEP, COLLECT]
    assert {one["status"] for one in done.json["subtasks"]} == {"done"}


def test_a_reply_without_code_is_asked_for_once_more(serve: Serve, explore: Explorer) -> None:
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))
    server = serve(TeaModel(scripts=["First I would read the leaves.", script]))
    done = explore(server, "--json")

    assert done.json["status"] == "solved"
    assert kinds_asked(server) == ["write", "write"]


def test_a_model_that_writes_no_code_is_quoted(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(scripts=["I like tea."]))
    done = explore(server, "--json")

    assert done.code == 1
    assert "I like tea." in done.json["reason"]
    assert kinds_asked(server) == ["write", "write"]


async def test_cells_run_while_later_ones_are_written(serve: Serve) -> None:
    async with live_session(serve(piece_pause_s=0.05), mode="auto") as followed:
        await followed.do(c.GoOn())

    shown = [[step.status for step in told.steps] for told, _ in followed.told]
    assert ["done"] in shown or ["done", "pending"] in shown
    assert followed.statuses == ["done"] * 3


@pytest.mark.parametrize("name", ["leaves", "kept"])
async def test_who_writes_again_sees_what_the_cells_before_have_left(
    serve: Serve, name: str
) -> None:
    server = serve()
    async with live_session(server) as followed:
        await followed.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await followed.do(c.GoOn(), c.Accept(subtask="step-2"), c.Replan(subtask="step-3"))
    _, again = (one for one in server.chat_requests if kind_of(one) == "write")

    assert f"- {name}: list" in again.last_user_message
