"""Training text: which searches are put where, what the filters drop, and going on after a kill."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from exploracoder.testing import Delay, RecordedRequest, ScriptedModelServer
from exploracoder.toolcoder import calls
from exploracoder_bench.toolcoder.corpus import Function, SkippedFile, read_corpus
from exploracoder_bench.toolcoder.search_rules import query_fault
from exploration.conftest import Command, Outcome, Serve, model_words, start_command

TOTAL = '''\
def total(text):
    """Add up the numbers in a text."""
    numbers = np.array([float(word) for word in text.split()])
    return np.sum(numbers) + json.loads("0")
'''
MODULE = f'''\
import json

import numpy as np
from .kettle import heat


{TOTAL}

class Pot:
    @staticmethod
    def pour(liters):
        """Pour, at most so many liters."""
        heat(liters)
        return f"{{np.round(liters)}}" + "Tä" + str(np.clip(liters, 0, 2))


def short():
    return np.sum([1])


def own(liters):
    warm = heat(liters)
    return warm
'''


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "teapot"
    (folder / "inner").mkdir(parents=True)
    (folder / "pot.py").write_text(MODULE, encoding="utf-8")
    (folder / "copy.py").write_text(MODULE, encoding="utf-8")
    (folder / "inner" / "broken.py").write_text("def broken(:\n", encoding="utf-8")
    (folder / "latin.py").write_bytes(b"# \xe4\n")
    (folder / "nul.py").write_bytes(b"a = 1\0\n")
    return folder


def listed(request: RecordedRequest) -> dict[str, int]:
    """The calls that were shown to the model, with their numbers."""
    matches = re.findall(r"^(\d+)\. line \d+: (\S+)$", request.last_user_message, re.MULTILINE)
    return {path: int(number) for number, path in matches}


def answer(request: RecordedRequest, queries: dict[str, str]) -> str:
    numbers = listed(request)
    searches = [
        {"number": numbers[path], "query": queries[path]} for path in queries if path in numbers
    ]
    return json.dumps({"searches": searches})


ODD = '''\
def total(numbers):
    """Add up {odd} all."""
    kind = "{odd}"
    # {odd} All of them, or
    # none.
    return np.sum(numbers)'''

QUERIES = {
    "numpy.sum": "add up all numbers",
    "numpy.array": "make an array of numbers",
    "numpy.clip": "keep liters between two limits",
}


def good(request: RecordedRequest) -> str:
    return answer(request, QUERIES)


def annotated(
    command: Command, server: ScriptedModelServer, corpus: Path, output: Path, *more: object
) -> Outcome:
    return command("annotate", corpus, "-o", output, *model_words(server), "--quiet", *more)


def rows(output: Path) -> dict[str, Any]:
    lines = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    return {row["function"]: row for row in lines}


def test_searches_stand_before_their_apis_and_the_code_stays_as_it_was(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "text.jsonl"
    outcome = annotated(command, serve(good), corpus, output, "--json")

    entries = rows(output)
    assert outcome.code == 0
    assert (
        "return <API>APISearch(add up all numbers)->numpy.sum</API>np.sum("
        in (entries["total"]["text"])
    )
    assert (
        '+ "Tä" + str(<API>APISearch(keep liters between two limits)->numpy.clip</API>np.clip('
        in (entries["pour"]["text"])
    )
    assert entries["pour"]["text"].startswith("@staticmethod\ndef pour(")
    assert calls.without_calls(entries["total"]["text"]) == TOTAL.rstrip()
    assert (outcome.json["functions"], outcome.json["kept"]) == (3, 2)
    assert outcome.json["searches_per_text"] == 1.5
    assert outcome.json["libraries"] == {"numpy": 1.0}
    assert outcome.json["words_after"] > outcome.json["words_before"]
    assert entries["own"]["reason"] == "it calls no API of a public library"


def test_the_form_of_an_answer_names_the_calls_that_are_there_and_words_alone(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path
) -> None:
    server = serve(good)
    annotated(command, server, corpus, tmp_path / "text.jsonl")

    request = server.chat_requests[0]
    form = json.dumps(request.body["response_format"])
    numbers = list(range(1, 1 + len(listed(request))))
    words = re.search(r'"pattern": "(.*?)"', form)
    assert f'"enum": {numbers}' in form
    assert words is not None
    assert re.fullmatch(words[1], "keep liters between two limits")
    assert not re.fullmatch(words[1], "numpy.clip of some liters")


def test_files_that_are_broken_are_skipped_with_the_reason(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path
) -> None:
    outcome = annotated(command, serve(good), corpus, tmp_path / "text.jsonl", "--json")

    reasons = {Path(one["file"]).name: one["reason"] for one in outcome.json["skipped_files"]}
    assert reasons.keys() == {"broken.py", "latin.py", "nul.py"}
    assert "not Python" in reasons["broken.py"]
    assert reasons["latin.py"] == "it is not UTF-8"
    assert "Skipped" in outcome.err


@pytest.mark.parametrize("odd", ["\x0c", "\x0b", "\x1c", "\x85", "\u2028"])
def test_only_what_ends_a_line_of_python_ends_a_line(tmp_path: Path, odd: str) -> None:
    text = f"import numpy as np\n\n\x0c\n# {odd}\n\n{ODD.format(odd=odd)}\n\n\ndef last(): pass\n"
    (tmp_path / "odd.py").write_text(text, encoding="utf-8")

    (function,) = read_corpus([tmp_path], max_lines=40)

    assert isinstance(function, Function)
    assert function.code == ODD.format(odd=odd)
    (use,) = function.uses
    assert function.code[use.offset :] == "np.sum(numbers)"
    assert query_fault("boil numbers", use, function) == ""


def test_a_page_break_before_a_function_is_not_part_of_it(tmp_path: Path) -> None:
    pot = "\x0cclass Pot:\n\x0c    def pour(self):\n        a = 1\n        json.loads(a)\n"
    (tmp_path / "page.py").write_text(f"import json\n\n{pot}", encoding="utf-8")

    (function,) = read_corpus([tmp_path], max_lines=40)

    assert isinstance(function, Function)
    assert function.code == "def pour(self):\n    a = 1\n    json.loads(a)"


@pytest.mark.parametrize("source", [".", "pot.py", "inner", "../teapot"])
def test_what_a_package_calls_of_itself_is_not_public(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    code = "from teapot.pot import total\n\n\ndef brew(text):\n    a = 1\n    return total(text)\n"
    for file in ("pot.py", "inner/pot.py"):
        (corpus / file).write_text(code, encoding="utf-8")
    (corpus / "copy.py").unlink()
    for folder in (corpus, corpus / "inner"):
        (folder / "__init__.py").touch()
    monkeypatch.chdir(corpus)

    entries = read_corpus([Path(source)], max_lines=40)

    (function,) = [one for one in entries if isinstance(one, Function)]
    assert [(use.path, use.is_public) for use in function.uses] == [("teapot.pot.total", False)]


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "pot.py").write_text("\ufeff" + MODULE, encoding="utf-8")

    entries = list(read_corpus([tmp_path], max_lines=40))

    assert [one.name for one in entries if isinstance(one, Function)] == ["total", "own", "pour"]


@pytest.mark.parametrize("deep", ["-" * 100_000 + "1", "a" + ".b" * 20_000, "(" * 500 + ")" * 500])
def test_code_that_is_too_deep_is_skipped_and_the_rest_is_read(tmp_path: Path, deep: str) -> None:
    (tmp_path / "deep.py").write_text(f"x = {deep}\n", encoding="utf-8")
    (tmp_path / "pot.py").write_text(MODULE, encoding="utf-8")

    skipped_file, *rest = read_corpus([tmp_path], max_lines=40)

    assert isinstance(skipped_file, SkippedFile)
    assert "too deep" in skipped_file.reason or "not Python" in skipped_file.reason
    assert [one.name for one in rest if isinstance(one, Function)] == ["total", "own", "pour"]


def test_a_function_may_be_deeper_than_python_calls(tmp_path: Path) -> None:
    deep = "np.sum" + "()" * 1500
    text = f"import numpy as np\n\n\ndef deep(liters):\n    a = 1\n    return {deep}\n"
    (tmp_path / "pot.py").write_text(text, encoding="utf-8")

    (function,) = read_corpus([tmp_path], max_lines=40)

    assert isinstance(function, Function)
    assert [use.path for use in function.uses] == ["numpy.sum"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("add <API>APISearch(up)->x</API> numbers", "a search inside a search"),
        ("add numbers " * 30, "a query that is too long"),
        ("np.sum of the numbers", "code in a query"),
        ("sum(numbers)", "code in a query"),
        ("numbers", "a query of less than two words"),
        ("", "a query of less than two words"),
        ("boil some fresh water", "a query that is not about the code"),
    ],
)
def test_a_search_that_is_no_good_is_dropped_and_counted(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path, query: str, why: str
) -> None:
    server = serve(lambda request: answer(request, {**QUERIES, "numpy.sum": query}))
    outcome = annotated(command, server, corpus, tmp_path / "text.jsonl", "--json")

    assert outcome.json["dropped_searches"] == {why: 1}
    assert "add" not in "".join(
        row["query"] for row in rows(tmp_path / "text.jsonl")["total"]["searches"]
    )


def test_a_function_with_too_many_searches_or_none_is_dropped(
    serve: Serve, command: Command, tmp_path: Path
) -> None:
    uses = "\n".join(
        f"    os.path.{name}(name)"
        for name in ("join", "split", "isfile", "isdir", "exists", "islink")
    )
    (tmp_path / "many.py").write_text(f"import os\n\ndef look(name):\n{uses}\n", encoding="utf-8")

    def script(request: RecordedRequest) -> str:
        return answer(request, dict.fromkeys(listed(request), "look at the name"))

    outcome = annotated(
        command, serve(script), tmp_path / "many.py", tmp_path / "a.jsonl", "--json"
    )
    none = annotated(
        command, serve('{"searches": []}'), tmp_path / "many.py", tmp_path / "b.jsonl", "--json"
    )

    assert (outcome.code, outcome.json["dropped_functions"]) == (1, {"more than 5 searches": 1})
    assert none.json["dropped_functions"] == {"no search is left": 1}


def test_a_reply_without_form_drops_the_function_alone(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path
) -> None:
    server = serve(lambda request: "Tea!" if "total" in str(request.body) else good(request))
    outcome = annotated(command, server, corpus, tmp_path / "text.jsonl", "--json")

    assert outcome.json["kept"] == 1
    assert outcome.json["dropped_functions"]["the model's answer had no form"] == 1


def test_with_replies_only_no_model_is_asked(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path
) -> None:
    server, output = serve(good), tmp_path / "text.jsonl"

    closed = annotated(
        command, server, corpus, output, "--replies", tmp_path / "replies", "--replies-only"
    )
    unnamed = annotated(command, server, corpus, output, "--replies-only")

    assert (closed.code, unnamed.code) != (0, 0)
    assert "name them with --replies" in unnamed.err
    assert not server.chat_requests


def test_a_killed_run_goes_on_and_asks_for_nothing_twice(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "text.jsonl"
    server = serve(lambda request: good(request) if "total" in str(request.body) else Delay(60, ""))
    words = ["annotate", corpus, "-o", output, *model_words(server)]
    process = start_command(words, tmp_path)
    try:
        server.wait_for_requests(2, 60)
    finally:
        process.kill()
        process.communicate()
    with output.open("a", encoding="utf-8") as file:
        file.write('{"id": "half a li')
    again = serve(good)
    outcome = annotated(command, again, corpus, output, "--json")

    assert len(again.chat_requests) == 1
    assert rows(output).keys() == {"total", "pour", "own"}
    assert outcome.json["kept"] == 2


def test_without_a_source_the_file_is_described(
    serve: Serve, command: Command, corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "text.jsonl"
    annotated(command, serve(good), corpus, output)
    outcome = command("annotate", "-o", output)

    assert outcome.code == 0
    assert "2 texts of 3 functions" in outcome.out
    assert "numpy 100%" in outcome.out


@pytest.mark.parametrize("content", ["not JSON\n", '{"a": 1}\n', "\x00\xff\n"])
def test_a_file_of_something_else_is_left_alone(
    command: Command, corpus: Path, tmp_path: Path, content: str
) -> None:
    output = tmp_path / "text.jsonl"
    output.write_text(content, encoding="utf-8")
    outcome = command("annotate", corpus, "-o", output)

    assert outcome.code == 2
    assert "no training text" in outcome.err
    assert output.read_text(encoding="utf-8") == content


def test_a_source_that_is_not_there_is_named(command: Command, tmp_path: Path) -> None:
    gone = command("annotate", tmp_path / "gone", "-o", tmp_path / "text.jsonl")
    unknown = command("annotate", "no_such_library", "-o", tmp_path / "text.jsonl")

    assert (gone.code, unknown.code) == (2, 2)
    assert "gone" in gone.err
    assert "no_such_library" in unknown.err
