"""What others do, to compare with: repeated samples, an agent, the whole documentation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from exploracoder.engine.exploring.functions import NameArgument
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import BudgetError
from exploracoder.methods import one_shot
from exploracoder.methods.action_text import action_in
from exploracoder.models.model_functions import Tool
from exploracoder.state import Attempt
from exploracoder.testing import Call, Failure, Outcome, RecordedRequest, Rule, ScriptedModelServer

from .conftest import Explorer, Serve
from .scripted import SOLUTION, WRONG_SOLUTION, TeaModel, fenced, kinds_asked, whole_text

RIGHT, WRONG = fenced(SOLUTION), fenced(WRONG_SOLUTION)
OTHER = fenced(SOLUTION.replace("tealeaf.Flow(leaves)", "tealeaf.Flow(list(leaves))"))
# With it a text can be called without asking the model for values.
TASK = "def strong_names(text='assam 5; sencha 4'):\n    '''Name the leaves above strength 3.'''\n"


def act(tool: str, argument: str, then: str = "") -> str:
    """An action as a model without functions writes it."""
    return f"Thought: I have to know.\nAction: {tool}\nAction Input: {argument}\n{then}"


def answered(code: str) -> str:
    return f"Thought: That is right.\nFinal Answer:\n{code}"


def attempts(explore: Explorer) -> Sequence[Attempt]:
    solution = explore.exploration.solution
    assert solution is not None
    return solution.attempts


def observed(request: RecordedRequest) -> str:
    return str(request.body["messages"][-1]["content"])


def agent(serve: Serve, *outcomes: Outcome, **options: bool) -> ScriptedModelServer:
    return serve([Rule("", *outcomes)], **options)


def test_best_of_n_asks_the_same_again_until_a_text_passes(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[WRONG, "I am not sure.", RIGHT, WRONG]))
    outcome = explore(server, "--method", "best-of-n", "--set", "solution-attempts=4", "--json")
    prompts = {whole_text(request) for request in server.chat_requests}

    assert outcome.json["status"] == "solved"
    assert len(server.chat_requests) == 3
    assert len(prompts) == 1
    assert len({request.body["seed"] for request in server.chat_requests}) == 3
    assert [one.checks for one in attempts(explore)] == ["failed", "passed"]


def test_best_of_n_asks_three_times_unless_told_otherwise(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[WRONG]))
    outcome = explore(server, "--method", "best-of-n", "--json")

    assert outcome.json["status"] == "failed"
    assert kinds_asked(server) == ["solution"] * 3


def test_best_of_n_goes_on_as_long_as_there_are_tokens(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[WRONG]))
    words = ("--method", "best-of-n", "--set")
    explore(server, *words, "solution-attempts=1")
    one = explore.exploration.usage.total_tokens
    start = len(server.chat_requests)
    explore(server, *words, f"sample-tokens={4 * one + 1}")

    assert len(server.chat_requests) - start == 5


def test_best_of_n_takes_what_most_texts_give_when_there_is_no_check(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(solutions=[WRONG, RIGHT, "1 / 0", OTHER]))
    words = explore.words(server, *explore.files(None), "--entry-point", "strong_names", task=TASK)
    outcome = explore.run(*words, "--method", "best-of-n", "--set", "solution-attempts=4", "--json")

    assert outcome.json["status"] == "unverified"
    assert "Flow(leaves).keep(lambda leaf: leaf.strength > 3)" in outcome.json["solution"]
    assert kinds_asked(server) == ["solution"] * 4


def test_best_of_n_takes_the_first_good_text_when_no_result_can_be_compared(
    serve: Serve, explore: Explorer
) -> None:
    head = TASK.splitlines()[0]
    texts = ["1 / 0", *(f"{head}\n    return {names}" for names in ([], [1]))]
    server = serve(TeaModel(solutions=[*map(fenced, texts)]))
    words = explore.words(server, *explore.files(None), "--entry-point", "strong_names", task=TASK)
    outcome = explore.run(*words, "--method", "best-of-n", "--json")

    assert len(attempts(explore)) == 3
    assert outcome.json["solution"] == texts[1]


def test_a_limit_in_the_middle_does_not_lose_best_of_n_its_vote(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sample(bench: Workbench, messages: Any, number: int) -> Attempt:
        if number == 3:
            raise BudgetError("The limit was reached.")
        return await one_shot.sample(bench, messages, number)

    monkeypatch.setattr("exploracoder.methods.best_of_n.sample", sample)
    server = serve(TeaModel(solutions=[RIGHT, OTHER, WRONG]))
    words = explore.words(server, *explore.files(None), "--entry-point", "strong_names", task=TASK)
    outcome = explore.run(*words, "--method", "best-of-n", "--set", "solution-attempts=4", "--json")

    assert outcome.json["status"] == "unverified"
    assert outcome.json["reason"] == "The limit was reached."
    assert "> 3" in outcome.json["solution"]


def test_whole_docs_shows_every_doc_in_full_and_in_order(serve: Serve, explore: Explorer) -> None:
    server = serve()
    explore(server, "--method", "whole-docs")
    prompt = server.chat_requests[0].last_user_message
    solution = explore.exploration.solution

    assert solution is not None
    assert len(solution.apis) == explore.exploration.libraries[0].apis
    assert list(solution.apis) == sorted(solution.apis)
    assert "say what is in the cup" in prompt
    assert "did not fit" not in prompt


def test_whole_docs_says_what_it_leaves_out_for_a_model_that_takes_less(
    serve: Serve, explore: Explorer
) -> None:
    too_long = Failure(400, "too long", details={"code": "context_length_exceeded"})
    server = serve(first=[too_long] * 3)
    outcome = explore(server, "--method", "whole-docs", "--json")
    sizes = [len(request.last_user_message) for request in server.chat_requests]
    exploration = explore.exploration

    assert outcome.json["status"] == "solved"
    assert sizes == sorted(set(sizes), reverse=True)
    assert exploration.usage.calls == 1
    assert exploration.solution is not None
    left_out = exploration.libraries[0].apis - len(exploration.solution.apis)
    prompt = server.chat_requests[-1].last_user_message
    assert f"{left_out} more APIs of tealeaf did not fit" in prompt


def test_an_agent_calls_functions_sees_what_they_say_and_answers(
    serve: Serve, explore: Explorer
) -> None:
    server = agent(
        serve,
        Call("find_apis", json.dumps({"query": "read leaves"})),
        Call("try_code", json.dumps({"code": "import tealeaf\nprint(tealeaf.read_leaves(text))"})),
        RIGHT,
    )
    outcome = explore(server, "--method", "react", "--json")
    _, apis, output = (observed(request) for request in server.chat_requests)

    assert outcome.json["status"] == "solved"
    assert "read_leaves" in apis
    assert "oolong" in output
    assert explore.exploration.usage.calls == 3
    assert [note.partition("(")[0] for note in attempts(explore)[0].notes] == [
        "find_apis",
        "try_code",
    ]


@pytest.mark.parametrize("is_refused", [True, False])
def test_without_functions_an_agent_acts_in_its_text(
    serve: Serve, explore: Explorer, is_refused: bool
) -> None:
    made_up = "Observation: there is tealeaf.strongest\nFinal Answer: it is easy"
    server = agent(
        serve,
        *(["What functions?"] if is_refused else []),
        act("read_doc", "`tealeaf.read_leaves`", made_up),
        act("try_code", "```python\nimport tealeaf\nprint(tealeaf.read_leaves(text))\n```"),
        act("find_apis[keep some leaves]", ""),
        answered(RIGHT),
        refuse_tools=is_refused,
    )
    options = [] if is_refused else ["--set", "functions=off"]
    outcome = explore(server, "--method", "react", "--json", *options)
    _, read, output, apis = (observed(one) for one in server.chat_requests[-4:])

    assert outcome.json["status"] == "solved"
    assert "Read leaves from text such as" in read
    assert "strongest" not in whole_text(server.chat_requests[-1])
    assert "oolong" in output
    assert "keep" in apis
    assert "tools" not in server.chat_requests[-1].body
    assert server.chat_requests[-1].body["stop"] == ["\nObservation:"]


def test_an_agent_is_told_what_fails_and_when_its_turns_end(
    serve: Serve, explore: Explorer
) -> None:
    server = agent(serve, "Let me think.", answered(WRONG), act("find_apis", "leaves"))
    words = ("--method", "react", "--set", "functions=off", "--set", "turns=4")
    outcome = explore(server, *words, "--json")
    _, nothing, failure, last = (observed(request) for request in server.chat_requests)

    assert outcome.json["status"] == "failed"
    assert "neither an Action" in nothing
    assert "a check of its result failed" in failure
    assert "last turn" not in failure
    assert "last turn" in last
    assert [one.checks for one in attempts(explore)] == ["failed"]


def test_an_agent_that_never_answers_has_no_solution(serve: Serve, explore: Explorer) -> None:
    server = agent(serve, Call("read_doc", json.dumps({"name": "tealeaf.Flow"})))
    outcome = explore(server, "--method", "react", "--set", "turns=3", "--json")

    assert outcome.json["status"] == "failed"
    assert len(server.chat_requests) == 3
    assert ["tools" in one.body for one in server.chat_requests] == [True, True, False]
    assert explore.exploration.solution is None


@pytest.mark.parametrize("method", ["react", "best-of-n"])
def test_a_limit_of_tokens_ends_it_with_what_there_is(
    serve: Serve, explore: Explorer, method: str
) -> None:
    server = serve([Rule("", WRONG)])
    words = ["--set", "solution-attempts=9"] if method == "best-of-n" else []
    outcome = explore(server, "--method", method, *words, "--max-tokens", "900", "--json")

    assert outcome.json["status"] == "failed"
    assert 1 <= len(attempts(explore)) <= len(server.chat_requests) < 9
    assert explore.exploration.usage.total_tokens < 1200


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("**Action:** read_doc\n**Action Input:** `tealeaf.Flow`", "read_doc", "tealeaf.Flow"),
        ('Action: read_doc\nAction Input: {"name": "Flow"}', "read_doc", "Flow"),
        ('Action: read_doc("Flow")\nThought: that will do', "read_doc", "Flow"),
        ("Thought: hm\nAction: read_doc[Flow]", "read_doc", "Flow"),
        ("Action: brew\nAction Input: tea", "brew", None),
        ("Final Answer: 1\nAction: read_doc\nAction Input: Flow", None, None),
        ("I read the docs.", None, None),
    ],
)
def test_an_action_is_read_in_the_forms_in_which_models_write_it(
    text: str, name: str | None, arguments: str | None
) -> None:
    async def act(_: object) -> str:
        raise AssertionError("it is only read")

    action = action_in(text, [Tool("read_doc", "Read.", NameArgument, act)])

    assert (action and action.call.name) == name
    if action is not None:
        assert json.loads(action.call.arguments) == ({"name": arguments} if arguments else {})
        assert "that will do" not in action.text
