"""An exploration as a script or a report."""

from __future__ import annotations

import ast
import html
import re
from base64 import b64encode
from pathlib import Path

import pytest
from exploracoder import document
from exploracoder.errors import CommandError
from exploracoder.exporting import ExportForm, export
from exploracoder.state import Attempt, ExampleCall, Exploration, Library, Solution, Task
from exploracoder_kernel.observation import Observation
from html_tags import tags
from markdown_it import MarkdownIt

from .conftest import Command
from .samples import FLOW, exploration, printed

EVIL = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\n# `[tea](javascript:alert(3))"
SVG = "<svg onload='alert(4)'><script>alert(5)</script></svg>"
PICTURE = b64encode(b"a picture").decode()


def showing(**data: str) -> Observation:
    """A run that showed one thing in several forms."""
    forms = {name.replace("__", "/").replace("_plus_", "+"): value for name, value in data.items()}
    output = {"output_type": "display_data", "data": forms, "metadata": {}}
    return Observation(status="ok", outputs=(output,))


def hostile() -> Exploration:
    """The sample with hostile words wherever words of others are shown."""
    sample = exploration()
    first = sample.steps[0]
    doc = FLOW.model_copy(update={"path": EVIL, "summary": EVIL, "url": "javascript:alert(6)"})
    api = first.recommendation.apis[0].model_copy(update={"doc": doc})
    observations = [
        showing(text__html=f"<table><tr><td onclick='x()'>tea</td></tr></table>{EVIL}\n \n{EVIL}"),
        showing(image__svg_plus_xml=SVG),
        showing(application__javascript="alert(7)", text__plain=EVIL),
        Observation(
            status="ok",
            outputs=({"output_type": "stream", "name": "stdout", "text": EVIL},),
        ),
    ]
    candidates = tuple(
        first.candidates[0].model_copy(
            update={
                "id": f"{first.subtask.id}/{number}",
                "code": f'"""{EVIL}\n```\n{EVIL}"""',
                "observation": one,
            }
        )
        for number, one in enumerate(observations)
    )
    step = first.model_copy(
        update={
            "subtask": first.subtask.model_copy(update={"goal": EVIL}),
            "recommendation": first.recommendation.model_copy(update={"apis": (api,)}),
            "candidates": candidates,
            "chosen": candidates[0].id,
        }
    )
    return exploration(
        task=Task(text=EVIL, libraries=("tealeaf",), context="text = 1", check=f"'''{EVIL}'''"),
        steps=(step,),
        model=EVIL,
        libraries=(Library(name=EVIL, import_name="tealeaf", version=EVIL, apis=1),),
    )


def test_the_script_has_context_and_solution_and_the_check_as_comments() -> None:
    script = export(exploration(), "py")
    body = [ast.unparse(part) for part in ast.parse(script).body]

    assert body[0] == "text = 'assam 5'"
    assert body[1] == "import tealeaf"
    assert body[-1].startswith("names = ")
    assert "# Verified: it ran in a fresh state and the check passed" in script
    assert '# assert names == ["assam"]' in script
    assert "reed" not in script


def script_of(code: str, context: str = "") -> str:
    attempt = Attempt(code=code, observation=Observation(status="ok"))
    task = Task(text="Brew.", libraries=("tealeaf",), context=context)
    return export(exploration(task=task, solution=Solution(attempts=(attempt,))), "py")


def test_a_script_keeps_future_imports_first() -> None:
    quoted = "text = '''\nfrom __future__ import braces\n'''"
    first = "from __future__ import annotations; import math"
    script = script_of(f"from __future__ import (\n    division,\n)\n{quoted}", f"{first}\nx = 1")

    compile(script, "script", "exec")
    assert "from __future__ import annotations, division\n" in script
    assert "\nimport math\nx = 1\n" in script
    assert quoted in script


def test_magics_are_calls_in_a_script_which_says_how_to_run_it() -> None:
    shown, needed = (script_of("x = 1", f"%{magic}") for magic in ("matplotlib inline", "cd tea"))

    compile(shown, "script", "exec")
    assert "# %matplotlib inline" in shown
    assert "get_ipython" not in shown
    assert "get_ipython().run_line_magic('cd', 'tea')" in needed
    assert "run it with `ipython`" in needed


def test_what_awaits_outside_of_functions_is_no_script() -> None:
    with pytest.raises(CommandError, match="awaits something outside of functions"):
        script_of("x = await tea()")


def test_words_of_others_are_only_comments_in_a_script() -> None:
    task = Task(text="coding: utf-7\rimport os\x0cimport re\u2028\x00", libraries=("tealeaf",))

    script = export(exploration(task=task), "py")

    assert [type(part) for part in ast.parse(script).body] == [ast.Import, ast.Assign]
    assert "coding" not in "".join(script.splitlines()[:2])


def test_without_a_solution_there_is_no_script() -> None:
    with pytest.raises(CommandError, match="There is no solution yet"):
        export(exploration(solution=None), "py")


@pytest.mark.parametrize("form", ["md", "html"])
def test_the_report_has_plan_docs_candidates_solution_and_branches(form: ExportForm) -> None:
    report = html.unescape(re.sub(r"<[^>]*>", "", export(exploration(), form)).replace("\\", ""))

    for words in (
        "1. Read the leaves",
        "(tealeaf/leaves.py:14)",
        "tealeaf.read_leaves: Read leaves.",
        "Candidate 1 (draft) did not run",
        "AttributeError: module 'tealeaf' has no attribute 'reed'",
        "No candidate ran (1 tried); the chain went on.",
        "it ran in a fresh state and the check passed (attempt 2 of 2).",
        "Attempt 1 of 2",
        'root ==> s1c2["1.2 debug: ran"]',
        "1 model calls, 100 prompt",
    ):
        assert words in report


def test_the_report_shows_what_the_call_gave() -> None:
    call = ExampleCall(code="result = brew(3)", called="brew(3)", observation=printed("hot\n"))
    code = "def brew(cups):\n    return cups"
    attempt = Attempt(code=code, observation=Observation(status="ok"), call=call)
    report = export(exploration(solution=Solution(attempts=(attempt,))), "md")

    assert "result = brew(3)" in report
    assert "hot" in report


@pytest.mark.parametrize("form", ["md", "html"])
def test_what_was_not_chosen_is_folded(form: ExportForm) -> None:
    report = export(exploration(), form)

    folds = re.findall(r"<details><summary>(.*?)</summary>", report)
    assert [fold for fold in folds if fold != "What the docs say"] == [
        "Candidate 1 (draft) did not run",
        "Candidate 1 (draft) did not run",
        "Attempt 1 of 2",
    ]


def test_an_exploration_without_a_solution_says_why_as_text() -> None:
    report = export(exploration(solution=None, reason=EVIL), "md")

    assert "No solution yet. &lt;/pre&gt;&lt;script&gt;" in report


@pytest.mark.parametrize("form", ["md", "html"])
def test_pictures_are_in_the_file(form: ExportForm) -> None:
    attempt = Attempt(code="draw()", observation=showing(image__png=f"{PICTURE}\n"))

    report = export(exploration(solution=Solution(attempts=(attempt,))), form)

    assert f"data:image/png;base64,{PICTURE}" in report


def test_a_page_of_hostile_words_runs_nothing_and_asks_for_nothing() -> None:
    page = export(hostile(), "html")
    elements = tags(page)

    assert not {"script", "svg", "iframe", "object", "link", "base"} & {tag for tag, _ in elements}
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]
    assert all(str(one["src"]).startswith("data:") for tag, one in elements if tag == "img")
    assert not [one for tag, one in elements if tag == "a"]
    assert "default-src 'none'" in page
    assert "<td>tea</td>" in page
    assert html.escape(EVIL.splitlines()[0]) in page


def test_markdown_of_hostile_words_has_no_markup_of_theirs() -> None:
    blocks = MarkdownIt("commonmark").parse(export(hostile(), "md"))
    tokens = [*blocks, *(inner for block in blocks for inner in block.children or ())]
    markup = "".join(token.content for token in tokens if token.type.startswith("html_"))

    assert not {"link_open", "image"} & {token.type for token in tokens}
    assert {tag for tag, _ in tags(markup)} == {
        *("details", "summary", "div", "img", "table", "tbody", "tr", "td")
    }


def test_a_file_is_written_beside_the_notebook_and_never_over_another(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "tea.ipynb"
    document.save(path, exploration())

    first = command("export", path, "--to", "py")
    again = command("export", path, "--to", "py")
    overwrite = command("export", path, "--to", "py", "--force")
    itself = command("export", path, "--to", "md", "-o", path, "--force")
    printout = command("export", path, "--to", "md", "-o", "-")
    nowhere = command("export", path, "--to", "md", "-o", tmp_path / "none" / "tea.md")

    assert (first.code, first.out.strip()) == (0, str(tmp_path / "tea.py"))
    assert (again.code, overwrite.code) == (2, 0)
    assert "is there already" in again.err
    assert (itself.code, nowhere.code) == (2, 2)
    assert "is the notebook itself" in itself.err
    assert "cannot be written: No such file or directory" in nowhere.err
    assert printout.out.startswith("# Name the leaves.\n")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["tea.ipynb", "tea.py"]
    assert document.load(path) == exploration()
