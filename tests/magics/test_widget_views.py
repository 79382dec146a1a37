"""What the widgets show and say, without a front end; nothing shown does anything."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from exploracoder.config import PROFILES
from exploracoder.events import Progress
from exploracoder.state import Attempt, Candidate, Exploration, Solution, Step, Subtask, Task
from exploracoder_jupyter.magics.keeper import Keeper
from exploracoder_jupyter.magics.moment import Moment
from exploracoder_jupyter.magics.page import Line, Page
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.screen import TerminalScreen
from exploracoder_jupyter.magics.showing import Showing
from exploracoder_jupyter.magics.widgets.outputs import outputs_of
from exploracoder_jupyter.magics.widgets.view import View
from exploracoder_kernel.observation import ErrorReport, Observation

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


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
    assert svg["data"]["text/html"].startswith('<img alt="Output" src="data:')
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


def test_a_new_tab_is_told_its_title_even_where_it_is_that_of_the_tab_before() -> None:
    made = Made()
    made.view.update(moment(candidate(1, "x = 1"), chosen="step-1/1"))
    tabs = made.one("Tab")
    heard: list[tuple[str, ...]] = []
    tabs.observe(lambda change: heard.append(change["new"]), "titles")

    made.view.update(moment(candidate(1, "x = 2"), chosen="step-1/1"))

    assert heard == [("",), ("Candidate 1: ran, proposed",)]


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


def test_what_a_first_try_solved_can_be_inserted_or_explored_nevertheless() -> None:
    made, open_one = Made(), moment().exploration
    assert open_one is not None
    final = Attempt(code="x = 1", observation=observed(), checks="passed")
    solved = {"steps": (), "is_planned": False, "solution": Solution(attempts=(final,))}
    at_end = Progress(activity="idle", part="solution")
    made.view.update(Moment(open_one.model_copy(update=solved), at_end))

    can_press = [one.description for one in made.widgets if getattr(one, "disabled", None) is False]
    assert [name for name in can_press if name in ("Explore", "Resume")] == ["Explore"]
    assert "Insert into my notebook" in can_press
    values = [one.value for one in parts(made.view.root) if type(one).__name__ == "HTML"]
    assert any("A first try solved it without a plan" in value for value in values)


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
