"""The share of well-formed searches: which functions are begun, and what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer
from exploracoder_bench.toolcoder.search_calls import Continuation, beginning, main

NAMES = ("brew", "pour", "sip")
CORPUS = "import json\n\n" + "\n\n".join(
    f'def {name}(text):\n    """Read {name}."""\n    return json.loads(text)\n' for name in NAMES
)
GOOD = "<API>APISearch(read a text)->json.loads</API>"


def continued(text: str) -> Continuation:
    return Continuation(function="f", model="m", lora="", prompt="p", text=text)


@pytest.mark.parametrize(
    ("text", "begun", "whole"),
    [
        ("    return 1", 0, 0),
        (f"    return {GOOD}json.loads(text)", 1, 1),
        (f"    a = {GOOD}b({GOOD}c)", 2, 2),
        ("    <API>APISearch(never closed\n    return 1", 1, 0),
        ("    <API>APISearch()->json</API>", 1, 0),
        ("    <API>APISearch('')->json</API>", 1, 0),
        ("    <API>APISearch(no answer)-></API>", 1, 0),
        (f"    <API>APISearch({'a' * 201})->x</API>", 1, 0),
        ("    <API>APISearch(a <API>APISearch(b)->c</API>)->d</API>", 2, 1),
        ("    APISearch(no mark)->x", 1, 0),
    ],
)
def test_a_search_counts_as_well_formed_only_with_all_of_its_form(
    text: str, begun: int, whole: int
) -> None:
    one = continued(text)

    assert (one.begun, one.whole) == (begun, whole)


def test_a_function_is_begun_up_to_the_end_of_its_docstring() -> None:
    code = 'def f(x):\n    """Do.\n\n    More.\n    """\n    return x'

    assert beginning(code) == 'def f(x):\n    """Do.\n\n    More.\n    """\n'
    assert beginning("def f(x):\n    y = x\n    return y") == ""
    assert beginning('def f(x):\n    """Only this."""') == ""


def test_the_command_asks_in_both_ways_and_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.py").write_text(CORPUS, encoding="utf-8")

    def answer(request: RecordedRequest) -> Outcome:
        is_asked = "Task:" in str(request.body["prompt"])
        return f"    return {GOOD}json.loads(text)" if is_asked else "    return 1"

    with ScriptedModelServer(answer) as server:
        arguments = [str(tmp_path), "--count", "2", "--out", str(tmp_path / "out.jsonl")]
        arguments += ["--model", server.model, "--base-url", server.base_url]
        first = main(arguments)
        request_count = len(server.chat_requests)
        again = main(arguments)
        new_count = len(server.chat_requests) - request_count

    lines = capsys.readouterr().out.splitlines()
    assert (first, again, request_count, new_count) == (0, 0, 4, 0)
    assert lines[2].startswith("| the code alone | scripted | 2 | 0.0%")
    assert lines[3].startswith("| asked to search | scripted | 2 | 100.0%")
    assert "| 2 | 100.0% [34.2%, 100.0%] |" in lines[3]


def test_too_few_functions_and_a_file_of_something_else_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.py").write_text(CORPUS, encoding="utf-8")
    (tmp_path / "other.jsonl").write_text("{}\n", encoding="utf-8")

    few = main([str(tmp_path / "corpus.py"), "--count", "9", "--out", str(tmp_path / "out.jsonl")])
    other = main(["--out", str(tmp_path / "other.jsonl")])
    missing = main([str(tmp_path), "--unlike", str(tmp_path / "typo.jsonl"), "--out", "out.jsonl"])

    messages = capsys.readouterr().err
    assert (few, other, missing) == (2, 2, 2)
    assert "3 functions" in messages
    assert "There is no file" in messages
