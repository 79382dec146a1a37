"""Whole explorations: a scripted model, the real index, real processes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from exploracoder.engine.exploring import explorer
from exploracoder.errors import BudgetError
from exploracoder.testing import Failure

from .conftest import Explorer, Serve, model_words
from .scripted import (
    COLLECT,
    GOALS,
    KEEP,
    READ,
    SOLUTION,
    TASK,
    WRONG_SOLUTION,
    TeaModel,
    fenced,
    kind_of,
    kinds_asked,
    step_of,
    whole_text,
)

BROKEN_READ = "import tealeaf\nleaves = tealeaf.reed_leafs(text)"
BADLY_CALLED = "import tealeaf\nleaves = tealeaf.read_leaves('assam 5', 2, sorted=True)"
# It plans, and explores each subtask.
SMALL = ("--profile", "small", "--set", "first-tries=0")


def test_a_task_with_a_check_is_solved_and_verified(serve: Serve, explore: Explorer) -> None:
    server = serve()
    outcome = explore(server, "--json")

    assert outcome.code == 0
    assert outcome.json["status"] == "solved"
    assert outcome.json["verified"] == {"ran": True, "checks": "passed"}
    assert outcome.json["solution"] == SOLUTION
    subtasks = [(one["goal"], one["status"]) for one in outcome.json["subtasks"]]
    assert subtasks == [(goal, "done") for goal in GOALS]
    assert kinds_asked(server) == ["write"]
    assert outcome.json["libraries"] == [{"name": "tealeaf", "version": "2.1", "apis": 15}]


def test_a_task_without_a_check_is_called_unverified(serve: Serve, explore: Explorer) -> None:
    outcome = explore(serve(), "--json", check=None)

    assert outcome.code == 0
    assert outcome.json["status"] == "unverified"
    assert outcome.json["verified"] == {"ran": True, "checks": "none"}
    assert "no check was given" in outcome.json["verification"]


def test_a_solution_that_fails_its_check_to_the_end_is_not_solved(
    serve: Serve, explore: Explorer
) -> None:
    wrong = fenced(WRONG_SOLUTION)
    server = serve(TeaModel(solutions=[wrong], repairs=[wrong]))
    outcome = explore(server, "--json")

    assert outcome.code == 1
    assert outcome.json["status"] == "failed"
    assert outcome.json["verified"] == {"ran": True, "checks": "failed"}
    assert outcome.json["attempts"] == 4
    assert kinds_asked(server).count("repair") == 2


def test_what_was_written_before_the_model_failed_is_kept(serve: Serve, explore: Explorer) -> None:
    wrong = fenced(WRONG_SOLUTION)
    server = serve(TeaModel(solutions=[wrong], repairs=[wrong, Failure(401, "no key")]))
    outcome = explore(server, "--json")
    solution = explore.exploration.solution

    assert outcome.code == 2
    assert solution is not None
    assert [one.code for one in solution.attempts] == [WRONG_SOLUTION] * 3
    assert "HTTP 401" in explore.exploration.reason


def test_a_repaired_solution_is_the_one_that_is_shown(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)]))
    outcome = explore(server, "--json")

    assert outcome.code == 0
    assert outcome.json["solution"] == SOLUTION
    repair = next(one for one in server.chat_requests if kind_of(one) == "repair")
    assert "AssertionError" in repair.last_user_message


def test_each_step_starts_from_the_state_that_the_last_one_left(
    serve: Serve, explore: Explorer
) -> None:
    explore(serve(), "--set", "candidates=1")
    steps = explore.exploration.steps

    assert [step.candidate.code for step in steps if step.candidate] == [READ, KEEP, COLLECT]
    assert steps[2].candidate is not None
    assert steps[2].candidate.observation is not None
    assert "['assam', 'oolong']" in steps[2].candidate.observation.stdout


def test_the_model_sees_docs_outputs_and_live_variables(serve: Serve, explore: Explorer) -> None:
    server = serve()
    explore(server, *SMALL)
    second = next(
        one for one in server.chat_requests if kind_of(one) == "draft" and step_of(one) == 2
    )

    assert "Leaf(name='assam', strength=5)" in whole_text(second)
    assert "leaves: list[" in second.last_user_message
    assert "A lazy pipeline: nothing happens until it is iterated over." in second.last_user_message


def test_a_failing_step_is_mended_by_debugging(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(drafts={1: [fenced("import tealeaf\nleaves = 1 / 0")]}))
    outcome = explore(server, "--json", *SMALL)
    debug = next(one for one in server.chat_requests if kind_of(one) == "debug")

    assert outcome.code == 0
    assert outcome.json["subtasks"][0]["debugged"]
    assert outcome.json["subtasks"][0]["code"] == READ
    assert "ZeroDivisionError" in debug.last_user_message


def test_who_mends_a_call_sees_how_the_source_declares_it(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(drafts={1: [fenced(BADLY_CALLED)]}))
    explore(server, *SMALL)
    debug = next(one for one in server.chat_requests if kind_of(one) == "debug")

    assert "TypeError" in debug.last_user_message
    assert "def read_leaves(" in debug.last_user_message.partition("The source of tealeaf")[2]


def test_without_source_chars_the_source_is_not_shown(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(drafts={1: [fenced(BADLY_CALLED)]}))
    explore(server, *SMALL, "--set", "source-chars=0")
    debug = next(one for one in server.chat_requests if kind_of(one) == "debug")

    assert "The source of" not in debug.last_user_message


def test_without_self_debug_a_failing_step_stays_failed(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(drafts={1: [fenced("leaves = 1 / 0")]}))
    outcome = explore(server, "--json", *SMALL, "--no-self-debug")

    assert outcome.json["subtasks"][0]["status"] == "failed"
    assert outcome.json["subtasks"][0]["error"] == "ZeroDivisionError: division by zero"
    assert "debug" not in kinds_asked(server)


def test_a_name_that_does_not_exist_is_reported_with_the_nearest_real_ones(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(drafts={1: [fenced(BROKEN_READ)]}))
    off = ("--set", "repair-names=false")
    explore(server, *SMALL, *off)
    problems = explore.exploration.steps[0].candidates[0].problems
    debug = next(one for one in server.chat_requests if kind_of(one) == "debug")

    assert [(one.owner, one.name) for one in problems] == [("tealeaf", "reed_leafs")]
    assert "read_leaves" in problems[0].nearest
    assert "read_leaves" in debug.last_user_message


def test_failed_code_never_enters_later_prompts(serve: Serve, explore: Explorer) -> None:
    failing = fenced("mistaken = 1 / 0")
    server = serve(TeaModel(drafts={1: [failing]}, debugs={1: [failing]}))
    explore(server, *SMALL)
    later = [
        request
        for request in server.chat_requests
        if (kind_of(request) == "draft" and step_of(request) > 1) or kind_of(request) == "solution"
    ]

    assert explore.exploration.steps[0].status == "failed"
    assert len(later) >= 3
    assert not any("mistaken" in whole_text(request) for request in later)


def test_candidates_of_one_step_run_in_forks_that_do_not_see_each_other(
    serve: Serve, explore: Explorer
) -> None:
    spoiling = "import tealeaf\nleaves = []\nspoilt = True"
    looking = 'import tealeaf\nleaves = tealeaf.read_leaves(text)\nprint("spoilt" in globals())'
    server = serve(TeaModel(is_lost=True, drafts={1: [[fenced(spoiling), fenced(looking)]]}))
    explore(server, "--candidates", "2", "--set", "looks=0", "--set", "functions=off")
    first = explore.exploration.steps[0]
    ran = {one.code: one.observation for one in first.candidates if one.observation}

    assert ran[looking].stdout == "False\n"
    assert ran[spoiling].ran


async def test_what_one_candidate_raises_is_not_hidden_by_others_and_hides_none_that_ended() -> (
    None
):
    async def run(id_: str, *_: object) -> str:
        if id_.endswith("/3"):
            await asyncio.sleep(0.05)
            raise BudgetError("The limit was reached.")
        await asyncio.sleep(60 if id_.endswith("/2") else 0)
        return id_

    step = SimpleNamespace(subtask=SimpleNamespace(id="step-1"))
    shown: list[object] = []
    trial: Any = SimpleNamespace(step=step, hint="", new=(), candidates=[], next_number=1, run=run)
    trial.bench, trial.shown = SimpleNamespace(show=shown.append), "the step"

    with pytest.raises(BudgetError):
        await explorer._add(trial, ["ended()", "slow()", "late()"], "draft")

    assert trial.candidates == ["step-1/1"]
    assert shown == ["the step"]


def test_direct_asks_once_and_shows_no_docs(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)]))
    outcome = explore(server, "--method", "direct", "--json")

    assert outcome.code == 1
    assert kinds_asked(server) == ["solution"]
    assert "Documentation" not in server.chat_requests[0].last_user_message
    assert outcome.json["subtasks"] == []


def test_the_task_can_come_from_standard_input(serve: Serve, explore: Explorer) -> None:
    server = serve()
    words = explore.words(server, *explore.files(), "--method", "direct", task="-")
    outcome = explore.run(*words, stdin=f"{TASK}\n")

    assert outcome.code == 0
    assert explore.exploration.task.text == TASK


def test_a_notebook_that_was_there_is_moved_aside(serve: Serve, explore: Explorer) -> None:
    explore.notebook.write_text("precious", encoding="utf-8")
    outcome = explore(serve(), "--method", "direct")
    aside = [path for path in explore.folder.glob("*.ipynb") if path != explore.notebook]

    assert outcome.code == 0
    assert [path.read_text(encoding="utf-8") for path in aside] == ["precious"]
    assert aside[0].name in outcome.err


def test_a_malformed_plan_goes_back_to_the_model(serve: Serve, explore: Explorer) -> None:
    good = '{"subtasks": ["%s"]}' % GOALS[0]  # noqa: UP031
    server = serve(TeaModel(plans=["First I would read the leaves.", good]))
    outcome = explore(server, "--json", *SMALL)

    assert outcome.code == 0
    assert kinds_asked(server).count("plan") == 2
    assert [one["goal"] for one in outcome.json["subtasks"]] == [GOALS[0]]


def test_a_model_that_never_gives_a_plan_explores_the_whole_task(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(plans=["No plan today."]))
    outcome = explore(server, "--json", *SMALL)

    assert outcome.json["status"] == "solved"
    assert [one["goal"] for one in outcome.json["subtasks"]] == [TASK]
    assert kinds_asked(server).count("plan") == 3


def test_a_plan_is_asked_for_with_a_bound(serve: Serve, explore: Explorer) -> None:
    server = serve()
    explore(server, *SMALL, "--set", "max-subtasks=4")
    (request,) = (one for one in server.chat_requests if kind_of(one) == "plan")

    schema = request.body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["subtasks"]["maxItems"] == 8


def test_branches_by_replay_lead_to_the_same_solution(serve: Serve, explore: Explorer) -> None:
    outcome = explore(serve(), "--strategy", "replay", "--json", "--candidates", "1")

    assert outcome.code == 0
    assert outcome.json["strategy"].startswith("replay")


def test_a_candidate_that_ends_its_process_is_one_failed_candidate(
    serve: Serve, explore: Explorer
) -> None:
    deadly = fenced("import os\nos._exit(3)")
    server = serve(TeaModel(drafts={1: [deadly]}))
    outcome = explore(server, "--json", *SMALL)

    assert outcome.code == 0
    assert explore.exploration.steps[0].candidates[0].observation is not None
    assert explore.exploration.steps[0].candidates[0].observation.status == "killed"
    assert outcome.json["subtasks"][0]["debugged"]


def test_a_candidate_that_never_ends_is_stopped(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(drafts={1: [fenced("while True: pass")]}))
    outcome = explore(server, "--json", *SMALL, "--set", "run_seconds=5")

    assert outcome.code == 0
    assert explore.exploration.steps[0].candidates[0].observation is not None
    assert explore.exploration.steps[0].candidates[0].observation.status == "timeout"


def test_words_tell_a_person_what_happened(serve: Serve, explore: Explorer) -> None:
    outcome = explore(serve())

    assert "SOLVED. Verified: it ran in a fresh state and the check passed." in outcome.out
    assert "3 of 3 subtasks explored" in outcome.out
    assert f"Notebook: {explore.notebook}" in outcome.out


def test_without_an_output_each_exploration_gets_a_file_of_its_own(
    serve: Serve, explore: Explorer, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["explore", TASK, "-l", library / "tealeaf", "--method", "direct", "--quiet"]
    server = serve()
    for _ in range(2):
        explore.run(*words, *explore.files(), *model_words(server))

    assert {path.name for path in tmp_path.glob("*.ipynb")} == {
        "exploration.ipynb",
        "exploration-2.ipynb",
    }


def test_two_libraries_are_explored_together(
    serve: Serve, explore: Explorer, tmp_path: Path
) -> None:
    (tmp_path / "sugarcube.py").write_text(
        'def sweeten(cup):\n    """Put sugar into a cup."""\n    return cup + " with sugar"\n'
    )
    code = "import sugarcube, tealeaf\ncup = sugarcube.sweeten(tealeaf.Leaf('assam', 5).name)"
    server = serve(TeaModel(goals=["Put sugar into a cup"], drafts={1: [fenced(code)]}))
    words = explore.words(
        server,
        "--json",
        "--profile",
        "small",
        "--set",
        "first-tries=0",
        "-l",
        tmp_path / "sugarcube.py",
    )
    outcome = explore.run(*words)

    assert outcome.code == 0
    assert [one["name"] for one in outcome.json["libraries"]] == ["tealeaf", "sugarcube"]
    assert {"sugarcube.sweeten", "tealeaf.Leaf"} <= set(outcome.json["subtasks"][0]["apis"])
