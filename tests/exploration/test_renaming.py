"""Real names in place of those that do not exist, without asking the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.engine.running.renaming import MOST_TRIES, renamed, search
from exploracoder.state import NameProblem

from .conftest import Explorer, Serve
from .samples import Snippet
from .scripted import SOLUTION, TeaModel, fenced, kinds_asked

STRICT = pytest.mark.levels("strict", reason="elsewhere nothing is tried that nobody wrote")
WITHOUT = ("--set", "repair-names=false")
REPLACED = {
    "an attribute": ("tea.pourr(leaf)", "pourr", "tea.pour(leaf)"),
    "twice in a line": ("a.x(b.x)", "x", "a.pour(b.pour)"),
    "after text that is not ASCII": ("'é', tea.pourr", "pourr", "'é', tea.pour"),
    "an import": ("from tea import pourr as p", "pourr", "from tea import pour as p"),
    "over several lines": ("(tea\n  .pourr(1)\n)", "pourr", "(tea\n  .pour(1)\n)"),
}


@pytest.mark.parametrize(("code", "wrong", "expected"), REPLACED.values(), ids=REPLACED.keys())
def test_a_name_is_replaced_where_it_is_used(code: str, wrong: str, expected: str) -> None:
    assert renamed(code, wrong, "pour") == expected


@pytest.mark.parametrize("code", ["pourr = 1", "'tea.pourr'", "tea.(", "tea.pourrs"])
def test_what_is_no_such_name_is_left_alone(code: str) -> None:
    assert renamed(code, "pourr", "pour") is None


def problem(name: str, *nearest: str) -> NameProblem:
    return NameProblem(name=name, owner="tea", nearest=nearest)


async def test_several_wrong_names_are_mended_one_after_another() -> None:
    snippet = Snippet("t.a(t.b)", (problem("a", "x", "alpha"),))
    problems = {"t.alpha(t.b)": (problem("b", "beta"),), "t.x(t.b)": ()}

    async def run(code: str) -> Snippet:
        return Snippet(code, problems.get(code, ()))

    result = await search(snippet, run, lambda one: one.code == "t.alpha(t.beta)")

    assert result is not None
    assert result.code == "t.alpha(t.beta)"


async def test_the_search_ends() -> None:
    ran: list[str] = []

    async def run(code: str) -> Snippet:
        ran.append(code)
        return Snippet(code, (problem(code[2:], f"{code[2:]}a", f"{code[2:]}b"),))

    result = await search(Snippet("t.a", (problem("a", "b", "c"),)), run, lambda one: False)

    assert result is None
    assert len(ran) == MOST_TRIES


@STRICT
def test_a_step_is_mended_without_the_model(serve: Serve, explore: Explorer) -> None:
    broken = "import tealeaf\nleaves = tealeaf.reed_leaves(text)\nprint(leaves)"
    server = serve(TeaModel(drafts={1: [fenced(broken)]}))
    explore(server, "--set", "candidates=1")
    first = explore.exploration.steps[0]

    assert kinds_asked(server) == ["write"]
    assert first.candidate is not None
    assert first.candidate.code == broken.replace("reed", "read")
    assert (first.candidate.origin, first.candidate.debug_of) == ("debug", "step-1/1")


@STRICT
def test_a_solution_is_mended_without_the_model(serve: Serve, explore: Explorer) -> None:
    wrong = SOLUTION.replace("read_leaves", "reed_leaves").replace("Flow", "Flows")
    server = serve(TeaModel(solutions=[fenced(wrong)]))
    outcome = explore(server, "--json")

    assert kinds_asked(server) == ["write"]
    assert outcome.json["status"] == "solved"
    assert outcome.json["solution"] == SOLUTION


@STRICT
@pytest.mark.parametrize("is_imported", [True, False])
def test_a_mended_solution_imports_what_it_needs(
    serve: Serve,
    explore: Explorer,
    own_library: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_imported: bool,
) -> None:
    monkeypatch.chdir(own_library)
    with (own_library / "tealeaf" / "__init__.py").open("a") as file:
        file.write("\nis_warm = False\ndef brewed():\n    assert is_warm\n")
    (own_library / "teapot").mkdir()
    (own_library / "teapot" / "__init__.py").write_text(
        "import tealeaf\ntealeaf.is_warm = True\ndef pour():\n    pass\n"
    )
    imports = "import teapot\n" if is_imported else ""
    wrong = f"{imports}{SOLUTION}\nimport tealeaf\ntealeaf.brewd()"
    server = serve(TeaModel(is_lost=True, solutions=[fenced(wrong)]))
    outcome = explore(server, "--json", "--library", "teapot/", "--set", "looks=0")

    assert outcome.json["status"] == "solved"
    assert ("tealeaf.brewed()" in outcome.json["solution"]) == is_imported


@STRICT
@pytest.mark.parametrize(
    "text",
    [
        "raise ValueError",
        "import sys\nsys.exit()",
        "import os\nos._exit(1)",
        "import threading\nthreading.Timer(99, print).start()",
    ],
    ids=["raises", "exits", "dies", "leaves a thread"],
)
def test_a_library_that_cannot_be_imported_beforehand_does_no_harm(
    serve: Serve,
    explore: Explorer,
    own_library: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
) -> None:
    monkeypatch.chdir(own_library)
    (own_library / "teapot").mkdir()
    (own_library / "teapot" / "__init__.py").write_text(f"def pour():\n    pass\n{text}\n")
    wrong = SOLUTION.replace("read_leaves", "reed_leaves")
    server = serve(TeaModel(solutions=[fenced(wrong)]))
    outcome = explore(server, "--json", "--library", "teapot/")

    assert kinds_asked(server) == ["write"]
    assert outcome.json["solution"] == SOLUTION


def test_without_the_setting_the_model_is_asked(serve: Serve, explore: Explorer) -> None:
    broken = "import tealeaf\nleaves = tealeaf.reed_leaves(text)\nprint(leaves)"
    server = serve(TeaModel(is_lost=True, drafts={1: [fenced(broken)]}))
    explore(server, "--set", "candidates=1", "--set", "looks=0", *WITHOUT)

    assert "debug" in kinds_asked(server)
