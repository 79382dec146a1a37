"""An exploration as a notebook: for people, for plain Jupyter, and to go on from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from exploracoder import document
from exploracoder.cli.report import in_words
from exploracoder.errors import InputError, SetupError
from exploracoder.state import (
    Attempt,
    Brought,
    BroughtVariable,
    Exploration,
    Library,
    Solution,
    Target,
    Task,
)
from exploracoder_kernel import notebook
from exploracoder_kernel.observation import Observation
from markdown_it import MarkdownIt

from .conftest import Explorer, Serve
from .golden_files import golden
from .samples import exploration, failed, step

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [tea](javascript:alert(3)) `x`"
    " ![](http://evil.example/seen) \x1b[2J\u202eevil"
)


def cells(contents: Any) -> dict[str, Any]:
    return {cell["id"]: cell for cell in contents.cells}


def markdown(whole: Exploration) -> str:
    contents = document.to_notebook(whole)
    return "\n".join(cell.source for cell in contents.cells if cell.cell_type == "markdown")


def test_the_notebook_looks_as_it_did_when_it_was_last_looked_at() -> None:
    contents = document.to_notebook(exploration())
    # Settings come and go; that they are saved is seen by the round trip.
    del contents.metadata["exploracoder"]["settings"]
    text = json.dumps(contents, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    # Named so that nobody takes it for a notebook of theirs to format.
    assert text == golden("exploration.ipynb.txt", text)


def test_saving_keeps_a_persons_cells_and_edits(tmp_path: Path) -> None:
    file, sample = tmp_path / "tea.ipynb", exploration()
    document.save(file, sample)
    contents = notebook.read(file)
    cells(contents)["step-2"].source = "len(leaves) + 1"
    contents.cells.append(notebook.markdown_cell("note", "Mine."))
    notebook.write(file, contents)
    document.save(file, sample.model_copy(update={"solution": None}))
    once = notebook.read(file)
    document.save(file, sample)
    again = notebook.read(file)

    for kept in (once, again):
        assert cells(kept)["step-2"].source == "len(leaves) + 1"
        assert cells(kept)["note"].source == "Mine."
    assert len(again.cells) == len(contents.cells)
    assert document.load(file) == sample


def test_a_picture_pasted_into_a_cell_of_ours_stays(tmp_path: Path) -> None:
    path = tmp_path / "tea.ipynb"
    document.save(path, exploration())
    contents = notebook.read(path)
    pictures = {"leaf.png": {"image/png": "aGVsbG8="}}
    for id_ in ("step-1-goal", "step-2-goal"):
        cell = cells(contents)[id_]
        cell["source"] += "\n\n![leaf](attachment:leaf.png)"
        cell["attachments"] = pictures
    notebook.write(path, contents)

    document.save(path, exploration())
    first, *others = exploration().steps
    document.save(path, exploration(steps=(first, *others[1:])))
    kept = [one for one in notebook.read(path).cells if "attachment:" in one["source"]]

    assert [one["attachments"] for one in kept] == [pictures] * 2


def test_cells_without_their_metadata_are_known_by_their_ids(tmp_path: Path) -> None:
    file, sample = tmp_path / "tea.ipynb", exploration()
    document.save(file, sample)
    contents = notebook.read(file)
    for cell in contents.cells:
        cell.metadata = {}
    cells(contents)["step-2"].source = "len(leaves) + 1"
    notebook.write(file, contents)
    document.save(file, sample)

    kept = notebook.read(file)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in contents.cells]


def test_a_file_that_cannot_be_read_makes_room_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "tea.ipynb"
    file.write_text("<<<<<<< mine")
    document.save(file, exploration())

    assert document.load(file) == exploration()
    assert (tmp_path / "tea.previous-1.ipynb").read_text() == "<<<<<<< mine"


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="too long"):
        document.load("x" * 300 + ".ipynb")


def test_a_link_to_a_notebook_stays_a_link(tmp_path: Path) -> None:
    link, file = tmp_path / "link.ipynb", tmp_path / "elsewhere" / "tea.ipynb"
    file.parent.mkdir()
    link.symlink_to(file)

    document.save(link, exploration())
    document.save(link, exploration())

    assert link.readlink() == file
    assert document.load(file) == exploration()


def test_an_empty_file_is_written_to(tmp_path: Path) -> None:
    file = tmp_path / "tea.ipynb"
    file.touch()
    document.save(file, exploration())

    assert document.load(file) == exploration()
    assert [*tmp_path.iterdir()] == [file]


def test_a_file_of_a_newer_format_makes_room_and_stays(tmp_path: Path) -> None:
    file, sample = tmp_path / "tea.ipynb", exploration()
    document.save(file, sample)
    contents = json.loads(file.read_text())
    contents["nbformat_minor"] = 99
    contents["cells"].append(
        {"cell_type": "raw", "id": "mine", "metadata": {}, "source": "", "newer": 1}
    )
    file.write_text(json.dumps(contents))
    document.save(file, sample)

    assert document.load(file) == sample
    assert json.loads((tmp_path / "tea.previous-1.ipynb").read_text()) == contents


def test_cells_of_an_older_notebook_format_are_kept(tmp_path: Path) -> None:
    file, sample = tmp_path / "tea.ipynb", exploration()
    contents = document.to_notebook(sample)
    contents.cells.append(notebook.markdown_cell("note", "Mine."))
    contents.nbformat_minor = 4
    for cell in contents.cells:
        del cell["id"]
    notebook.write(file, contents)
    document.save(file, sample)

    kept = notebook.read(file)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in contents.cells]


def test_the_notebook_is_valid() -> None:
    nbformat.validate(document.to_notebook(exploration()))
    nbformat.validate(document.to_notebook(exploration(steps=(), solution=None)))


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "tea.ipynb"
    document.save(path, exploration())

    assert document.load(path) == exploration()


def test_failed_candidates_are_no_cells_but_are_kept() -> None:
    contents = document.to_notebook(exploration())
    code = [cell.source for cell in contents.cells if cell.cell_type == "code"]

    assert not any("reed" in source for source in code)
    assert cells(contents)["step-3"].source == "", "an empty cell takes code of the user's own"
    assert "reed" in json.dumps(contents.metadata)
    assert "No candidate ran (1 tried)" in cells(contents)["step-3-goal"].source


def test_the_branches_are_drawn_with_the_chosen_chain_thick() -> None:
    picture = cells(document.to_notebook(exploration()))["branches"].source

    assert "```mermaid\nflowchart TD" in picture
    assert 'root -.-> s1c1["1.1 draft: failed"]' in picture
    assert 'root ==> s1c2["1.2 debug: ran"]' in picture
    assert 's1c2 ==> s2c1["2.1 draft: ran"]' in picture
    assert 's2c1 -.-> s3c1["3.1 draft: failed"]' in picture


def test_a_cell_that_was_only_written_is_no_branch() -> None:
    whole = exploration()
    first = whole.steps[0]
    candidate = first.candidates[0].model_copy(update={"observation": None})
    step = first.model_copy(
        update={"status": "pending", "candidates": (candidate,), "chosen": candidate.id}
    )

    picture = document.flowchart(whole.model_copy(update={"steps": (step,), "solution": None}))

    assert picture.splitlines() == ["flowchart TD", '  root(["context"])']


def test_docs_that_were_used_stand_out_with_their_place() -> None:
    goal = cells(document.to_notebook(exploration()))["step-1-goal"].source

    assert "**`tealeaf.read_leaves` (tealeaf/leaves.py:14)**" in goal
    assert "[`tealeaf.Flow`](https://tea.example/flow)" in goal
    assert "/somewhere" not in goal


def attempt(**facts: Any) -> Solution:
    base = {"code": "x = 1", "observation": {"status": "ok"}}
    return Solution(attempts=(Attempt.model_validate(base | facts),))


@pytest.mark.parametrize(
    ("solution", "words"),
    [
        (attempt(checks="passed"), "**Verified**"),
        (attempt(), "**Unverified**"),
        (
            attempt(checks="failed", check_observation=failed("AssertionError", "no")),
            "**Not solved**: the code runs, the check fails: `AssertionError: no`",
        ),
        (
            attempt(observation=failed("NameError", "x")),
            "**Not solved**: the code does not run: `NameError: x`",
        ),
        (
            attempt(observation={"status": "timeout"}),
            "**Not solved**: the code does not run: the run ended as timeout",
        ),
        (None, "No solution yet."),
    ],
)
def test_it_is_said_plainly_what_was_verified(solution: Solution | None, words: str) -> None:
    assert document.verification(exploration(solution=solution)).startswith(words)


def test_stars_in_code_and_errors_stay_in_plain_text() -> None:
    wrong = attempt(code="area = r**2", observation=failed("TypeError", "bad operand for **: r**2"))
    whole = exploration(solution=wrong, status="failed")

    words = in_words(whole, Path("tea.ipynb"))

    assert "area = r**2" in words
    assert "Not solved: the code does not run: `TypeError: bad operand for **: r**2`" in words


def test_a_solution_that_failed_is_shown_but_not_as_a_cell_that_runs() -> None:
    contents = document.to_notebook(
        exploration(solution=attempt(code="1 / 0", observation=failed("ZeroDivisionError", "")))
    )

    assert cells(contents)["solution"].cell_type == "markdown"
    assert "1 / 0" in cells(contents)["solution"].source
    assert "check" not in cells(contents)


def hostile_exploration(place: str) -> Exploration:
    """The sample with a text in it that wants to be more than text."""
    sample = exploration()
    if place == "task":
        return exploration(task=Task(text=HOSTILE, libraries=("tealeaf",)))
    if place == "goal":
        return exploration(steps=(step(1, f"Brew\n{HOSTILE}", *sample.steps[1].candidates),))
    if place == "library":
        return exploration(
            libraries=(Library(name=HOSTILE, import_name="t", version=HOSTILE, apis=1),)
        )
    if place == "model":
        return exploration(model=HOSTILE)
    if place == "error":
        return exploration(
            solution=attempt(observation=failed("Error", f"`{HOSTILE}\n\n{HOSTILE}"))
        )
    if place == "entry point":
        target = Target(root="/x", file="tea.py")
        task = Task(text="Brew", libraries=("tealeaf",), entry_point=HOSTILE, target=target)
        return exploration(task=task)
    if place == "brought variable":
        brought = Brought(variables=(BroughtVariable(name=f"`{HOSTILE}`", type=HOSTILE),))
        return exploration(brought=brought)
    if place == "failed solution":
        code = f"```\n{HOSTILE}\n```\n````\n{HOSTILE}"
        return exploration(solution=attempt(code=code, observation=failed("Error", "")))
    api = sample.steps[0].recommendation.apis[0]
    doc = {
        "doc file": {"file": f"/x/{HOSTILE}"},
        "doc path": {"path": f"tealeaf.`{HOSTILE}`", "url": None, "file": None},
        "doc url": {"url": "javascript:alert(3)"},
    }[place]
    hostile_api = api.model_copy(update={"doc": api.doc.model_copy(update=doc)})
    recommendation = sample.steps[0].recommendation.model_copy(update={"apis": (hostile_api,)})
    return sample.with_step(sample.steps[0].model_copy(update={"recommendation": recommendation}))


PLACES = (
    *("task", "goal", "library", "model", "error", "failed solution", "doc file", "doc path"),
    *("doc url", "entry point", "brought variable"),
)


@pytest.mark.parametrize("place", PLACES)
def test_a_reader_of_the_notebook_fetches_nothing_and_sees_what_is_there(place: str) -> None:
    text = markdown(hostile_exploration(place))
    blocks = MarkdownIt("commonmark").parse(text)
    tokens = [*blocks, *(inner for block in blocks for inner in block.children or ())]

    assert not {token.type for token in tokens} & {"image", "html_inline", "html_block"}
    links = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
    assert all(link.startswith("https://tea.example/") for link in links)
    # The parser makes no links of scripts; others may.
    prose = "\n".join(block.content for block in blocks if block.type == "inline")
    assert not re.search(r"(?<!\\)\]\(javascript", re.sub(r"(?<!\\)`[^`\n]+`", "", prose))
    assert place == "failed solution" or not re.search(r"[\x00-\x09\x1b\u202a-\u202e]", text)


def test_a_notebook_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot be written: No such file or directory"):
        document.save(tmp_path / "none" / "tea.ipynb", exploration())


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom_in_plain_jupyter(
    serve: Serve, explore: Explorer, library: Path
) -> None:
    from nbclient import NotebookClient

    explore(serve(), "--profile", "small", "--set", "first-tries=0")
    contents = notebook.read(explore.notebook)
    before = [cell.get("outputs") for cell in contents.cells if cell.cell_type == "code"]
    NotebookClient(contents, resources={"metadata": {"path": str(library)}}, timeout=60).execute()
    after = [cell.get("outputs") for cell in contents.cells if cell.cell_type == "code"]

    assert len(after) == 6
    assert after == before


def title(text: str) -> str:
    whole = exploration(task=Task(text=text, libraries=("tealeaf",)))
    return markdown(whole).splitlines()[0].removeprefix("# ")


def test_the_title_is_the_task_s_first_sentence() -> None:
    assert title("Name the leaves. Then brew one.") == "Name the leaves."
    assert title("Name the leaves of v2.1\nand brew") == "Name the leaves of v2.1 and brew"


def test_a_long_title_ends_with_a_whole_word() -> None:
    text = "Name the strong leaves " * 9
    heading = title(text)

    assert len(heading) <= 80
    assert heading.endswith(" …")
    assert text.startswith(heading.removesuffix("…"))


def test_words_at_the_beginning_of_a_line_make_no_blocks() -> None:
    text = "Name the leaves.\n===\nThen\n---\n- a\n+ b\n1. c\n2) d\n\t- e\n\t---\n-5 and 1.5"
    first = step(1, "Read\n\n- the leaves", chosen=None)
    whole = exploration(task=Task(text=text, libraries=("tealeaf",)), steps=(first,), solution=None)
    blocks = MarkdownIt("commonmark").parse(document.task_text(whole))

    assert not {one.type for one in blocks} & {"list_item_open", "hr"}
    assert [one.tag for one in blocks if one.type == "heading_open"] == ["h1"]
    assert "-5 and 1.5" in document.task_text(whole)
    code = "Do it.\n\n    Parameters\n    ----------\n    )"
    assert "\\" not in document.escape_markdown(code)
    assert document.step_text(1, first).splitlines()[0] == "## 1. Read - the leaves"


def test_the_verdict_numbers_the_attempt_that_counts() -> None:
    good, failing = (
        Attempt(code="x = 1", observation=one)
        for one in (Observation(status="ok"), failed("NameError", "x"))
    )
    whole = exploration(solution=Solution(attempts=(failing, good, failing)))

    assert "(attempt 2 of 3)" in document.verification(whole)
    chosen = whole.model_copy(update={"method": "best-of-n"})
    assert "attempt" not in document.verification(chosen)


def test_names_between_backticks_stay_code_and_other_backticks_do_nothing() -> None:
    text = "Put it into `strong_names`, not `a*b*` or `<b>`."
    source = markdown(exploration(task=Task(text=text, libraries=("tealeaf",))))

    assert "`strong_names`" in source
    assert r"\`a\*b\*\`" in source
    assert r"\`&lt;b&gt;\`" in source


def test_outputs_of_an_example_call_are_checked_as_all_others() -> None:
    broken = {"status": "ok", "outputs": [{"output_type": "tea"}]}
    solution = attempt(
        call={"code": "example_result = f()", "called": "f()", "observation": broken}
    )
    metadata = exploration(solution=solution).model_dump(mode="json")

    with pytest.raises(InputError, match=r"solution\.attempts\.0\.call\.observation"):
        document.from_metadata(metadata, "tea.ipynb")
