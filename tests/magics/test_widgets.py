"""The widgets: buttons lead the whole flow in a real kernel, and nothing shown does anything."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from exploracoder.config import PROFILES
from exploracoder.events import Progress
from exploracoder.state import Candidate, Exploration, Step, Subtask, Task
from exploracoder.testing import Delay
from exploracoder_jupyter.magics.keeper import Keeper
from exploracoder_jupyter.magics.moment import Moment
from exploracoder_jupyter.magics.page import Line, Page
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.screen import TerminalScreen
from exploracoder_jupyter.magics.showing import Showing
from exploracoder_jupyter.magics.widgets.outputs import outputs_of
from exploracoder_jupyter.magics.widgets.view import View
from exploracoder_kernel.observation import ErrorReport, Observation

from .conftest import CHECK, CONTEXT, GOALS, READ, SOLUTION, TASK, Stage, TeaModel, fenced
from .front_end import VIEW, FrontEnd, front_end

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'
NAMES = "sorted(name for name in globals() if not name.startswith('_'))"
OTHERWISE = READ.replace("print(leaves)", "print(len(leaves))")
REPAIRED = READ.replace("print(leaves)", "print(leaves[0].name)")


def explore(options: str) -> str:
    return f"%%exploracoder --library tealeaf/ --context start --check goal {options}\n{TASK}"


@pytest.fixture(scope="module")
def kernel(stage: Stage) -> Iterator[FrontEnd]:
    """A front end that the tests share, since a kernel takes its time to start."""
    with front_end(str(stage.folder)) as shared:
        shared.run("%load_ext exploracoder")
        shared.run(f"start, goal = {CONTEXT!r}, {CHECK!r}")
        yield shared


@pytest.fixture
def notebook(kernel: FrontEnd, stage: Stage) -> Callable[..., FrontEnd]:
    """Begins anew: nothing is open, and nobody has said that widgets are drawn."""

    def begin(*, draws: bool = True, **lines: Any) -> FrontEnd:
        stage.model.script = TeaModel(**{"solutions": (fenced(SOLUTION),), **lines})
        kernel.draws = draws
        kernel.run("%reload_ext exploracoder")
        kernel.run(stage.configuration)
        kernel.outputs.clear()
        return kernel

    return begin


def test_buttons_lead_from_the_plan_to_the_solution(
    notebook: Callable[..., FrontEnd], stage: Stage
) -> None:
    lines = {"drafts": {1: [fenced(READ), fenced(OTHERWISE)]}, "debugs": {1: [fenced(REPAIRED)]}}
    front = notebook(**lines)
    names = front.value(NAMES)
    front.run(explore("--review --output buttons.ipynb"))
    front.wait_for(lambda: front.can_press("Explore"))
    planned = front.text
    assert not front.can_press("Accept")
    front.press("Explore")
    front.wait_for(lambda: "Candidate 1: ran, proposed" in front.text)
    proposed = front.text
    front.press("Other candidates")
    front.wait_for(lambda: "Candidate 2: ran" in front.text)
    front.change(front.find("Hint")[0], value="Print the first")
    front.press("Debug")
    front.wait_for(lambda: "Candidate 3: ran, repaired" in front.text)
    asked = str(stage.server.chat_requests[-1].body)
    front.press("Accept")
    front.wait_for(lambda: "accepted, 3 candidates" in front.text)
    front.press("Accept")
    front.wait_for(lambda: front.text.count("(accepted") == 2)
    front.press("Skip")
    front.wait_for(lambda: "(left out" in front.text and front.can_press("Synthesize"))
    front.change(front.find("Subtask")[0], index=2)
    front.press("Go back here")
    front.wait_for(lambda: "(left out" not in front.text)
    front.press("Accept")
    front.wait_for(lambda: "3 of 3 subtasks decided" in front.text)
    front.press("Synthesize")
    front.wait_for(lambda: "Verified" in front.text)
    before = front.run("1 + 1")
    front.press("Insert into my notebook")
    front.wait_for(lambda: "below the next cell that you run" in front.text)
    after = front.run("1 + 1")

    assert all(f"{goal} <em>(open)</em>" in planned for goal in GOALS)
    assert "Waiting for you." in planned
    assert "tealeaf.read_leaves" in proposed
    assert "Leaf(name='assam'" in proposed
    assert "Print the first" in asked
    assert "model calls" in front.text
    assert before["payload"] == []
    solved = Exploration.load(stage.folder / "buttons.ipynb")
    assert solved.solution is not None
    assert [one["text"] for one in after["payload"]] == [solved.solution.final.code]
    assert front.value(NAMES) == names


def test_the_kernel_stays_free_the_output_stays_put_and_cancel_stops_it(
    notebook: Callable[..., FrontEnd],
) -> None:
    front = notebook(plans=[Delay(60, '{"subtasks": ["Read the leaves"]}')])
    front.run(explore("--review --output slow.ipynb"))
    front.wait_for(lambda: TASK in front.text and front.can_press("Cancel"))
    (shown,), bundles = front.outputs.values(), front.bundles
    front.run("leaf = 1")
    front.press("Cancel")
    front.wait_for(lambda: front.can_press("Resume"))
    said, at_rest = front.text, front.bundles
    front.run("%exploracoder status")
    front.wait_for(lambda: len(front.outputs) == 2)
    old, new = front.outputs.values()

    assert {"text/html", "text/plain", VIEW} <= set(shown)
    assert at_rest == bundles
    assert "Stopped. All that was found is kept." in said
    assert "Paused." in front.text
    assert VIEW in new
    assert set(old) == {"text/html", "text/plain"}


def test_what_cannot_be_done_is_said_beside_the_button(
    notebook: Callable[..., FrontEnd],
) -> None:
    front = notebook()
    front.run(explore("--review --output refused.ipynb"))
    front.wait_for(lambda: front.can_press("Explore"))
    front.click("Insert into my notebook")

    front.wait_for(lambda: "There is no solution that ran yet" in front.text)


def test_where_nobody_draws_widgets_the_page_is_shown_as_ever(
    notebook: Callable[..., FrontEnd],
) -> None:
    front = notebook(draws=False)
    front.run(explore("--auto --wait --output page.ipynb"))
    pages = [data["text/html"] for data in front.outputs.values() if "text/html" in data]
    assert not front.has_view
    assert "Solved." in pages[-1]

    front.run("%exploracoder config widgets=on")
    front.run("%exploracoder status")
    assert front.has_view
    front.run("%exploracoder config widgets=off")
    front.run("%exploracoder accept 1.1")
    assert not front.has_view


def test_without_ipywidgets_the_magics_do_without(notebook: Callable[..., FrontEnd]) -> None:
    front = notebook()
    made = front.made
    front.run("import sys\nkept = sys.modules.pop('ipywidgets')\nsys.modules['ipywidgets'] = None")
    try:
        refused = front.run("%exploracoder config widgets=on")
        front.run(explore("--auto --wait --output none.ipynb"))
    finally:
        front.run("sys.modules['ipywidgets'] = kept\ndel kept, sys")

    assert "pip install 'exploracoder[widgets]'" in refused["evalue"]
    assert front.made == made
    assert "Solved." in list(front.outputs.values())[-1]["text/html"]


def observed(**given: Any) -> Observation:
    return Observation(**{"status": "ok", **given})


def displayed(**data: str) -> dict[str, Any]:
    kinds = {name.replace("_", "/", 1).replace("_", "+"): text for name, text in data.items()}
    return {"output_type": "display_data", "data": kinds, "metadata": {}}


def candidate(number: int, text: str = "x = 1", **given: Any) -> Candidate:
    return Candidate(
        id=f"step-1/{number}", code=text, origin="draft", observation=observed(**given)
    )


def moment(*candidates: Candidate, text: str = "Read", chosen: str | None = None) -> Moment:
    step = Step(
        subtask=Subtask(id="step-1", goal=text),
        status="review",
        candidates=candidates,
        chosen=chosen,
    )
    exploration = Exploration(
        task=Task(text=text, libraries=("tealeaf",)),
        settings=PROFILES["standard"],
        steps=(step,),
        is_planned=True,
        status="waiting",
        reason=text,
    )
    return Moment(exploration, Progress(activity="review", error=text), text)


def parts(widget: Any) -> Iterator[Any]:
    """A widget and all in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


class Made:
    """A view without a front end, and what its buttons said."""

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.view = View(self.orders.append)
        self.widgets = list(parts(self.view.root))

    def one(self, kind: str) -> Any:
        return next(one for one in parts(self.view.root) if type(one).__name__ == kind)

    def button(self, name: str) -> Any:
        return next(one for one in self.widgets if getattr(one, "description", "") == name)


def test_what_others_wrote_is_escaped_wherever_it_stands() -> None:
    made = Made()
    made.view.update(moment(candidate(1, EVIL), text=EVIL))
    made.view.say(Page((Line(EVIL),)))

    values = [one.value for one in parts(made.view.root) if type(one).__name__ == "HTML"]
    assert sum("alert(1)" in value for value in values) >= 5
    assert [value for value in values if "<script" in value or "<img" in value] == []


def test_outputs_are_rich_and_run_nothing() -> None:
    png = base64.b64encode(b"\x89PNG leaf").decode()
    outputs = outputs_of(
        observed(
            outputs=(
                displayed(image_png=f"{png}\n", text_plain="a leaf"),
                displayed(text_html=f"<table><tr><td>5</td></tr></table>{EVIL}", text_plain="5"),
                displayed(image_svg_xml=f"<svg>{EVIL}</svg>"),
                displayed(application_javascript="alert(1)", text_plain="script"),
                displayed(image_png='" onerror="alert(1)'),
                {"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m\n"},
            )
        )
    )

    picture, table, svg, script, broken, stream = outputs
    assert picture["data"]["image/png"] == png
    assert "<td>5</td>" in table["data"]["text/html"]
    assert "alert" not in str(table) or "<script" not in str(table)
    assert "onerror" not in str(table)
    assert svg["data"]["text/html"].startswith('<img alt="Output of the candidate" src="data:')
    assert script["text"] == "script\n"
    assert "cannot be read" in broken["text"]
    assert stream["text"] == "red\n"


def test_a_candidate_that_failed_shows_its_error() -> None:
    error = ErrorReport(ename="AttributeError", evalue="no attribute 'reed'")

    (shown,) = outputs_of(observed(status="error", error=error))

    assert shown["text"] == "AttributeError: no attribute 'reed'\n"


def test_what_did_not_change_is_left_alone_and_the_users_tab_stays() -> None:
    made = Made()
    first, second, third = (candidate(number, f"x = {number}") for number in (1, 2, 3))
    made.view.update(moment(first, second, chosen=second.id))
    tabs = made.one("Tab")
    panels, proposed = tabs.children, tabs.selected_index
    tabs.selected_index = 0
    made.view.update(moment(first, second, third, chosen=second.id))
    kept = tabs.selected_index
    made.button("Accept").click()
    made.view.update(moment(first, second, third, chosen=third.id))

    assert proposed == 1
    assert kept == 0
    assert tabs.children[:2] == panels
    assert tabs.selected_index == 2
    assert tabs.titles[2] == "Candidate 3: ran, proposed"
    heads = [one.value for one in parts(made.view.root) if type(one).__name__ == "HTML"]
    assert any("Candidates" in head and "Candidate 3: ran, proposed" in head for head in heads)
    assert made.orders == [Order("accept", "1.1")]


def test_a_hint_goes_along_once_and_is_not_taken_for_options() -> None:
    made = Made()
    made.view.update(moment(candidate(1), chosen="step-1/1"))
    hint = made.button("Hint")
    hint.value = "--wait  for it"
    made.button("Debug").click()
    made.button("Other candidates").click()

    assert made.orders == [Order("debug", "1.1 --wait for it"), Order("retry", "")]


def test_work_that_was_stopped_before_it_was_open_says_so() -> None:
    showing = Showing(TerminalScreen(), Keeper())
    showing.end("")

    assert "Nothing was explored" in showing.moment().note
    assert not showing.moment().is_working


def test_only_what_changed_is_read_out_again() -> None:
    made = Made()
    at_first = moment(candidate(1), chosen="step-1/1")
    made.view.update(at_first)
    before = read_out(made)
    working = Progress(activity="working", message="Asking the model", error=at_first.notebook)
    made.view.update(replace(at_first, progress=working))
    after = read_out(made)

    (status, alert), (now, still) = before, after
    assert "Waiting for you." in status
    assert "Working: Asking the model" in now
    assert 'role="status"' in now
    assert 'role="alert"' in alert
    assert still == alert


def read_out(made: Made) -> list[str]:
    values = [one.value for one in parts(made.view.root) if type(one).__name__ == "HTML"]
    marks = ('aria-label="Exploration status"', 'role="alert"')
    return [value for mark in marks for value in values if mark in value]


def test_widgets_that_lost_their_kernel_say_how_to_go_on() -> None:
    made = Made()
    made.view.update(replace(moment(candidate(1)), notebook="my <tea>.ipynb"))
    head = next(one for one in parts(made.view.root) if type(one).__name__ == "HTML").value

    # The mark is put there by ipywidgets in the front end, when the kernel is restarted.
    assert ".exploracoder-gone { display: none }" in head
    assert ".jupyter-widgets-disconnected .exploracoder-gone { display: block" in head
    assert "%load_ext exploracoder, then %exploracoder resume my &lt;tea&gt;.ipynb" in head


def test_what_a_kernel_that_ends_leaves_behind_says_how_to_go_on(
    notebook: Callable[..., FrontEnd],
) -> None:
    front = notebook()
    front.run(explore("--review --output left.ipynb"))
    front.wait_for(lambda: front.can_press("Explore"))
    (drawn,) = front.outputs.values()
    front.run("%unload_ext exploracoder")
    front.wait_for(lambda: not front.has_view)
    (left,) = front.outputs.values()
    front.run("%load_ext exploracoder")

    assert "To go on after a restart run %load_ext exploracoder" in drawn["text/html"]
    assert "%exploracoder resume left.ipynb" in left["text/html"]
    assert "%exploracoder resume left.ipynb" in " ".join(left["text/plain"].split())


def test_a_closed_view_leaves_no_widget_behind() -> None:
    from ipywidgets import Widget

    def there() -> set[str]:
        return set(Widget.get_manager_state()["state"])

    before = there()
    made = Made()
    made.view.update(moment(candidate(1), chosen="step-1/1"))
    made.view.update(moment(candidate(2), chosen="step-1/2"))
    made.view.close()

    assert there() - before == set()
