"""ToolCoder: searches in the text that a model writes, answered as it writes, and gone at the end.

Its texts are scripted piece by piece: the server stops each where the request says.
"""

from __future__ import annotations

import ast
import json
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from exploracoder.engine.reading.syntax import tree
from exploracoder.errors import SetupError
from exploracoder.methods import toolcoder
from exploracoder.models import local
from exploracoder.models.chat import Reply, Sampling
from exploracoder.models.model_cost import Usage
from exploracoder.models.model_functions import MAX_CALLS
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.state import Attempt, Search
from exploracoder.testing import Call, Outcome, ScriptedModelServer
from exploracoder.toolcoder import calls
from exploracoder.toolcoder.cards import card, with_cards
from exploracoder.toolcoder.decoding import Decoder
from exploracoder.toolcoder.spelling import as_written
from exploracoder_kernel.observation import Observation
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import EmbeddingError

from .conftest import Command, Explorer, Serve
from .scripted import CONTEXT, SOLUTION, TeaModel, Writer, fenced

HEAD = "import tealeaf\n\ndef strong_names(text):\n    leaves = "
OPENED = f"{HEAD}<API>APISearch(read leaves out of a text)->tealeaf.guessed</API>"
ASKED = "read leaves out of a text)->tealeaf.guessed"
REST = SOLUTION.removeprefix(HEAD) + "\n```\n\nTask: Brew a pot."
CORPUS = "import json\n\ndef read(text):\n    found = json.loads(text)\n    return found\n"
PIECES = (OPENED, ASKED, REST)
COUNTED: dict[str, Any] = {"usage": Usage(), "model": "scripted"}


def prompts(server: ScriptedModelServer) -> list[str]:
    return [str(one.body["prompt"]) for one in server.chat_requests if one.is_text]


def searches(explore: Explorer) -> tuple[Search, ...]:
    solution = explore.exploration.solution
    assert solution is not None
    return solution.final.searches


def test_a_search_is_answered_where_it_is_opened_and_leaves_no_trace_in_the_code(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(Writer(PIECES))
    result = explore(server, "--method", "toolcoder", "--json")

    first, second, third = prompts(server)
    (search,) = searches(explore)
    assert result.json["status"] == "solved"
    assert result.json["solution"] == SOLUTION
    assert (search.line, search.query) == (4, "read leaves out of a text")
    assert search.answer.startswith("tealeaf.read_leaves(")
    assert second == f"{first}{HEAD}<API>APISearch("
    assert third == f"{second}read leaves out of a text)->{search.answer}</API>"
    assert explore.exploration.usage.calls == 3


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (" ".join(["never"] * 500), "never closed"),
        ("read\nleaves)->", "never closed"),
        ("read <API>APISearch(leaves)->x</API>)->y", "another was opened in it"),
        (")->tealeaf.read", "empty"),
        ("' ')->", "empty"),
        ("a" * 10_000 + ")->", "10,000 characters"),
        ("", "never closed"),
    ],
)
async def test_a_search_that_comes_to_nothing_is_gone_on_without(
    serve: Serve, asked: str, said: str
) -> None:
    server = serve(Writer((OPENED, asked, REST)))

    async def find(query: str, so_far: str) -> str:
        raise AssertionError(f"{query} was searched for")

    async with OpenAIChatModel(server.base_url, "", server.model) as model:

        async def ask(prompt: str, tokens: int, stops: Sequence[str]) -> Reply:
            return await model.continue_text(prompt, Sampling(max_tokens=tokens, stop=tuple(stops)))

        decoding = await Decoder(ask, find, max_tokens=400, ends=("```",)).run("Code:\n")

    (search,) = decoding.searches
    assert decoding.text == SOLUTION + "\n"
    assert (search.offset, search.answer) == (len(HEAD), "")
    assert said in search.note
    assert prompts(server)[2] == f"Code:\n{HEAD}"


def test_searches_are_shown_at_their_place(serve: Serve, explore: Explorer) -> None:
    result = explore(serve(Writer(PIECES)), "--method", "toolcoder")

    (search,) = searches(explore)
    lines = result.out.splitlines()
    place = lines.index(f"    # searched 'read leaves out of a text': {search.answer}")
    notebook = json.loads(explore.notebook.read_text(encoding="utf-8"))
    verdict = next(cell for cell in notebook["cells"] if cell["id"] == "solution-verdict")
    solution = next(cell for cell in notebook["cells"] if cell["id"] == "solution")
    assert lines[place + 1] == SOLUTION.splitlines()[3]
    assert "line 4: *read leaves out of a text* →" in "".join(verdict["source"])
    assert "".join(solution["source"]) == SOLUTION


@pytest.mark.parametrize(
    ("code", "line", "place"),
    [
        ("text = '''\nassam 5\n'''", 2, 0),
        ("total = 1 + \\\n    2", 2, 0),
        ("def brew():\n    pot = '''\n    '''\n    return pot", 3, 1),
        ("@cached(\n    1)\ndef brew(\n    leaf):\n    return 1", 4, 0),
        ("for leaf in ():\n    pass\nelse:\n    brew()", 4, 3),
        ("not Python (\n1", 2, 1),
    ],
)
def test_a_search_is_shown_above_the_statement_that_it_was_for(
    code: str, line: int, place: int
) -> None:
    search = Search(line=line, query="leaves", answer="tea.read")
    attempt = Attempt(code=code, observation=Observation(status="ok"), searches=(search,))
    lines = with_cards(attempt).split("\n")

    assert lines.pop(place).strip() == f"# {card(search)}"
    assert "\n".join(lines) == code
    assert ast.dump(tree(with_cards(attempt))) == ast.dump(tree(code))


@pytest.mark.parametrize("code", ["pot = '''\n'''; brew()", "with tea('''\n''') as pot: brew()"])
def test_where_a_search_would_end_up_in_a_string_it_is_shown_at_the_top(code: str) -> None:
    search = Search(line=2, query="leaves", answer="tea.read")
    attempt = Attempt(code=code, observation=Observation(status="ok"), searches=(search,))

    assert with_cards(attempt) == f"# {card(search)}\n{code}"


def test_lines_that_are_left_out_shift_the_searches(serve: Serve, explore: Explorer) -> None:
    words = explore.files(context=f"import tealeaf\n{CONTEXT}")
    server = serve(Writer(PIECES))
    explore.run(*explore.words(server, *words, "--method", "toolcoder"))
    (search,) = searches(explore)
    solution = explore.exploration.solution

    assert solution is not None
    assert not solution.final.code.startswith("import")
    assert search.line is not None
    assert "leaves = " in solution.final.code.splitlines()[search.line - 1]


def test_a_search_that_takes_too_long_is_gone_on_without(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolcoder, "_SEARCH_SECONDS", 0.0001)
    server = serve(Writer(PIECES))
    result = explore(server, "--method", "toolcoder", "--json")

    (search,) = searches(explore)
    assert result.json["solution"] == SOLUTION
    assert "did not end within 0.0001 s" in search.note


def test_a_search_that_hangs_keeps_neither_the_exploration_nor_the_command(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert explore.run("index", "tealeaf/").code == 0
    release, has_ended = threading.Event(), threading.Event()

    def hang(embedder: MiniLmEmbedder, texts: Sequence[str]) -> Any:
        release.wait(60)
        has_ended.set()
        raise EmbeddingError("The embedder was away.")

    monkeypatch.setattr(MiniLmEmbedder, "embed", hang)
    monkeypatch.setattr(toolcoder, "_SEARCH_SECONDS", 0.2)
    server = serve(Writer((OPENED, "a query that nobody else has)->", REST)))
    result = explore(server, "--method", "toolcoder", "--json")
    goes_on = not has_ended.is_set()
    release.set()

    (search,) = searches(explore)
    assert goes_on
    assert result.json["solution"] == SOLUTION
    assert "did not end within 0.2 s" in search.note
    assert has_ended.wait(10)


def test_no_more_than_five_searches_are_made(serve: Serve, explore: Explorer) -> None:
    one = "    # <API>APISearch(pour)->tealeaf.pour</API>\n"
    pieces = ["def strong_names(text):\n" + one, "pour)->", *["\n" + one, "pour)->"] * 4]
    rest = "\n" + one * 45 + '    return ["assam", "oolong"]\n```'
    server = serve(Writer((*pieces, rest)))
    result = explore(server, "--method", "toolcoder", "--json")

    all_searches = searches(explore)
    assert result.json["status"] == "solved"
    assert "API" not in result.json["solution"]
    assert len(prompts(server)) == 11
    assert [bool(search.answer) for search in all_searches] == [True] * 5 + [False]
    assert "45 more searches" in all_searches[-1].note


def test_a_server_that_knows_no_stops_is_cut_here(serve: Serve, explore: Explorer) -> None:
    server = serve(Writer((OPENED, ASKED, REST)), most_stops=0)
    result = explore(server, "--method", "toolcoder", "--json")

    (search,) = searches(explore)
    assert result.json["solution"] == SOLUTION
    assert search.query == "read leaves out of a text"
    assert all("stop" not in one.body for one in server.chat_requests[1:])


@pytest.mark.parametrize("report_usage", [True, False])
def test_what_a_server_writes_beyond_its_end_is_not_charged(
    serve: Serve, explore: Explorer, report_usage: bool
) -> None:
    beyond = " and more" * 2000
    pieces = [piece + beyond for piece in PIECES]
    server = serve(Writer(pieces), most_stops=0, report_usage=report_usage)
    result = explore(server, "--method", "toolcoder", "--json")

    (search,) = searches(explore)
    assert result.json["solution"] == SOLUTION
    assert search.answer.startswith("tealeaf.read_leaves(")


def test_a_server_that_takes_four_stops_is_never_sent_more(serve: Serve, explore: Explorer) -> None:
    server = serve(Writer(PIECES), most_stops=4)
    result = explore(server, "--method", "toolcoder", "--json")

    texts = [one.body for one in server.chat_requests if one.is_text]
    assert result.json["solution"] == SOLUTION
    assert len(texts) == 3
    assert all(0 < len(one["stop"]) <= 4 for one in texts)


async def test_of_many_ends_a_server_is_sent_four_strings_and_the_rest_is_cut_here() -> None:
    stop_lists: list[Sequence[str]] = []

    async def ask(prompt: str, tokens: int, stops: Sequence[str]) -> Reply:
        stop_lists.append(stops)
        return Reply(texts=("a = 1\nE and more",), finish_reasons=("length",), **COUNTED)

    async def find(query: str, so_far: str) -> str:
        raise AssertionError(f"{query} was searched for")

    decoding = await Decoder(ask, find, max_tokens=9, ends=tuple("ABCDE")).run("Code:\n")

    assert decoding.text == "a = 1\n"
    assert [len(stops) for stops in stop_lists] == [4]


async def test_a_model_that_only_searches_ends_however_little_is_charged() -> None:
    prompts: list[str] = []

    async def ask(prompt: str, tokens: int, stops: Sequence[str]) -> Reply:
        prompts.append(prompt)
        text = "a)->b" if prompt.endswith(calls.NAME) else calls.OPEN + calls.NAME
        return Reply(texts=(text + "!" * 9000,), finish_reasons=("length",), **COUNTED)

    async def find(query: str, so_far: str) -> str:
        return "b"

    decoding = await Decoder(ask, find, max_tokens=10**6, ends=("```",)).run("Code:\n")

    assert len(prompts) == 2 * MAX_CALLS + 1
    assert len(decoding.searches) == MAX_CALLS


def test_without_the_tool_the_model_answers_itself(serve: Serve, explore: Explorer) -> None:
    server = serve(Writer((OPENED + REST,)))
    result = explore(server, "--method", "toolcoder-no-tool", "--json")

    assert result.json["solution"] == SOLUTION
    assert len(prompts(server)) == 1
    assert searches(explore) == ()


def test_without_queries_the_task_is_searched_for(serve: Serve, explore: Explorer) -> None:
    server = serve(Writer((OPENED, REST)))
    result = explore(server, "--method", "toolcoder-no-query", "--json")

    (search,) = searches(explore)
    assert result.json["solution"] == SOLUTION
    assert search.query == explore.exploration.task.text
    assert "APISearch()->statistics.mean" in prompts(server)[0]
    assert prompts(server)[1].endswith(f"<API>APISearch()->{search.answer}</API>")


def test_where_there_are_only_conversations_the_search_is_a_function(
    serve: Serve, explore: Explorer
) -> None:
    replies: list[Outcome] = [Call("APISearch", json.dumps({"query": "read leaves"}))]
    server = serve(TeaModel(solutions=[*replies, fenced(SOLUTION)]), refuse_texts=True)
    result = explore(server, "--method", "toolcoder", "--json")

    (search,) = searches(explore)
    tool_lists = [one.body.get("tools") for one in server.chat_requests if not one.is_text]
    assert result.json["status"] == "solved"
    assert (search.line, search.query) == (None, "read leaves")
    assert "tealeaf.read_leaves" in search.answer
    assert tool_lists[0][0]["function"]["name"] == "APISearch"


def test_a_server_without_texts_is_named_when_texts_are_wanted(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(), refuse_texts=True)
    result = explore(server, "--method", "toolcoder", "--set", "search-calls=text")

    assert result.code == 2
    assert "search-calls=functions" in result.err


@pytest.mark.parametrize(
    "words",
    [
        ["explore", "Brew it.", "-l", "tealeaf/", "--model", "embedded", "--output", "tea.ipynb"],
        ["model", "serve"],
        ["annotate", "pot.py", "--model", "embedded", "--output", "text.jsonl"],
    ],
)
def test_an_adapter_comes_to_the_embedded_model(
    command: Command,
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
) -> None:
    shutil.copytree(library / "tealeaf", tmp_path / "tealeaf")
    (tmp_path / "pot.py").write_text(CORPUS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    adapter = tmp_path / "adapter.gguf"
    adapters: list[object] = []

    class Noted:
        def __init__(self, **options: object) -> None:
            adapters.append(options["lora"])

        async def __aenter__(self) -> None:
            raise SetupError("There is no model here.")

        async def __aexit__(self, *problem: object) -> None:
            """Never opened."""

    monkeypatch.setattr(local, "EmbeddedModel", Noted)
    result = command(*words, "--lora", adapter)

    assert (result.code, adapters) == (2, [adapter])
    assert "There is no model here." in result.err


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a = <API>APISearch(sum)->np.sum</API>np.sum(b)", "a = np.sum(b)"),
        ("# <API>APISearch(sum)->f() -> int</API>\nf()", "f()"),
        ("    # sums <API>APISearch(x)->y</API>", "    # sums "),
        ("a = <API>APISearch(sum)->np.sum(b)\nc", "a = \nc"),
        ("a = 1 </API>", "a = 1 "),
        ("#\na = 1", "#\na = 1"),
    ],
)
def test_searches_are_taken_out_of_code_and_nothing_else_is(text: str, code: str) -> None:
    assert calls.without_calls(text) == code


def test_what_is_put_into_a_search_stays_in_it() -> None:
    text = calls.written("sum\nof", "f(a)->b</API>\nevil() <API>")

    (call,) = calls.whole_calls(f"x{text}y")
    assert (call.query, call.answer) == ("sum of", "f(a)->b evil()")
    assert calls.without_calls(f"x{text}y") == "xy"


@pytest.mark.parametrize(
    ("path", "kind", "aliases", "code", "written"),
    [
        ("numpy.sum", "function", (), "import numpy as np\nx = ", "np.sum(a, b)"),
        ("numpy.sum", "function", (), "import numpy\nx = ", "numpy.sum(a, b)"),
        ("numpy.sum", "function", (), "from numpy import sum as add\n", "add(a, b)"),
        (
            "numpy.linalg.inv",
            "function",
            (),
            "import numpy.linalg as la",
            "la.inv(a, b)",
        ),
        ("numpy.sum", "function", (), "import pandas as pd\nif x:\n", "numpy.sum(a, b)"),
        ("tea.pots.Pot", "class", ("tea.Pot",), "from tea import Pot\n", "Pot(a, b)"),
        ("tea.Pot.pour", "method", (), "import tea\n", ".pour(a, b)"),
        ("tea.Pourer", "class", (".pour",), "import tea\n", ".pour(a, b)"),
        (
            "numpy.sum",
            "function",
            (),
            "import numpy as\n import numpy as np # x",
            "np.sum(a, b)",
        ),
        (
            "numpy.linalg.inv",
            "function",
            (),
            "from numpy.linalg import (\n    det,  # first\n    inv,\n)\n",
            "inv(a, b)",
        ),
        ("numpy.sum", "function", (), "from numpy import \\\n    sum as add\n", "add(a, b)"),
        ("numpy.sum", "function", (), "import numpy as np\nfrom numpy import (", "np.sum(a, b)"),
    ],
)
def test_an_answer_is_written_as_the_code_would_write_it(
    path: str, kind: Any, aliases: tuple[str, ...], code: str, written: str
) -> None:
    signature = f"{path}(a, b)"
    doc = ApiDoc(path=path, kind=kind, library="tea", signature=signature, aliases=aliases)

    assert as_written(doc, code) == written


def test_without_queries_a_search_has_its_form_and_its_answer() -> None:
    text = f"a = {calls.written('sum of', 'np.sum')}np.sum(b)\n# <API>APISearch(never closed"

    bare = calls.without_queries(text)

    assert bare == "a = <API>APISearch()->np.sum</API>np.sum(b)\n# <API>APISearch(never closed"
    assert [call.query for call in calls.whole_calls(bare)] == [""]
