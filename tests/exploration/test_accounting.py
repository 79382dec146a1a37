"""What an exploration costs, what limits it, and what makes it repeat itself."""

from __future__ import annotations

from typing import Any

from exploracoder.testing import Delay

from .conftest import Explorer, Serve, model_words
from .scripted import (
    COLLECT,
    GOALS,
    KEEP,
    READ,
    SOLUTION,
    WRONG_SOLUTION,
    TeaModel,
    fenced,
    kinds_asked,
    script_of,
    whole_text,
)


def test_usage_equals_what_the_server_counted(serve: Serve, explore: Explorer) -> None:
    script = TeaModel()
    server = serve(script)
    usage = explore(server, "--json").json["usage"]
    # The server counts words as tokens.
    prompt_words = sum(len(whole_text(request).split()) for request in server.chat_requests)

    assert usage["calls"] == len(server.chat_requests)
    assert usage["prompt_tokens"] == prompt_words
    assert usage["completion_tokens"] == sum(len(text.split()) for text in script.said)
    assert 0 < usage["seconds_execution"] < usage["seconds_total"]


def test_usage_of_the_parts_adds_up(serve: Serve, explore: Explorer) -> None:
    result = explore(serve(TeaModel(is_lost=True)), "--json", "--set", "looks=1").json
    parts = result["usage_by_part"]

    assert {"write", "look", "step-1", "step-2", "step-3", "solution"} <= set(parts)
    assert sum(part["calls"] for part in parts.values()) == result["usage"]["calls"]
    assert result["usage_of_this_run"]["prompt_tokens"] == result["usage"]["prompt_tokens"]


def test_the_same_seed_asks_the_same_and_another_seed_does_not(
    serve: Serve, explore: Explorer
) -> None:
    server = serve()
    explore(server)  # from here on the library's briefing is kept

    def bodies(*more: str) -> list[Any]:
        before = len(server.chat_requests)
        outcome = explore(server, *more)
        requests = [request.body for request in server.chat_requests[before:]]
        assert requests, outcome
        return requests

    first, second = bodies("--seed", "7"), bodies("--seed", "7")
    other = bodies("--seed", "8", "--set", "max_subtasks=1")

    assert first == second
    assert first[0]["seed"] != other[0]["seed"]


def test_a_limit_on_tokens_stops_the_exploration_with_all_saved(
    serve: Serve, explore: Explorer
) -> None:
    words = ("--json", "--profile", "small", "--set", "first-tries=0")
    outcome = explore(serve(), "--max-tokens", "250", *words)

    assert outcome.code == 1
    assert outcome.json["status"] == "failed"
    assert "limit of 250 tokens" in outcome.json["reason"]
    assert explore.exploration.is_planned


def test_a_limit_on_tokens_that_nobody_counts_is_said_not_to_hold(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)]))
    server.report_usage = False
    outcome = explore(server, "--max-tokens", "100000", "--json")

    assert outcome.code == 1
    assert "does not report them" in outcome.json["reason"]
    assert len(server.chat_requests) == 1


def test_a_reply_that_is_not_there_when_the_time_is_up_is_not_waited_for(
    serve: Serve, explore: Explorer
) -> None:
    slow = TeaModel(scripts=[Delay(20, script_of(GOALS, [READ, KEEP, COLLECT], SOLUTION))])
    outcome = explore(serve(slow), "--max-seconds", "1", "--json")

    assert outcome.code == 1
    assert "limit of 1 seconds was reached" in outcome.json["reason"]
    assert explore.exploration.status == "failed"
    assert explore.exploration.seconds_total < 15


def test_a_run_that_has_not_ended_when_the_time_is_up_is_interrupted(
    serve: Serve, explore: Explorer
) -> None:
    slow = TeaModel(scripts=[script_of(GOALS, [f"import time\ntime.sleep(40)\n{READ}"])])
    outcome = explore(serve(slow), "--max-seconds", "8", "--json")

    assert outcome.code == 1
    assert "limit of 8 seconds was reached" in outcome.json["reason"]
    assert explore.exploration.seconds_total < 30


def test_a_stopped_exploration_goes_on_with_a_higher_budget(
    serve: Serve, explore: Explorer
) -> None:
    explore(serve(), "--max-tokens", "250", "--profile", "small", "--set", "first-tries=0")
    server = serve()
    outcome = explore.run("resume", explore.notebook, *model_words(server), "--json", "--quiet")

    assert outcome.code == 0
    assert outcome.json["status"] == "solved"
    assert "plan" not in kinds_asked(server)


def test_what_used_up_the_tokens_is_run(serve: Serve, explore: Explorer) -> None:
    server = serve()
    outcome = explore(server, "--max-tokens", "250", "--json")

    assert outcome.code == 0
    assert outcome.json["status"] == "solved"
    assert kinds_asked(server) == ["write"]


def test_what_was_written_when_the_budget_ended_is_not_asked_for_again(
    serve: Serve, explore: Explorer
) -> None:
    wrong = TeaModel(solutions=[fenced(WRONG_SOLUTION)])
    first_outcome = explore(serve(wrong), "--max-tokens", "250", "--json")
    server = serve(TeaModel(looks=[f"### Solution\n{fenced(SOLUTION)}"]))
    outcome = explore.run("resume", explore.notebook, *model_words(server), "--json", "--quiet")

    assert first_outcome.json["status"] == "failed"
    assert kinds_asked(server) == ["look"]
    assert outcome.json["status"] == "solved"
    assert [one["code"] for one in outcome.json["subtasks"]] == [READ, KEEP, COLLECT]


def test_with_the_reply_cache_nothing_is_asked_twice(serve: Serve, explore: Explorer) -> None:
    server = serve()
    # What the first solves would be an example for the second, and so another prompt.
    words = ("--cache", "--json", "--set", "memory=false")
    first = explore(server, *words)
    calls = len(server.chat_requests)
    second = explore(server, *words)

    assert len(server.chat_requests) == calls
    assert second.json["solution"] == first.json["solution"]
    assert second.json["usage_of_this_run"]["calls"] == 0
