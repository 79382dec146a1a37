"""Accepted cells run again without a model."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any, cast

import pytest
from exploracoder import document
from exploracoder.replay import Reliance, Replay, VersionChange, replay
from exploracoder.state import Attempt, Solution, Task
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation

from .conftest import Command, Explorer, Serve
from .samples import exploration, printed
from .scripted import COLLECT, GOALS, KEEP, READ, SOLUTION, TeaModel, fenced, script_of


@pytest.fixture
def explored(
    serve: Serve, explore: Explorer, own_library: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The notebook of an exploration with a library that the test may change."""
    monkeypatch.chdir(own_library)
    assert explore(serve(), "--profile", "small", "--set", "first-tries=0").code == 0
    return explore.notebook


def change(library: Path, before: str, after: str) -> None:
    file = library / "tealeaf" / "leaves.py"
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def results(cells: list[dict[str, Any]]) -> dict[str, str]:
    return {cell["cell"]: cell["result"] for cell in cells}


def test_unchanged_cells_are_the_same(explored: Path, command: Command) -> None:
    before = explored.read_bytes()
    outcome = command("replay", explored, "--json")

    assert outcome.code == 0
    assert results(outcome.json["cells"]) == dict.fromkeys(
        ["context", "step-1", "step-2", "step-3", "solution", "check"], "same"
    )
    assert explored.read_bytes() == before


def test_nothing_is_not_the_same() -> None:
    assert not Replay().is_same
    assert "nothing to run" in Replay().verdict


def test_a_changed_function_is_shown_with_both_outputs(
    explored: Path, command: Command, own_library: Path
) -> None:
    change(own_library, "Leaf(name, int(strength))", "Leaf(name.upper(), int(strength))")
    outcome = command("replay", explored, "--json")
    first = next(cell for cell in outcome.json["cells"] if cell["cell"] == "step-1")

    assert outcome.code == 1
    assert first["result"] == "changed"
    assert "name='assam'" in first["before"]
    assert "name='ASSAM'" in first["now"]
    assert results(outcome.json["cells"])["check"] == "failed"


def test_a_changed_cell_is_told_in_words_with_its_difference(
    explored: Path, command: Command, own_library: Path
) -> None:
    change(own_library, "Leaf(name, int(strength))", "Leaf(name.upper(), int(strength))")
    outcome = command("replay", explored)

    assert "changed  step-3" in outcome.out
    assert "-['assam', 'oolong']" in outcome.out
    assert "+['ASSAM', 'OOLONG']" in outcome.out
    assert "of 6 cells are as they were." in outcome.out


def test_a_removed_function_fails_its_cells(
    explored: Path, command: Command, own_library: Path
) -> None:
    init = own_library / "tealeaf" / "__init__.py"
    text = init.read_text(encoding="utf-8").replace("read_leaves, ", "")
    init.write_text(text.replace('    "read_leaves",\n', ""), encoding="utf-8")
    outcome = command("replay", explored, "--json")
    first = next(cell for cell in outcome.json["cells"] if cell["cell"] == "step-1")

    assert outcome.code == 1
    assert first["result"] == "failed"
    assert "AttributeError" in first["now"]


def test_a_library_given_by_its_path_is_found_from_any_folder(
    serve: Serve,
    explore: Explorer,
    command: Command,
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = explore.words(
        serve(), *explore.files(), "--json", "--profile", "small", "--set", "first-tries=0"
    )
    words[words.index("tealeaf/")] = str(library / "tealeaf")
    explore_outcome = explore.run(*words)
    replay_outcome = command("replay", explore.notebook, "--json")

    assert explore_outcome.json["status"] == "solved"
    assert set(results(replay_outcome.json["cells"]).values()) == {"same"}


def test_addresses_of_objects_do_not_count_as_changes(
    serve: Serve, explore: Explorer, command: Command
) -> None:
    script = TeaModel(drafts={1: [fenced(f"{READ}\nprint(tealeaf.Flow(leaves), object())")]})
    explore(serve(script), "--profile", "small", "--set", "first-tries=0")
    outcome = command("replay", explore.notebook, "--json")

    assert "0x" in outcome.json["cells"][1]["now"]
    assert outcome.code == 0


LOUD = fenced(
    "import tealeaf\nrows = [one.name for one in tealeaf.read_leaves(text)]\nsizes = object()"
)


def test_a_variable_that_is_another_one_is_a_change(
    serve: Serve,
    explore: Explorer,
    command: Command,
    own_library: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(own_library)
    explore(serve(TeaModel(drafts={1: [LOUD]})), "--profile", "small", "--set", "first-tries=0")
    change(own_library, "Leaf(name, int(strength))", "Leaf(name.upper(), int(strength))")
    outcome = command("replay", explore.notebook, "--json")
    first = next(cell for cell in outcome.json["cells"] if cell["cell"] == "step-1")

    assert first["result"] == "changed"
    assert first["before"].startswith("rows: list, length ")
    assert "'assam'" in first["before"] and "'ASSAM'" in first["now"]
    assert "sizes" not in first["now"]


def test_the_calls_of_a_solution_run_again(
    serve: Serve,
    explore: Explorer,
    command: Command,
    own_library: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(own_library)
    calls = "result = strong_names(text)"
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION), calls)
    explore(serve(TeaModel(scripts=[script])), check=None)
    same = command("replay", explore.notebook, "--json")
    change(own_library, "Leaf(name, int(strength))", "Leaf(name.upper(), int(strength))")
    outcome = command("replay", explore.notebook, "--json")

    assert set(results(same.json["cells"]).values()) == {"same"}
    assert results(outcome.json["cells"])["solution"] == "same"
    assert results(outcome.json["cells"])["calls"] == "changed"


def drawn(words: bytes, pixels: bytes) -> str:
    """A picture with a note, as far as a replay looks at it."""
    chunks = [(b"IHDR", b"size"), (b"tEXt", words), (b"IDAT", pixels), (b"IEND", b"")]
    parts = [len(data).to_bytes(4, "big") + name + data + b"sums" for name, data in chunks]
    return b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


PICTURE = drawn(b"Software\x00Matplotlib 3.9", b"leaf")


def displayed(picture: str, page: str) -> Observation:
    data = {"image/png": picture, "text/html": page, "text/plain": "<Figure at 0x7f3a41>"}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    return Observation(status="ok", outputs=(output,))


class Rerun:
    """An executor whose runs all show the same."""

    root = "b0"

    def __init__(self, observation: Observation) -> None:
        self._observation = observation

    async def fork(self, branch: str) -> str:
        return branch

    async def run(self, branch: str, code: str) -> Observation:
        return self._observation


@pytest.mark.parametrize(
    ("now", "result"),
    [
        (displayed(PICTURE, "<p id=1>"), "same"),
        (displayed(PICTURE, "<p id=2>"), "same"),
        (displayed(drawn(b"Software\x00Matplotlib 3.10", b"leaf"), "<p id=1>"), "same"),
        (displayed(drawn(b"Software\x00Matplotlib 3.9", b"stem"), "<p id=1>"), "changed"),
        (displayed("no picture", "<p id=1>"), "changed"),
        (Observation(status="ok"), "changed"),
    ],
)
async def test_another_picture_is_a_change_and_a_random_id_is_not(
    now: Observation, result: str
) -> None:
    final = Attempt(code="show()", observation=displayed(PICTURE, "<p id=1>"))
    task = Task(text="Show.", libraries=("tealeaf",))
    whole = exploration(task=task, steps=(), solution=Solution(attempts=(final,)))

    (cell,) = [one async for one in replay(cast(Executor, Rerun(now)), whole)]

    assert cell.result == result
    assert bool(cell.difference) == (result == "changed")


@pytest.fixture
def kept(own_library: Path, tmp_path: Path) -> Path:
    """A notebook with a solution and no steps, of a library that the test may change or move."""
    task = Task(text="Name.", libraries=(str(own_library / "tealeaf"),), context='text = "assam 5"')
    code = "import tealeaf\nprint(tealeaf.read_leaves(text)[0].name)"
    final = Attempt(code=code, observation=printed("assam\n"))
    whole = exploration(task=task, steps=(), solution=Solution(attempts=(final,)))
    document.save(tmp_path / "kept.ipynb", whole)
    return tmp_path / "kept.ipynb"


def test_a_library_of_another_version_is_named_before_the_cells(
    kept: Path, command: Command, own_library: Path
) -> None:
    init = own_library / "tealeaf" / "__init__.py"
    text = init.read_text(encoding="utf-8")
    init.write_text(text.replace('__version__ = "2.1"', '__version__ = "2.2"'), encoding="utf-8")
    outcome = command("replay", kept)
    as_json = command("replay", kept, "--json")

    change = {"library": "tealeaf", "before": "2.1", "now": "2.2"}
    assert outcome.out.splitlines()[0] == "library version changed: tealeaf 2.1 → 2.2"
    assert as_json.json["versions"] == [change]
    assert [cell["versions"] for cell in as_json.json["cells"]] == [[], [change]]
    assert outcome.out.splitlines()[2:4] == [
        "same     solution: the solution",
        "         library version changed: tealeaf 2.1 → 2.2",
    ]
    assert outcome.code == 0, "another version that does the same is no change of a cell"


@pytest.mark.parametrize(
    ("context", "code", "apis", "uses"),
    [
        ("", "from tealeaf.flows import Flow", (), True),
        ("import tealeaf as tea", "print(tea)", (), True),
        ("", "kept = leaves.keep(strong)", ("tealeaf.Flow.keep",), True),
        ("import tealeaf", "print(text)", (), False),
        ("", "import tealeaflet", ("tealeaflet.fold",), False),
        ("%matplotlib inline", "!ls", (), False),
    ],
)
def test_a_cell_names_the_changed_libraries_that_it_uses(
    context: str, code: str, apis: tuple[str, ...], uses: bool
) -> None:
    whole = exploration(task=Task(text="Name.", libraries=("tealeaf",), context=context))
    change = VersionChange(library="tealeaf", before="2.1", now="2.2")

    assert Reliance(whole, [change]).of(code, apis) == ((change,) if uses else ())


def test_a_library_that_moved_along_with_the_notebook_is_found(
    kept: Path, command: Command, own_library: Path
) -> None:
    (own_library / "tealeaf").rename(kept.parent / "tealeaf")
    outcome = command("replay", kept, "--json")

    assert results(outcome.json["cells"]) == {"context": "same", "solution": "same"}


def test_a_library_that_is_gone_is_named_with_the_version_that_was_used(
    kept: Path, command: Command, own_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_library)
    (own_library / "tealeaf").rename(own_library / "coffee")
    outcome = command("replay", kept)

    assert outcome.code == 2
    assert "tealeaf 2.1, which the exploration was made with, is not there" in outcome.err
