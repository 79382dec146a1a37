"""Functions that the model may call: when they are offered, what they answer, what stays here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from exploracoder import document
from exploracoder.engine.knowing import lookup
from exploracoder.prepare import make_exploration
from exploracoder.tasks import make_task
from exploracoder.testing import Call, RecordedRequest
from exploracoder.testing import Outcome as Said
from exploracoder_retrieval.errors import QueryRefused

from tests.retrieval.search_engine import Answers, SearchEngine

from .conftest import Command, Explorer, Serve
from .scripted import KEEP, READ, TeaModel, fenced, kind_of

# With a model that is lost: each step is explored, with one draft.
EXPLORING = ("looks=0", "candidates=1")
BROKEN = "kept = leaves.strain(3)"
ALL = {"find_apis", "read_doc", "read_source", "try_code"}


def call(function: str, /, **arguments: str) -> Call:
    return Call(function, json.dumps(arguments))


def look_up(query: str) -> Call:
    return call("find_apis", query=query)


def offered(requests: Sequence[RecordedRequest]) -> set[str]:
    """The kinds of questions with which the functions were offered: all or none of them."""
    tools = {kind_of(request): request.body["tools"] for request in requests if _has(request)}
    assert all({one["function"]["name"] for one in some} == ALL for some in tools.values())
    return set(tools)


def _has(request: RecordedRequest) -> bool:
    return "tools" in request.body


def answered(requests: Sequence[RecordedRequest]) -> list[str]:
    """What the functions answered, each once."""
    turns = [turn for request in requests for turn in request.body["messages"]]
    return list(dict.fromkeys(turn["content"] for turn in turns if turn["role"] == "tool"))


def settings(*assignments: str) -> list[str]:
    return [word for one in assignments for word in ("--set", one)]


def test_they_are_offered_where_a_step_is_explored(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(is_lost=True, drafts={2: [fenced(BROKEN)]}))

    explore(server, *settings("looks=1", "candidates=1", "repair-names=false"))

    assert {"write", "look", "solution"} <= {kind_of(one) for one in server.chat_requests}
    assert offered(server.chat_requests) == {"draft", "debug"}


def test_they_are_not_offered_when_they_are_switched_off(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(is_lost=True))

    explore(server, *settings(*EXPLORING, "functions=off"))

    assert "draft" in {kind_of(one) for one in server.chat_requests}
    assert offered(server.chat_requests) == set()


def test_they_are_offered_for_repairs_and_answer_from_the_docs(
    serve: Serve, explore: Explorer
) -> None:
    repairs: list[Said] = [look_up("keep some leaves"), fenced(KEEP)]
    model = TeaModel(is_lost=True, drafts={2: [fenced(BROKEN)]}, debugs={2: repairs})
    server = serve(model)

    assignments = ("functions=repairs", "repair-names=false")
    outcome = explore(server, *settings(*EXPLORING, *assignments))

    assert outcome.code == 0
    assert offered(server.chat_requests) == {"debug"}
    (reply,) = answered(server.chat_requests)
    assert "keep" in reply


def test_docs_and_source_are_read_by_any_name_that_is_known(
    serve: Serve, explore: Explorer
) -> None:
    drafts: list[Said] = [
        call("read_doc", name="tealeaf.read_leaves"),
        call("read_doc", name="`Kettle.pour()`"),
        call("read_source", name="keep"),
        call("read_source", name="teapot"),
        call("read_doc", name=""),
        fenced(READ),
    ]
    server = serve(TeaModel(is_lost=True, drafts={1: drafts}))
    outcome = explore(server, *settings(*EXPLORING))

    leaves, pour, keep, nowhere, nothing = answered(server.chat_requests)
    assert outcome.code == 0
    assert "Read leaves from text such as" in leaves
    assert "say what is in the cup" in pour
    assert "return Flow(item for item in self._source if wanted(item))" in keep
    assert nowhere == "There is no source of teapot."
    assert nothing.startswith("There is no documentation of")


def test_what_is_tried_out_sees_the_notebook_and_leaves_it_alone(
    serve: Serve, explore: Explorer
) -> None:
    drafts: list[Said] = [
        call("try_code", code="print(leaves.pop().name)\nspoilt = True"),
        call("try_code", code="spoilt"),
        fenced(f"{KEEP}\nprint(len(leaves))"),
    ]
    server = serve(TeaModel(is_lost=True, drafts={2: drafts}))
    outcome = explore(server, *settings(*EXPLORING))

    first, second = answered(server.chat_requests)
    candidate = explore.exploration.steps[1].candidate
    assert outcome.code == 0
    assert "oolong" in first
    assert "NameError" in second
    assert candidate is not None
    assert candidate.observation is not None
    assert candidate.observation.stdout == "[5, 4]\n3\n"


def test_the_web_is_asked_only_for_what_is_nobody_s_data(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "LIMIT_S", 5.0)
    page = ("Steeping", "https://docs.python.org/x", "Call kettle.steep.gently() first.")
    drafts: list[Said] = [
        look_up("something for oolong"),
        look_up("leaves = read(text)"),
        look_up("steep gently"),
        call("try_code", code="print('nomannic'[::-1])"),
        look_up("something for cinnamon"),
        fenced(READ),
    ]
    answers = Answers(results=[page])
    with SearchEngine(answers) as engine:
        server = serve(TeaModel(is_lost=True, drafts={1: drafts}))
        words = settings(*EXPLORING, f"web-search={engine.url}")
        outcome = explore(server, *words)

    replies = answered(server.chat_requests)
    assert outcome.code == 0
    assert [query.partition(" (site:")[0] for query in answers.asked] == ["steep gently"]
    assert "words of the user's data" in replies[0]
    assert "looks like code" in replies[1]
    assert "- kettle.steep.gently (https://docs.python.org/x)" in replies[2]
    assert "words of the user's data" in replies[4]


@pytest.mark.parametrize(
    "code",
    [
        "'oolong'",
        '"""leaves:\noolong\n"""',
        "'it\\'s oolong'",
        'f"""{text}\noolong"""',
        "b'oolong'",
        "text = 'oolong'\nnames =",
        "x = 1  # the customer 'oolong'",
        '%matplotlib inline\ntext = """\noolong\n"""',
    ],
)
def test_the_words_of_all_strings_in_the_user_s_code_are_withheld(code: str) -> None:
    task = SimpleNamespace(context=code, check="", stub="")
    exploration = SimpleNamespace(task=task, trace=())
    libraries = SimpleNamespace(words="tealeaf", known=SimpleNamespace(docs=()))
    bench: Any = SimpleNamespace(exploration=exploration, libraries=libraries)

    with pytest.raises(QueryRefused, match="user's data"):
        lookup._guard(bench, (), ()).check("something for oolong")


def test_a_notebook_cannot_switch_the_web_on(tmp_path: Path) -> None:
    task = make_task("Steep.", libraries=["tealeaf"])
    options = {"web_search": "http://127.0.0.1:9", "functions": "repairs"}
    exploration = make_exploration(task, settings=options, is_embedded=False)
    document.save(tmp_path / "tea.ipynb", exploration)

    copy = document.load(tmp_path / "tea.ipynb")

    assert (exploration.settings.web_search, copy.settings.web_search) == (
        "http://127.0.0.1:9",
        "off",
    )
    assert copy.settings.functions == "repairs"


def test_an_engine_that_cannot_be_had_is_said_before_anything_starts(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel())

    outcome = explore(server, *settings("web-search=altavista"))

    assert outcome.code == 2
    assert "web_search" in outcome.err
    assert server.chat_requests == []


def test_the_command_searches_docs_and_web(command: Command, library: Any) -> None:
    page = ("Steeping", "https://docs.python.org/x", "Call kettle.steep.gently() first.")
    with SearchEngine(Answers(results=[page])) as engine:
        web = ["--web", "--engine", engine.url, "--seconds", "5"]
        both = command("apisearch", "keep leaves", "-l", library, "--json", *web)
        alone = command("apisearch", "steep", *web)

    apis = both.json["apis"]
    assert (both.code, alone.code) == (0, 0)
    assert {api["source"] for api in apis} == {"documentation", "web"}
    assert apis[-1]["name"] == "kettle.steep.gently"
    assert alone.out == "kettle.steep.gently  https://docs.python.org/x\n"


def test_the_command_says_what_it_did_not_send(command: Command) -> None:
    outcome = command("apisearch", "x = 1", "--web", "--engine", "http://127.0.0.1:9")

    assert outcome.code == 1
    assert "looks like code and was not sent" in outcome.err


def test_the_command_refuses_bad_input(command: Command) -> None:
    nowhere = command("apisearch", "steep")
    empty = command("apisearch", " ", "--web", "--engine", "http://127.0.0.1:9")
    unknown = command("apisearch", "steep", "--web", "--engine", "altavista")

    assert [one.code for one in (nowhere, empty, unknown)] == [2, 2, 2]
    assert "--library NAME, --web, or both" in nowhere.err
    assert "The query is empty" in empty.err
    assert "web_search" in unknown.err
