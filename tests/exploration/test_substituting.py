"""Other APIs in the places of those that a snippet uses."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.running import substituting
from exploracoder.engine.running.substituting import search, substitutes
from exploracoder.state import NameProblem
from exploracoder_retrieval.apidoc import ApiDoc, ApiKind

from .conftest import Explorer, Serve
from .samples import Snippet
from .scripted import LOST, NAMES_CHECK, SOLUTION, TeaModel, fenced, kinds_asked


def api(path: str, kind: ApiKind, signature: str = "", alias: str = "") -> ApiDoc:
    aliases = (alias,) if alias else ()
    return ApiDoc(path=path, kind=kind, library="tea", signature=signature, aliases=aliases)


STRICT = pytest.mark.levels("strict", reason="elsewhere nothing is tried that nobody wrote")

TEXT = api("tea.Leaf.text", "attribute", "Leaf.text: str")
TO_TEXT = api("tea.Leaf.to_text", "method", "Leaf.to_text(strip: bool = True) -> str")
POUR = api("tea.Pot.pour", "method", "Pot.pour(cups) -> None")
STEEPER = api("tea.Steeper", "class", "Steeper(source, minutes: int = 3)", ".steep")
BLEND = api("tea.blend", "function", "blend(*leaves, by=None)")
KEEP_NAMES = "names = list(tealeaf.Flow(kept).keep(lambda leaf: leaf.name))\nprint(names)"
STEP_BY_STEP = ("--candidates", "1", "--set", "looks=0", "--set", "rerank=none")
ALL = [TEXT, TO_TEXT, POUR, STEEPER, BLEND]


def made(code: str, *docs: ApiDoc, wrong: tuple[str, ...] = ()) -> list[str]:
    return list(substitutes(code, KnownApis(ALL), docs or ALL, wrong))


def test_a_method_in_an_attributes_place_is_called() -> None:
    assert made("x = leaf.text", TO_TEXT) == ["x = leaf.to_text()"]


def test_what_cannot_be_called_so_is_left_out() -> None:
    assert made("x = leaf.text", POUR) == []
    assert made("pot.pour(3, 4)", TO_TEXT) == []
    assert made("leaf.to_text(strip=True)", BLEND) == []


def test_a_name_that_is_assigned_stays() -> None:
    assert made("Steeper = 3", BLEND) == []
    assert made("Steeper = Steeper(leaf)", BLEND) == ["Steeper = blend(leaf)"]
    assert made("leaf.to_text = 3", BLEND, STEEPER, TEXT) == ["leaf.text = 3"]


def test_a_class_stands_in_for_the_member_that_makes_it() -> None:
    assert "pipe.steep(5)" in made("pipe.pour(5)", STEEPER)
    assert made("pipe.pour(minutes=5)", STEEPER) == ["pipe.steep(minutes=5)"]


def test_a_function_takes_a_members_place() -> None:
    def made_in(code: str) -> list[str]:
        return list(substitutes(code, KnownApis(ALL), [BLEND], ("mix",), "import tea as t"))

    assert made_in("x = t.Leaf.mix(a, b)") == ["x = t.blend(a, b)"]
    assert made_in("x = [é, a.copy().mix(b)]") == ["x = [é, t.blend(a.copy(), b)]"]
    assert made_in("x = a.mix()") == ["x = t.blend(a)"]
    assert made_in("x = a.mix") == ["x = t.blend(a)"]
    assert list(substitutes("x = a.mix()", KnownApis(ALL), [BLEND], ("mix",))) == []


def test_a_wrong_name_is_replaced_before_real_ones() -> None:
    codes = made("y = leaf.mix(1).text", POUR, TO_TEXT, wrong=("mix",))

    assert codes[0] == "y = leaf.pour(1).text"


def test_the_last_place_comes_first_and_other_text_stays() -> None:
    code = "é = a.text  # first\nb = a.text\n"

    assert made(code, TO_TEXT) == [
        "é = a.text  # first\nb = a.to_text()\n",
        "é = a.to_text()  # first\nb = a.text\n",
    ]


@pytest.mark.parametrize("code", ["", "x = (", "nothing_of_the_library(1)", "\0"])
def test_what_names_no_api_has_no_substitute(code: str) -> None:
    assert made(code) == []


def test_a_signature_that_cannot_be_read_is_tried() -> None:
    odd = api("tea.odd", "function", "odd(, what) ->")

    assert made("blend(1, 2, 3)", odd) == ["odd(1, 2, 3)"]


class Runs:
    """Runs snippets on paper: the first of ``missing`` that stands in one is its problem."""

    def __init__(self, *missing: str) -> None:
        self.missing = missing
        self.codes: list[str] = []

    async def __call__(self, code: str) -> Snippet:
        self.codes.append(code)
        return self.look_at(code)

    def look_at(self, code: str) -> Snippet:
        names = [name for name in self.missing if f".{name}" in code][:1]
        return Snippet(code, tuple(NameProblem(name=name, owner="tea") for name in names))


async def found(runs: Runs, code: str, good: str, docs: list[ApiDoc], most: int) -> str | None:
    async def docs_for(wrong: Collection[str]) -> list[ApiDoc]:
        return docs

    snippet = runs.look_at(code)
    apis = KnownApis(ALL)
    result = await search(snippet, apis, docs_for, runs, lambda one: one.code == good, most, set())
    return result.code if result else None


@pytest.mark.parametrize(("most", "expected"), [(1, None), (9, "x = leaf.to_text()")])
async def test_the_search_ends_at_its_limit_and_at_the_first_that_is_good(
    most: int, expected: str | None
) -> None:
    runs = Runs()
    docs = [api("tea.Leaf.name", "property"), TO_TEXT, api("tea.Leaf.kind", "property")]

    assert await found(runs, "x = leaf.text", "x = leaf.to_text()", docs, most) == expected
    assert len(runs.codes) == min(most, 2)


async def test_what_takes_long_is_not_tried_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(substituting, "MOST_SECONDS", 0.0)
    runs = Runs()

    assert await found(runs, "x = leaf.text", "x = leaf.to_text()", [TO_TEXT], 9) is None
    assert runs.codes == []


async def test_wrong_names_are_mended_one_after_another() -> None:
    runs = Runs("words", "mingle")
    code, good = "leaf.words().mingle(b)", "leaf.to_text().pour(b)"

    assert await found(runs, code, good, [POUR, TO_TEXT], 20) == good


@STRICT
def test_a_solution_with_another_api_is_mended_without_the_model(
    serve: Serve, explore: Explorer
) -> None:
    wrong = SOLUTION.replace(").keep(", ").each(")
    server = serve(TeaModel(solutions=[fenced(wrong)]))
    result = explore(server, "--json")

    assert kinds_asked(server) == ["write"]
    assert result.json["status"] == "solved"
    assert result.json["solution"] == SOLUTION


@STRICT
def test_without_a_check_only_what_does_not_exist_is_replaced(
    serve: Serve, explore: Explorer
) -> None:
    wrong = SOLUTION.replace("tealeaf.read_leaves", "tealeaf.parse_leaves").replace("> 3", "> 4")
    server = serve(TeaModel(solutions=[fenced(wrong)]))
    result = explore(server, "--json", check=None)

    assert kinds_asked(server) == ["write", "look"]
    assert result.json["solution"] == wrong.replace("parse_leaves", "read_leaves")


@STRICT
def test_what_the_steps_make_together_is_mended_without_the_model(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(is_lost=True, drafts={3: [fenced(KEEP_NAMES)]}))
    files = explore.files(NAMES_CHECK, entry_point=None)
    outcome = explore.run(*explore.words(server, *files, "--json", *STEP_BY_STEP))

    assert outcome.json["status"] == "solved"
    assert kinds_asked(server) == ["write", "draft", "draft", "draft"]
    assert "names = list(tealeaf.Flow(kept).each(lambda" in outcome.json["solution"]


@STRICT
@pytest.mark.parametrize(
    ("drafts", "setting"),
    [({3: [fenced(KEEP_NAMES)]}, "repair_names=false"), ({3: [fenced(LOST)]}, "repair_names=true")],
    ids=["by the user's wish", "where a step is missing"],
)
def test_what_the_steps_make_together_is_not_mended(
    serve: Serve, explore: Explorer, drafts: dict[int, list[str]], setting: str
) -> None:
    server = serve(TeaModel(is_lost=True, drafts=drafts, debugs=drafts))
    files = explore.files(NAMES_CHECK, entry_point=None)
    words = explore.words(server, *files, "--json", *STEP_BY_STEP, "--set", "backtracks=0")
    outcome = explore.run(*words, "--set", setting)

    assert kinds_asked(server).count("solution") == 1
    assert ").each(" not in outcome.json["solution"]


@STRICT
def test_a_step_that_came_to_nothing_is_mended_without_the_model(
    serve: Serve, explore: Explorer
) -> None:
    draft = "import tealeaf\nleaves = list(tealeaf.Flow([text]).keep(lambda word: word == 9))"
    server = serve(TeaModel(is_lost=True, drafts={1: [fenced(draft)]}))
    explore(server, "--set", "candidates=1", "--set", "looks=0", "--set", "rerank=none")
    first = explore.exploration.steps[0]

    assert kinds_asked(server)[:3] == ["write", "draft", "draft"]
    assert first.candidate is not None
    assert first.candidate.code == draft.replace("keep", "each")
    assert (first.candidate.origin, first.candidate.debug_of) == ("debug", "step-1/2")


@pytest.mark.levels("strict", "network", reason="the network has to be let in")
def test_with_the_network_nothing_is_tried_that_nobody_wrote(
    serve: Serve, explore: Explorer
) -> None:
    wrong = SOLUTION.replace("read_leaves", "reed_leaves")
    right = f"### Solution\n{fenced(SOLUTION)}"
    server = serve(TeaModel(solutions=[fenced(wrong)], looks=[right]))
    result = explore(server, "--json", "--sandbox", "network")

    assert result.json["solution"] == SOLUTION
    assert kinds_asked(server) == ["write", "look"]
