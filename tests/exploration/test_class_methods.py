"""The methods that write a class into a repository: their questions, limits, and bad replies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer

from .conftest import PACKAGES, Command, Explorer, Serve, model_words
from .conftest import Outcome as Ended
from .scripted import fenced, kind_of, whole_text

DESCRIPTION = "A kettle holds water of one temperature; it is heated, and poured over a leaf."
KETTLE = """\
class Kettle:
    def __init__(self, millilitres=1000):
        self.millilitres, self.celsius = millilitres, 20.0

    def heat(self, celsius):
        self.celsius = celsius
        return self

    def pour(self, leaf):
        return f"{self.millilitres} ml of {leaf.name} at {self.celsius:.0f} °C"
"""
WRONG = KETTLE.replace("leaf.name", "leaf.title")
CHECK = """\
from tealeaf import Kettle, Leaf
print("pouring")
assert Kettle(500).heat(80).pour(Leaf("assam", 5)) == "500 ml of assam at 80 °C"
"""
REFLECTION = "A leaf has a name and no title."
CALLS = json.dumps(
    {
        "thought": "What does a leaf have?",
        "calls": [
            {"tool": "get_class_info", "class_name": "Leaf"},
            {"tool": "get_signature", "class_name": "Leef", "method_name": "brew"},
            {"tool": "get_imports"},
        ],
    }
)
METHODS = ("basic-prompting", "naive-rag", "reflexion", "repocoder", "rrr")


@dataclass
class ClassModel:
    """Writes texts of a class, one after another, the last again and again."""

    texts: Sequence[str] = (WRONG, KETTLE)
    calls: Outcome = CALLS
    written: int = field(default=0)

    def __call__(self, request: RecordedRequest) -> Outcome:
        kind = kind_of(request)
        if kind == "class":
            text = self.texts[min(self.written, len(self.texts) - 1)]
            self.written += 1
            return fenced(text)
        return self.calls if kind == "tools" else REFLECTION


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the class into a repository that lacks it, from the command line."""

    folder: Path
    run: Command

    @property
    def repository(self) -> Path:
        return self.folder / "own"

    @property
    def notebook(self) -> Path:
        return self.folder / "tea.ipynb"

    @property
    def explored(self) -> Explorer:
        return Explorer(self.folder, self.run)

    def __call__(
        self, server: ScriptedModelServer, method: str, *more: object, check: str = CHECK
    ) -> Ended:
        (self.folder / "oracle.py").write_text(check, encoding="utf-8")
        words = ["--repository", self.repository, "--file", "tealeaf/kettle.py"]
        words += ["--entry-point", "Kettle", "--check", self.folder / "oracle.py"]
        words += [*model_words(server), "--output", self.notebook, "--quiet", "--json"]
        return self.run("explore", DESCRIPTION, "--method", method, *words, *more)


@pytest.fixture
def write(tmp_path: Path, command: Command) -> Writer:
    shutil.copytree(PACKAGES, tmp_path / "own")
    kettle = tmp_path / "own" / "tealeaf" / "kettle.py"
    text = kettle.read_text(encoding="utf-8")
    start, end = text.index("class Kettle"), text.index("def steep_seconds")
    kettle.write_text(text[:start] + text[end:], encoding="utf-8")
    return Writer(tmp_path, command)


def kinds(server: ScriptedModelServer) -> list[str]:
    return [kind_of(one) for one in server.chat_requests]


def texts(repository: Path) -> dict[str, str]:
    return {str(one): one.read_text(encoding="utf-8") for one in repository.rglob("*.py")}


@pytest.mark.parametrize("method", METHODS)
def test_a_guess_that_passes_is_the_solution_and_no_file_of_the_user_s_changes(
    serve: Serve, write: Writer, method: str
) -> None:
    before = texts(write.repository)
    server = serve(ClassModel([KETTLE]))
    outcome = write(server, method)

    assert outcome.json["status"] == "solved"
    assert outcome.json["solution"] == KETTLE.strip()
    assert kinds(server) == ["class"]
    assert texts(write.repository) == before
    prompt = whole_text(server.chat_requests[0])
    assert DESCRIPTION in prompt
    assert "tealeaf/kettle.py" in prompt
    is_shown = method in ("naive-rag", "repocoder", "rrr")
    assert ("Pieces of the repository" in prompt) == is_shown
    exploration = write.explored.exploration
    assert (exploration.settings.temperature, exploration.usage.calls) == (0.2, 1)
    calls = 1 if method in ("basic-prompting", "naive-rag") else 5
    assert exploration.settings.oracle_calls == calls


def test_a_method_of_one_sample_stops_after_it(serve: Serve, write: Writer) -> None:
    server = serve(ClassModel())
    outcome = write(server, "naive-rag")

    assert (outcome.code, outcome.json["status"]) == (1, "failed")
    assert kinds(server) == ["class"]


def test_rrr_asks_the_tools_reflects_and_writes_it_again(serve: Serve, write: Writer) -> None:
    server = serve(ClassModel())
    outcome = write(server, "rrr")
    _, tools, reflection, better = map(whole_text, server.chat_requests)

    assert outcome.json["status"] == "solved"
    assert kinds(server) == ["class", "tools", "reflection", "class"]
    assert all("leaf.title" in prompt for prompt in (tools, reflection, better))
    assert all("AttributeError" in prompt for prompt in (tools, reflection, better))
    assert all("pouring" in prompt for prompt in (tools, reflection, better))
    for prompt in (reflection, better):
        assert "get_class_info(class_name='Leaf'):\n" in prompt
        assert "strength: int" in prompt
        assert "There is no class 'Leef'" in prompt
        assert "get_imports():" in prompt
    assert REFLECTION in better
    assert REFLECTION not in reflection
    solution = write.explored.exploration.solution
    assert solution is not None
    first, second = solution.attempts
    assert "leaves.py" in first.notes[0]
    assert second.notes[1] == REFLECTION


def test_reflexion_sees_what_the_tests_say_and_nothing_of_the_repository(
    serve: Serve, write: Writer
) -> None:
    server = serve(ClassModel())
    outcome = write(server, "reflexion")
    _, reflection, better = map(whole_text, server.chat_requests)

    assert outcome.json["status"] == "solved"
    assert kinds(server) == ["class", "reflection", "class"]
    assert "AttributeError" in reflection
    assert REFLECTION in better
    assert "strength: int" not in reflection + better


def test_repocoder_retrieves_with_its_last_text_and_is_told_of_no_error(
    serve: Serve, write: Writer
) -> None:
    fahrenheit = "class Kettle:\n    to_celsius = to_fahrenheit = 'temperatures'\n"
    server = serve(ClassModel([fahrenheit, KETTLE]))
    outcome = write(server, "repocoder")
    first, second = map(whole_text, server.chat_requests)

    assert outcome.json["status"] == "solved"
    assert kinds(server) == ["class", "class"]
    assert second != first
    assert second.index("units.py") < second.index("tealeaf/kettle.py`")
    assert "Error" not in second
    assert "'temperatures'" not in second


@pytest.mark.parametrize(
    ("method", "between"),
    [("reflexion", ["reflection"]), ("repocoder", []), ("rrr", ["tools", "reflection"])],
)
def test_the_oracle_is_called_as_often_as_it_may_be_and_nothing_is_asked_after(
    serve: Serve, write: Writer, method: str, between: list[str]
) -> None:
    server = serve(ClassModel([WRONG]))
    outcome = write(server, method, "--set", "oracle-calls=2")

    assert outcome.json["attempts"] == 2
    assert kinds(server) == ["class", *between, "class"]


@pytest.mark.parametrize(
    "calls",
    ["I would look at the leaf.", json.dumps({"thought": "", "calls": [{"tool": "rm"}]})],
)
def test_calls_that_cannot_be_used_are_sent_back_and_then_done_without(
    serve: Serve, write: Writer, calls: str
) -> None:
    server = serve(ClassModel(calls=calls))
    outcome = write(server, "rrr")

    assert outcome.json["status"] == "solved"
    assert kinds(server) == ["class", *["tools"] * 3, "reflection", "class"]
    assert "looked up" not in server.chat_requests[-1].last_user_message


def test_a_text_that_is_not_python_is_a_failure_that_can_be_mended(
    serve: Serve, write: Writer
) -> None:
    server = serve(ClassModel(["class Kettle(:\n    pass", KETTLE]))
    outcome = write(server, "reflexion")

    assert outcome.json["status"] == "solved"
    assert "SyntaxError" in whole_text(server.chat_requests[1])


def test_an_interrupted_run_goes_on_from_its_last_text(serve: Serve, write: Writer) -> None:
    write(serve(ClassModel()), "rrr")
    cut = json.loads(write.notebook.read_text(encoding="utf-8"))
    ours = cut["metadata"]["exploracoder"]
    ours["solution"]["attempts"] = ours["solution"]["attempts"][:1]
    ours["status"] = "cancelled"
    write.notebook.write_text(json.dumps(cut), encoding="utf-8")
    server = serve(ClassModel([KETTLE]))
    words = ["resume", write.notebook, *model_words(server), "--json", "--quiet"]
    outcome = write.run(*words)

    assert outcome.json["status"] == "solved"
    assert outcome.json["attempts"] == 2
    assert kinds(server) == ["tools", "reflection", "class"]


def test_the_notebook_shows_the_class_and_replays_its_check(serve: Serve, write: Writer) -> None:
    write(serve(ClassModel([KETTLE])), "rrr")
    cells = json.loads(write.notebook.read_text(encoding="utf-8"))["cells"]
    outcome = write.run("replay", write.notebook, "--json")

    solution_cell = next(cell for cell in cells if cell["id"] == "solution")
    assert solution_cell["cell_type"] == "markdown"
    assert outcome.code == 0
    assert [one["cell"] for one in outcome.json["cells"]] == ["solution", "check"]


@pytest.mark.parametrize(
    ("method", "words", "said"),
    [
        ("direct", [], "direct writes no class"),
        ("rrr", ["--file", "../elsewhere.py"], "not a .py file inside"),
        ("rrr", ["--file", "tealeaf"], "not a .py file inside"),
        ("rrr", ["--repository", "nowhere"], "there is no folder"),
        ("rrr", ["--entry-point", "no name"], "must be a name"),
    ],
)
def test_what_is_no_place_for_a_class_is_refused(
    serve: Serve, write: Writer, method: str, words: list[str], said: str
) -> None:
    outcome = write(serve(), method, *words)

    assert outcome.code == 2
    assert said in outcome.json["error"]


def test_a_method_that_writes_a_class_wants_to_know_where(serve: Serve, write: Writer) -> None:
    outcome = write.explored(serve(), "--method", "rrr", "--json")

    assert outcome.code == 2
    assert "--repository and --file" in outcome.json["error"]


def test_a_check_of_a_class_that_is_not_python_is_refused(serve: Serve, write: Writer) -> None:
    outcome = write(serve(ClassModel()), "rrr", check="assert (")

    assert outcome.code == 2
    assert "The check is not Python" in outcome.json["error"]


def test_a_check_that_passes_without_the_class_is_refused(serve: Serve, write: Writer) -> None:
    server = serve(ClassModel())
    outcome = write(server, "rrr", check="print(1)")

    assert outcome.code == 2
    assert "passes before the class is written" in outcome.json["error"]
    assert not server.chat_requests
