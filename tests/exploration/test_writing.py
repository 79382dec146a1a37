"""Writing first: all cells and the solution at once, looks at what came out, and what fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exploracoder import commands as c
from exploracoder.errors import BudgetError
from exploracoder.testing import Failure, Raw

from .conftest import Explorer, Serve, model_words
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

OVERFLOW = {"code": "context_length_exceeded"}
BADLY_CALLED = "import tealeaf\nleaves = tealeaf.read_leaves('assam 5', 2, sorted=True)"
ALL_DOCS = "The documentation of all public APIs of tealeaf:"
RIGHT = f"### Solution\n{fenced(SOLUTION)}"


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


def test_a_limit_during_the_look_leaves_a_good_solution_good(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look(*_: object) -> None:
        raise BudgetError("The limit was reached.")

    with monkeypatch.context() as patch:
        patch.setattr("exploracoder.methods.exploration.look", look)
        outcome = explore(serve(), "--json", check=None)
    server = serve()
    words = ["resume", explore.notebook, *model_words(server), "--json", "--quiet"]
    resumed = explore.run(*words)

    assert outcome.code == 0
    assert outcome.json["status"] == "unverified"
    assert outcome.json["reason"] == "The limit was reached."
    assert kinds_asked(server) == ["look"]
    assert resumed.json["reason"] == ""


def test_a_model_that_fails_during_the_look_leaves_a_good_solution_good(
    serve: Serve, explore: Explorer
) -> None:
    outcome = explore(serve(TeaModel(looks=[Failure(401, "no key")])), check=None)

    assert outcome.code == 2
    assert explore.exploration.status == "unverified"
    assert "HTTP 401" in explore.exploration.reason


def test_a_solution_is_kept_before_its_names_are_mended(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def mend(*_: object) -> None:
        raise BudgetError("The limit was reached.")

    monkeypatch.setattr("exploracoder.methods.exploration.mend", mend)
    explore(serve())
    solution = explore.exploration.solution

    assert solution is not None
    assert [one.code for one in solution.attempts] == [SOLUTION]
    assert explore.exploration.status == "solved"


def test_what_a_look_corrects_is_run(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)], looks=[RIGHT]))
    result = explore(server, "--json")
    look = server.chat_requests[-1]

    assert kinds_asked(server) == ["write", "look"]
    assert result.json["status"] == "solved"
    assert result.json["attempts"] == 2
    assert "AssertionError" in look.last_user_message
    assert CHECK.strip() not in whole_text(look)


def test_calls_that_fail_are_looked_at(serve: Serve, explore: Explorer) -> None:
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION), "strong_names(7)")
    server = serve(TeaModel(scripts=[script], looks=[f"{RIGHT}\n### Calls\nstrong_names('')"]))
    result = explore(server, "--json", check=None)
    look = next(one for one in server.chat_requests if kind_of(one) == "look")

    assert "AttributeError" in look.last_user_message
    assert kinds_asked(server) == ["write", "look"]
    assert result.json["status"] == "unverified"


def test_a_look_puts_another_cell_in_the_place_of_one(serve: Serve, explore: Explorer) -> None:
    model = TeaModel(
        scripts=[script_of(GOALS, [READ, LOST, COLLECT])],
        looks=[f"### 2. Keep the strong\n{fenced(KEEP)}\n{RIGHT}"],
    )
    server = serve(model)
    result = explore(server, "--json")
    first, second, third = explore.exploration.steps

    assert kinds_asked(server) == ["write", "look"]
    assert result.json["status"] == "solved"
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


def test_looking_names_up_imports_nothing_for_the_code_that_runs(
    serve: Serve, explore: Explorer, own_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_library / "tealeaf" / "pots.py").write_text("def names():\n    return ['assam']\n")
    monkeypatch.chdir(own_library)
    code = "import tealeaf\nnames = tealeaf.pots.names()"
    server = serve(TeaModel(scripts=[script_of(GOALS, [code], fenced(code))]))
    explore(server, "--set", "looks=0", "--candidates", "1", check=None)
    (first, *_), solution = explore.exploration.steps, explore.exploration.solution
    assert solution is not None
    observations = [first.candidates[0].observation, solution.attempts[0].observation]
    errors = [one.error.ename if one and one.error else "" for one in observations]

    assert errors == ["AttributeError"] * 2


def test_only_what_still_fails_is_explored(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(scripts=[script_of(GOALS, [READ, LOST, COLLECT])]))
    result = explore(server, "--json", "--candidates", "1", "--set", "rerank=none")

    assert kinds_asked(server) == ["write", "look", "draft", "solution"]
    assert result.json["status"] == "solved"
    assert [one["code"] for one in result.json["subtasks"]] == [READ, KEEP, COLLECT]


def test_looks_are_limited(serve: Serve, explore: Explorer) -> None:
    wrong = f"### Solution\n{fenced(WRONG_SOLUTION)}"
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(WRONG_SOLUTION))
    server = serve(TeaModel(scripts=[script], looks=[wrong]))
    result = explore(server, "--json", "--set", "looks=2", "--set", "rerank=none")

    assert kinds_asked(server) == ["write", "look", "look", "solution"]
    assert result.json["status"] == "solved"


def test_a_solution_alone_is_cut_into_cells(serve: Serve, explore: Explorer) -> None:
    program = f"{READ}\n\n{KEEP}\n\n{COLLECT}"
    server = serve(TeaModel(scripts=[fenced(program)]))
    words = explore.words(server, *explore.files(None, entry_point=None), "--json")
    result = explore.run(*words)

    assert result.json["solution"] == program
    assert [one["code"] for one in result.json["subtasks"]] == [READ, KEEP, COLLECT]
    assert {one["status"] for one in result.json["subtasks"]} == {"done"}


def test_a_reply_without_code_is_asked_for_once_more(serve: Serve, explore: Explorer) -> None:
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))
    server = serve(TeaModel(scripts=["First I would read the leaves.", script]))
    result = explore(server, "--json")

    assert result.json["status"] == "solved"
    assert kinds_asked(server) == ["write", "write"]


def test_a_model_that_writes_no_code_is_quoted(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(scripts=["I like tea."]))
    result = explore(server, "--json")

    assert result.code == 1
    assert "I like tea." in result.json["reason"]
    assert kinds_asked(server) == ["write", "write"]


def test_cells_of_a_reply_that_broke_off_give_way_to_those_of_the_next(
    serve: Serve, explore: Explorer
) -> None:
    broken = script_of(["Read", "Other", "Third"], [READ, "leaves = 1", "leaves = 2"])
    chunk = {"choices": [{"index": 0, "delta": {"content": broken}}]}
    error = {"error": {"code": 503, "message": "busy"}}
    events = "".join(f"data: {json.dumps(one)}\n\n" for one in (chunk, error))
    whole = script_of(["Read", *GOALS[1:]], [READ, KEEP, COLLECT], fenced(SOLUTION))
    server = serve(TeaModel(scripts=[Raw(events, "text/event-stream"), whole]))
    result = explore(server, "--json")

    assert kinds_asked(server) == ["write", "write"]
    assert result.json["status"] == "solved"
    assert [one["code"] for one in result.json["subtasks"]] == [READ, KEEP, COLLECT]


async def test_cells_run_while_later_ones_are_written(serve: Serve) -> None:
    async with live_session(serve(piece_pause_s=0.05), mode="auto") as session:
        await session.do(c.GoOn())

    statuses = [[step.status for step in exploration.steps] for exploration, _ in session.reports]
    assert ["done"] in statuses or ["done", "pending"] in statuses
    assert session.statuses == ["done"] * 3


@pytest.mark.parametrize("name", ["leaves", "kept"])
async def test_who_writes_again_sees_what_the_cells_before_have_left(
    serve: Serve, name: str
) -> None:
    server = serve()
    async with live_session(server) as session:
        await session.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await session.do(c.Accept(subtask="step-2"), c.Replan(subtask="step-3"))
    _, again = (one for one in server.chat_requests if kind_of(one) == "write")

    assert f"- {name}: list" in again.last_user_message


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("while True:\n    pass", "ran longer than 3 s"),
        ("import os\nos._exit(3)", "process"),
        ("raise SystemExit", "SystemExit"),
        ("leaves.clear()\nassert leaves", "AssertionError"),
        ("kept = (", "SyntaxError"),
        ("print('x' * 100_000_000)\nkept = leaves[", "SyntaxError"),
    ],
    ids=["hangs", "leaves the process", "exits", "changes in place", "no Python", "huge"],
)
def test_a_bad_cell_is_one_that_failed_and_the_look_mends_it(
    serve: Serve, explore: Explorer, bad: str, said: str
) -> None:
    script = script_of(GOALS, [READ, bad, COLLECT], fenced(WRONG_SOLUTION))
    correction = f"### 2. {GOALS[1]}\n{fenced(KEEP)}\n{RIGHT}"
    server = serve(TeaModel(scripts=[script], looks=[correction]))
    result = explore(server, "--json", "--set", "run-seconds=3")

    assert kinds_asked(server) == ["write", "look"]
    assert said in server.chat_requests[-1].last_user_message
    assert result.json["status"] == "solved"
    assert [one["code"] for one in result.json["subtasks"]] == [READ, KEEP, COLLECT]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("import asyncio\nawait asyncio.sleep(0)\nkept = [1]\nprint('waited')", "waited"),
        ("print('x' * 100_000_000)\nkept = [1]", "characters left out"),
        ("leaves.clear()\nkept = [1]\nprint(len(leaves))", "0"),
    ],
    ids=["awaits", "prints 100 MB", "changes in place"],
)
def test_an_odd_cell_runs_and_what_it_shows_is_bounded(
    serve: Serve, explore: Explorer, cell: str, said: str
) -> None:
    script = script_of(GOALS[:2], [READ, cell], fenced(SOLUTION))
    server = serve(TeaModel(scripts=[script]))
    result = explore(server, "--json", check=None)
    look = server.chat_requests[-1].last_user_message

    assert kinds_asked(server) == ["write", "look"]
    assert said in look
    assert len(look) < 20_000
    assert [one["status"] for one in result.json["subtasks"]] == ["done", "done"]


def test_a_prompt_that_is_too_long_says_less_and_less_of_the_library(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library is so small that a quarter of its docs would be too little to ask with.
    monkeypatch.setattr("exploracoder.engine.writing.cells_request._LEAST_CHARS", 100)
    too_long = Failure(400, "This model's maximum context length is 4096 tokens", details=OVERFLOW)
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))
    server = serve(TeaModel(scripts=[too_long, too_long, script]))
    result = explore(server, "--json")
    texts = [whole_text(one) for one in server.chat_requests]

    assert result.json["status"] == "solved"
    assert kinds_asked(server) == ["write"] * 3
    assert len(texts[0]) > len(texts[1]) > len(texts[2])
    assert [ALL_DOCS in text for text in texts] == [True, False, False]


def test_all_docs_are_told_where_they_fit(serve: Serve, explore: Explorer) -> None:
    server = serve()
    explore(server)
    explore(server, "--set", "prompt-chars=900")
    whole, mapped = (whole_text(one) for one in server.chat_requests)

    assert ALL_DOCS in whole
    assert "likeliest to be needed" not in whole
    assert ALL_DOCS not in mapped
    assert "likeliest to be needed" in mapped


def test_a_prompt_without_room_leaves_the_library_out(serve: Serve, explore: Explorer) -> None:
    server = serve()
    explore(server, "--set", "prompt-chars=0")
    (text,) = map(whole_text, server.chat_requests)

    assert "left out" not in text
    assert "read_leaves" not in text


def test_a_server_that_sends_no_streams_is_asked_for_the_whole(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(refuse_stream=True)
    result = explore(server, "--json")

    assert result.json["status"] == "solved"
    assert [step.status for step in explore.exploration.steps] == ["done"] * 3
