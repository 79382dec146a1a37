"""The papers' systems on the usual task: what each asks, in which order, with what in it."""

from __future__ import annotations

import json

import pytest
from exploracoder.engine.limits import Limits
from exploracoder.methods import METHODS, find_method
from exploracoder.settings import Settings
from exploracoder.testing import Failure, RecordedRequest, ScriptedModelServer

from .conftest import Explorer, Serve, model_words
from .scripted import (
    COLLECT,
    FEEDBACK,
    GOALS,
    KEEP,
    READ,
    SOLUTION,
    WRONG_SOLUTION,
    TeaModel,
    fenced,
    kind_of,
    kinds_asked,
    step_of,
    system_message,
    whole_text,
)

RERANKS = ["rerank"] * 4
BROKEN = "import tealeaf\nleaves = tealeaf.reed_leafs(text)"


def asked(server: ScriptedModelServer, kind: str) -> list[RecordedRequest]:
    return [one for one in server.chat_requests if kind_of(one) == kind]


def whole_cells() -> dict[int, list[str]]:
    """Candidates as the paper wants them: each has all that goes before it."""
    return {
        1: [fenced(READ)],
        2: [fenced(f"{READ}\n{KEEP}")],
        3: [fenced(f"{READ}\n{KEEP}\n{COLLECT}")],
    }


@pytest.mark.parametrize("name", METHODS)
def test_every_method_that_is_listed_is_found_by_its_name(name: str) -> None:
    method = find_method(name)

    assert method.name == name
    assert {*method.published, *method.overrides} <= set(Settings.model_fields)


@pytest.mark.parametrize(
    ("method", "kinds"),
    [
        ("direct", ["solution"]),
        ("docprompting", ["solution"]),
        ("best-of-n", ["solution"]),
        ("whole-docs", ["solution"]),
        ("capir", ["plan", *RERANKS, "solution"]),
        ("epigen", ["plan", *RERANKS, "solution"]),
        ("self-repair", ["plan", *RERANKS, "solution"]),
        ("exploracoder-paper-no-chain", ["plan", *RERANKS, "solution"]),
    ],
)
def test_a_method_asks_for_what_it_is_made_of_and_counts_it(
    serve: Serve, explore: Explorer, method: str, kinds: list[str]
) -> None:
    server = serve()
    outcome = explore(server, "--method", method, "--json")

    assert outcome.json["status"] == "solved"
    assert kinds_asked(server) == kinds
    has_docs = "read_leaves" in whole_text(server.chat_requests[-1])
    assert has_docs == (method != "direct")
    exploration = explore.exploration
    assert exploration.method == method
    assert exploration.usage.calls == len(server.chat_requests)
    assert {step.status for step in exploration.steps} <= {"skipped"}
    assert (exploration.settings.temperature, exploration.settings.top_p) == (0.8, 0.95)


def test_late_in_a_limit_only_the_solution_is_asked_for(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Limits, "is_late", property(lambda self: True))
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)]))
    explore(server, "--method", "capir")

    assert kinds_asked(server) == ["plan", "rerank", "solution"]
    assert [step.status for step in explore.exploration.steps] == ["skipped"] * 3


def test_only_epigen_is_told_the_subtasks(serve: Serve, explore: Explorer) -> None:
    prompts = {}
    for method in ("capir", "epigen"):
        server = serve()
        explore(server, "--method", method)
        prompts[method] = whole_text(asked(server, "solution")[0])

    assert "read_leaves" in prompts["capir"]
    assert GOALS[1] not in prompts["capir"]
    assert [goal for goal in GOALS if goal in prompts["epigen"]] == list(GOALS)


def test_without_the_chain_the_docs_of_all_subtasks_are_shown(
    serve: Serve, explore: Explorer
) -> None:
    server = serve()
    explore(server, "--method", "exploracoder-paper-no-chain", "--set", "overall-apis=1")
    exploration, prompt = explore.exploration, whole_text(asked(server, "solution")[0])
    kept_paths = {doc.path for step in exploration.steps for doc in step.recommendation.kept}

    assert len(exploration.overall.kept) == 1
    assert len(kept_paths) > 1
    assert exploration.solution is not None
    assert set(exploration.solution.apis) == kept_paths | {exploration.overall.kept[0].path}
    assert all(path.rpartition(".")[2] in prompt for path in kept_paths)


def test_self_repair_asks_why_before_it_repairs(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)]))
    outcome = explore(server, "--method", "self-repair", "--json")

    assert outcome.json["solution"] == SOLUTION
    assert kinds_asked(server)[-3:] == ["solution", "feedback", "repair"]
    feedback, repair = asked(server, "feedback")[0], asked(server, "repair")[0]
    assert "AssertionError" in feedback.last_user_message
    assert "> 4" in feedback.last_user_message
    assert "read_leaves" in feedback.last_user_message
    assert FEEDBACK in repair.last_user_message
    solution = explore.exploration.solution
    assert solution is not None
    assert [attempt.notes for attempt in solution.attempts] == [(), (FEEDBACK,)]


def test_self_repair_repairs_as_often_as_there_are_subtasks(
    serve: Serve, explore: Explorer
) -> None:
    wrong = [fenced(WRONG_SOLUTION)]
    server = serve(TeaModel(solutions=wrong, repairs=wrong))
    outcome = explore(server, "--method", "self-repair", "--json")

    assert outcome.json["status"] == "failed"
    assert kinds_asked(server).count("repair") == len(GOALS)
    assert kinds_asked(server).count("feedback") == len(GOALS)


def test_self_repair_keeps_each_text_when_the_model_fails(serve: Serve, explore: Explorer) -> None:
    wrong = fenced(WRONG_SOLUTION)
    server = serve(TeaModel(solutions=[wrong], repairs=[wrong, Failure(401, "no key")]))
    outcome = explore(server, "--method", "self-repair", "--json")
    solution = explore.exploration.solution

    assert outcome.code == 2
    assert solution is not None
    assert [one.code for one in solution.attempts] == [WRONG_SOLUTION] * 2


def test_the_published_chain_has_candidates_that_repeat_all_steps(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(drafts=whole_cells()))
    outcome = explore(server, "--method", "exploracoder-paper", "--json")

    assert outcome.json["status"] == "solved"
    drafts = asked(server, "draft")
    assert [one.body["n"] for one in drafts] == [5, 5, 5]
    assert {(one.body["temperature"], one.body["top_p"]) for one in drafts} == {(0.8, 0.95)}
    assert "whole code from the beginning" in drafts[0].last_user_message
    assert KEEP in whole_text(drafts[2])
    assert not any("Some APIs of" in one.last_user_message for one in asked(server, "plan"))
    settings = explore.exploration.settings
    assert (settings.few_shot_plans, settings.retrieved_apis, settings.overall_apis) == (5, 20, 15)
    assert (settings.candidates, settings.temperature, settings.top_p) == (5, 0.8, 0.95)


@pytest.mark.parametrize(("method", "repairs"), [("exploracoder-paper", 0), ("", 1)])
def test_only_the_star_repairs_a_step_and_failed_code_stays_in_the_chain(
    serve: Serve, explore: Explorer, method: str, repairs: int
) -> None:
    cells = whole_cells() | {1: [fenced(BROKEN)]}
    server = serve(TeaModel(drafts=cells, debugs={1: [fenced(BROKEN + "  # again")]}))
    explore(server, "--method", method or "exploracoder-paper-debug")
    step = explore.exploration.steps[0]

    assert kinds_asked(server).count("debug") == repairs
    assert step.status == "done"
    assert step.candidate is not None
    assert not step.candidate.ran
    second = next(one for one in asked(server, "draft") if step_of(one) == 2)
    assert "reed_leafs" in whole_text(second)
    assert all("it has read_leaves" not in one.last_user_message for one in asked(server, "debug"))


def test_without_knowledge_nothing_of_the_library_is_summed_up(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(drafts=whole_cells()))
    explore(server, "--method", "exploracoder-paper-no-knowledge")
    messages = [system_message(one) for one in server.chat_requests]

    assert kinds_asked(server)[0] == "plan"
    assert not any("introductions" in one or "as a plan" in one for one in messages)
    assert len(asked(server, "plan")[0].body["messages"]) == 2
    assert not any("Tealeaf reads leaves" in whole_text(one) for one in server.chat_requests)


def test_without_selection_what_failed_may_be_chosen_though_something_ran(
    serve: Serve, explore: Explorer
) -> None:
    cells = {number: [[texts[0], *[fenced(BROKEN)] * 4]] for number, texts in whole_cells().items()}
    server = serve(TeaModel(drafts=cells))
    explore(server, "--method", "exploracoder-paper-no-selection")
    steps = explore.exploration.steps

    assert all(any(one.ran for one in step.candidates) for step in steps)
    assert not all(step.candidate is not None and step.candidate.ran for step in steps)


def test_a_parameter_may_be_set_and_what_makes_the_method_may_not(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(drafts=whole_cells()))
    words = ("--method", "exploracoder-paper", "--candidates", "2")
    explore(server, *words)
    outcome = explore(server, *words, "--self-debug")

    assert asked(server, "draft")[0].body["n"] == 2
    assert outcome.code == 2
    assert "exploracoder-paper has self_debug = False" in " ".join(outcome.err.split())


def test_an_interrupted_retrieval_goes_on_where_it_was(serve: Serve, explore: Explorer) -> None:
    explore(serve(), "--method", "capir")
    cut = json.loads(explore.notebook.read_text(encoding="utf-8"))
    ours = cut["metadata"]["exploracoder"]
    ours |= {"solution": None, "status": "cancelled", "overall": {"apis": []}}
    ours["steps"][2] |= {"status": "pending", "recommendation": {"apis": []}}
    explore.notebook.write_text(json.dumps(cut), encoding="utf-8")
    server = serve()
    words = ["resume", explore.notebook, *model_words(server), "--json", "--quiet"]
    outcome = explore.run(*words)

    assert outcome.json["status"] == "solved"
    assert kinds_asked(server) == ["rerank", "rerank", "solution"]


def test_a_doc_that_a_step_dropped_is_whole_in_the_solution_s_prompt(
    serve: Serve, explore: Explorer
) -> None:
    nothing, all_of_them = json.dumps({"relevant": []}), json.dumps({"relevant": [*range(1, 21)]})
    server = serve(TeaModel(reranks=[nothing, nothing, nothing, all_of_them]))
    explore(server, "--method", "capir")
    steps, overall = explore.exploration.steps, explore.exploration.overall
    prompt = whole_text(asked(server, "solution")[0])

    assert [step.recommendation.kept for step in steps] == [(), (), ()]
    assert not any(api.doc.doc for step in steps for api in step.recommendation.apis)
    texts = [api.doc.doc.strip() for api in overall.apis if api.doc.doc.strip()]
    assert texts
    assert [text for text in texts if text not in prompt] == []


def test_the_methods_are_listed(explore: Explorer) -> None:
    outcome = explore.run("explore", "--list-methods")

    assert outcome.code == 0
    assert [line.split()[0] for line in outcome.out.splitlines()] == list(METHODS)


def test_an_unknown_method_is_refused_with_those_there_are(serve: Serve, explore: Explorer) -> None:
    outcome = explore(serve(), "--method", "exploracoder")

    assert outcome.code == 2
    assert "exploration, exploracoder-paper" in outcome.err
