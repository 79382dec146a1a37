"""``exploracoder tools``, and what the engine looks up of a line that failed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from exploracoder.engine.knowing.source_lookup import SourceLookup, names_in_line
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder_kernel.observation import Variable

from .conftest import Command


def test_an_answer_is_text_or_one_json_object(command: Command) -> None:
    words = ("tools", "get_signature", "--root", ".", "--class", "Kettle", "--name", "heat")
    text, data = command(*words), command(*words, "--json")

    assert (text.code, data.code) == (0, 0)
    assert "def heat(self" in text.out
    assert data.json["signatures"][0]["qualname"] == "Kettle.heat"
    assert data.json["skipped"] == []


def test_imports_are_answered_for_a_file_and_for_standard_input(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "code.py").write_text("Kettle()", encoding="utf-8")
    from_file = command("tools", "get_imports", "--root", ".", "--code", tmp_path / "code.py")
    from_input = command("tools", "imports", "--root", ".", "--code", "-", stdin="Kettle()")

    assert "from tealeaf import Kettle" in from_file.out
    assert from_input.out == from_file.out


def test_questions_in_bulk_are_answered_line_by_line(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    rows = [
        {"id": "a", "tool": "get_class_info", "args": {"class_name": "Kettle"}, "root": "tealeaf"},
        {"id": "b", "tool": "get_class_info", "args": {"class_name": "Ketle"}, "root": "tealeaf"},
        {"id": "c", "tool": "get_relevant_code", "args": {}, "root": "tealeaf"},
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    result = command("tools", "--queries", file, "--root", ".", "--json")
    lines = [json.loads(line) for line in result.out.splitlines()]

    assert result.code == 1
    assert lines[0]["id"] == "a"
    assert lines[0]["classes"][0]["qualname"] == "tealeaf.kettle.Kettle"
    assert "The nearest: Kettle" in lines[1]["error"]
    assert "needs query" in lines[2]["error"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name a tool"),
        (("get_clas", "--root", "."), "nearest is get_class_info"),
        (("get_class_info", "--class", "Kettle"), "--root DIR"),
        (("get_class_info", "--root", "."), "needs --class"),
        (("get_class_info", "--root", ".", "--class", "Ketle"), "nearest: Kettle"),
        (("get_class_info", "--root", "nowhere/", "--class", "A"), "no folder 'nowhere/'"),
        (("get_imports", "--root", ".", "--file", "/etc/x.py", "--code", "-"), "not inside"),
        (("get_imports", "--root", ".", "--code", "gone.py"), "gone.py cannot be read"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(
    command: Command, words: tuple[str, ...], said: str
) -> None:
    result = command("tools", *words)

    assert result.code == 2
    assert said in " ".join(result.err.split())
    assert result.out == ""


def test_the_names_in_a_line_are_followed_to_their_imports() -> None:
    code = "from tealeaf import Kettle as K\nfor one in K(2).all(tealeaf.read(x)):\n    K.stop()"
    paths = names_in_line(code, 2, KnownApis(()), ["import tealeaf"])

    assert paths == {"K": "tealeaf.Kettle", "tealeaf.read": "tealeaf.read"}


def test_a_live_variable_in_a_line_stands_for_its_class() -> None:
    kettle = Variable(name="pot", type="tealeaf.kettle.Kettle")
    paths = names_in_line("pot.heats(3)", 1, KnownApis(()), variables=[kettle])

    assert paths == {"pot.heats": "tealeaf.kettle.Kettle.heats"}


def test_a_member_that_is_not_there_is_answered_with_those_that_are(library: Path) -> None:
    lookup = SourceLookup(sys.executable, [library])
    description = lookup.describe("tealeaf.Kettle.heats", with_body=False)

    assert description.startswith("Kettle has no heats. It has: heat")
    assert lookup.describe("tealeaf.Kettle", with_body=False).startswith("class Kettle(")
    assert "def read_leaves(" in lookup.describe("tealeaf.read_leaves", with_body=True)
    assert lookup.describe("tealeaf.no.such.thing", with_body=True) == ""


def test_a_source_comes_with_the_assignments_of_its_module_that_it_reads(tmp_path: Path) -> None:
    (tmp_path / "brewing.py").write_text(
        "BOILING: int = 100; HOT = 80\nUNREAD = 7\nresult = size = 0\n"
        f"LEAVES = (\n    'green',\n    '{'x' * 5000}',\n)\n\n\n"
        "class Pot:\n    def pour(self, size):\n        result = [BOILING - HOT, size]\n"
        "        return result, LEAVES, '''\n'''\n\n"
        "    def lift(self):\n        return self\n"
    )
    lookup = SourceLookup(sys.executable, [tmp_path])

    source = lookup.source("brewing.Pot.pour")

    code, _, assignments = source.partition("\n\n# It reads from brewing:\n")
    assert code.endswith("return result, LEAVES, '''\n'''")
    assert assignments.startswith("BOILING: int = 100\nHOT = 80\nLEAVES = (\n    'green',\n")
    assert "left out" in assignments and len(assignments) < 600
    assert lookup.source("brewing.Pot").endswith(assignments)
    assert lookup.source("brewing.Pot.lift").endswith("return self")
