"""What is kept of the user's own code and of what they accepted, and where it is seen again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from exploracoder import commands as c
from exploracoder import prepare
from exploracoder.memory import scrubber
from exploracoder_retrieval.errors import IndexUnavailable
from exploracoder_retrieval.examples.kept import KeptExample, KeptExamples

from .conftest import Command, Explorer, Serve, model_words
from .live_sessions import live_session
from .scripted import SOLUTION, TASK, WRONG_SOLUTION, TeaModel, fenced, kind_of, whole_text

MINE = """\
import tealeaf

API_KEY = "abc12345678"

def strong(text):
    \"\"\"Name the strong leaves of a text.\"\"\"
    print("nothing to do with it")
    leaves = tealeaf.read_leaves(text)
    return tealeaf.Flow(leaves).keep(lambda leaf: leaf.strength > 3)

def cup(text):
    kettle = tealeaf.Kettle()
    return kettle.heat(90, key=API_KEY)
"""


def kept() -> tuple[KeptExample, ...]:
    return KeptExamples(prepare.user_folder()).all()


@pytest.fixture
def mine(tmp_path: Path, command: Command) -> Path:
    """A script of the user's, read as examples."""
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    assert command("index", "tealeaf/", "--uses", file).code == 0
    return file


def test_uses_are_kept_listed_and_forgotten(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "broken.py").write_text("import tealeaf\nfor", encoding="utf-8")

    read = command("index", "tealeaf/", "--uses", tmp_path, "--json")
    listing = command("memory", "list")
    as_json = command("memory", "list", "tealeaf", "--json").json
    one = command("memory", "forget", "tealeaf", "--id", as_json[0]["id"])
    all_ = command("memory", "forget", "--yes")
    none = command("memory", "list")

    assert read.json["uses"]["examples"] == 2
    assert [Path(each["name"]).name for each in read.json["uses"]["skipped"]] == ["broken.py"]
    assert "Name the strong leaves of a text. (APIs: 4, " in listing.out
    assert {each["line"] for each in as_json} == {8, 12}
    assert "abc12345678" not in json.dumps(as_json)
    assert one.out + all_.out == "1 example forgotten.\n1 example forgotten.\n"
    assert (none.code, none.out, none.err) == (0, "", "Nothing is kept.\n")


def test_uses_given_again_take_the_place_of_those_before(command: Command, mine: Path) -> None:
    mine.write_text("import tealeaf\ntealeaf.Kettle().heat(70)\n", encoding="utf-8")
    command("index", "tealeaf/", "--uses", mine)

    assert [one.code for one in kept()] == ["import tealeaf\ntealeaf.Kettle().heat(70)"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["index", "tealeaf/", "--uses", "nowhere"], "no file or folder nowhere"),
        (["memory", "forget", "--id", "x"], "--id goes with a library"),
    ],
)
def test_what_cannot_be_done_is_said(
    command: Command, match: Callable[[str, str], bool], words: list[str], message: str
) -> None:
    outcome = command(*words)

    assert outcome.code == 2
    assert match(message, outcome.err)


def test_a_solution_that_passes_the_check_is_kept_with_where_it_comes_from(
    serve: Serve, explore: Explorer
) -> None:
    explore(serve())

    (one,) = kept()
    assert explore.exploration.status == "solved"
    assert (one.source, one.version, one.origin) == ("exploration", "2.1", str(explore.notebook))
    assert one.title == one.task == TASK
    assert "def strong_names(text):" in one.code
    assert "tealeaf.read_leaves" in one.apis


def test_what_a_resumed_notebook_keeps_names_it_in_full(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    explore(server, "--max-tokens", "1")
    monkeypatch.chdir(explore.folder)

    outcome = explore.run("resume", explore.notebook.name, *model_words(server))

    assert outcome.code == 0
    assert {one.origin for one in kept()} == {str(explore.notebook)}


@pytest.mark.parametrize("more", [["--set", "memory=false"], ["--profile", "paper"]])
def test_nothing_is_kept_when_it_is_turned_off(
    serve: Serve, explore: Explorer, more: list[str]
) -> None:
    explore(serve(), *more)

    assert explore.exploration.status == "solved"
    assert kept() == ()


def test_a_solution_that_no_check_accepted_is_not_kept(serve: Serve, explore: Explorer) -> None:
    explore(serve(), check=None)

    assert explore.exploration.status == "unverified"
    assert kept() == ()


def test_a_disk_that_is_full_stops_nothing(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise IndexUnavailable("No space left on device.")

    monkeypatch.setattr(KeptExamples, "keep", full)

    assert explore(serve()).code == 0


def requests(
    serve: Serve, explore: Explorer, *more: str, solutions: Sequence[str] = (fenced(SOLUTION),)
) -> list[tuple[str, str]]:
    server = serve(TeaModel(solutions=solutions))
    assert explore(server, *more).code == 0
    return [(kind_of(one), whole_text(one)) for one in server.chat_requests]


def test_what_was_used_before_stands_in_the_prompt_that_it_fits(
    serve: Serve, explore: Explorer, mine: Path
) -> None:
    prompts = dict(requests(serve, explore))
    without = dict(requests(serve, explore, "--set", "memory=false"))

    heading = "Used before: Name the strong leaves of a text."
    assert heading in prompts["write"]
    assert "leaves = tealeaf.read_leaves(text)" in prompts["write"]
    assert "nothing to do with it" not in prompts["write"]
    assert str(mine) not in prompts["write"]
    assert "Used before" not in without["write"]


def test_the_first_tries_and_a_plan_s_steps_see_it_too(
    serve: Serve, explore: Explorer, mine: Path
) -> None:
    texts = (fenced(WRONG_SOLUTION), fenced(SOLUTION))
    small = requests(serve, explore, "--profile", "small", solutions=texts)
    plan_requests = requests(serve, explore, "--profile", "small", "--set", "first-tries=0")

    assert "Used before: Name the strong leaves" in dict(small)["solution"]
    assert "Used before: Name the strong leaves" in dict(plan_requests)["draft"]


async def test_a_snippet_that_was_accepted_is_kept_with_what_it_stands_on(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        for number in (1, 2):
            await surface.do(c.Accept(subtask=surface.step(number).subtask.id))
        goals = [surface.step(number).subtask.goal for number in (1, 2)]

    second, first = kept()
    assert [first.title, second.title] == goals
    assert first.task == TASK
    assert first.code.splitlines()[:2] == ["text = 'assam 5; sencha 2; oolong 4'", "import tealeaf"]
    assert "leaves = tealeaf.read_leaves(text)" in second.code
    assert second.code.endswith("print([leaf.strength for leaf in kept])")
    assert "tealeaf.Flow" in second.apis


async def test_a_solution_that_was_there_before_is_no_example(serve: Serve) -> None:
    async with live_session(serve(), mode="auto") as surface:
        await surface.do(c.GoOn())
        solved = surface.session.exploration
    assert KeptExamples(prepare.user_folder()).forget("tealeaf") > 0
    async with live_session(serve(), exploration=solved) as surface:
        await surface.session.bench.update("Looked at")

    assert solved.status == "solved"
    assert kept() == ()


def test_what_the_environment_holds_secret_is_blotted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEA_TOKEN", "steep-in-secret-7")

    assert scrubber()("x = 'steep-in-secret-7'") == "x = '[key]'"
    assert scrubber()(SOLUTION) == SOLUTION


@pytest.mark.usefixtures("mine")
def test_what_is_kept_outlives_the_index_and_is_moved_out_of_one(
    command: Command, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = command("memory", "list").out
    index, data = prepare.index_folder(), prepare.user_folder()
    shutil.move(data / "examples", index / "examples")
    moved = command("memory", "list").out
    shutil.rmtree(index)
    after = command("memory", "list").out
    monkeypatch.setenv("EXPLORACODER_DATA", str(shelf / "other"))
    elsewhere = command("memory", "list").out

    assert "Name the strong leaves" in before
    assert moved == after == before
    assert "Name the strong leaves" not in elsewhere
