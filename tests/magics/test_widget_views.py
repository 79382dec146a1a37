"""What the widgets show and say, without a front end; nothing shown does anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from exploracoder.events import Progress
from exploracoder.settings import PROFILES
from exploracoder.state import Attempt, Candidate, Exploration, Solution, Step, Subtask, Task
from exploracoder_jupyter.magics.cell_view import CellView
from exploracoder_jupyter.magics.keeper import Keeper
from exploracoder_jupyter.magics.page_blocks import Line, Page
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.screen import TerminalScreen
from exploracoder_jupyter.magics.widgets.view import View
from exploracoder_jupyter.magics.work_snapshot import Moment
from exploracoder_kernel.observation import Observation

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def observed(**fields: Any) -> Observation:
    return Observation(**{"status": "ok", **fields})


def candidate(number: int, text: str = "x = 1", **fields: Any) -> Candidate:
    return Candidate(
        id=f"step-1/{number}", code=text, origin="draft", observation=observed(**fields)
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


class ViewHarness:
    """A view without a front end, and what its buttons said."""

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.view = View(self.orders.append)
        self.widgets = list(parts(self.view.root))

    def button(self, name: str) -> Any:
        return next(one for one in self.widgets if getattr(one, "description", "") == name)


def test_what_others_wrote_is_escaped_wherever_it_stands() -> None:
    harness = ViewHarness()
    harness.view.update(moment(candidate(1, EVIL), text=EVIL))
    harness.view.say(Page((Line(EVIL),)))

    values = htmls(harness)
    assert sum("alert(1)" in value for value in values) >= 5
    assert [value for value in values if "<script" in value or "<img" in value] == []


def test_what_did_not_change_is_left_alone_and_what_the_user_looks_at_stays() -> None:
    harness = ViewHarness()
    first, second, third = (candidate(number, f"x = {number}") for number in (1, 2, 3))
    harness.view.update(moment(first, second, chosen=second.id))
    choice = harness.button("Candidate")
    first_index, before = choice.index, htmls(harness)
    choice.index = 0
    looked_at = htmls(harness)
    changes: list[Any] = []
    for one in parts(harness.view.root):
        one.observe(lambda change: changes.append(change["owner"].description or "page"), "value")
    harness.view.update(moment(first, second, third, chosen=second.id))
    later_index, redrawn = choice.index, list(changes)
    harness.button("Accept").click()
    harness.view.update(moment(first, second, third, chosen=third.id))

    assert first_index == 1
    assert any("x = 2" in value for value in before)
    assert any("x = 1" in value for value in looked_at)
    assert not any("x = 2" in value for value in looked_at)
    assert later_index == 0
    # The plan counts one more; the title, the docs and the candidate are as they were.
    assert redrawn.count("page") == 1
    assert choice.index == 2
    assert choice.options[2] == "Candidate 3: ran, proposed"
    assert any("x = 3" in value for value in htmls(harness))
    assert harness.orders == [Order("accept", "1.1")]


def htmls(harness: ViewHarness) -> list[str]:
    return [one.value for one in parts(harness.view.root) if type(one).__name__ == "HTML"]


def test_a_hint_goes_along_once_and_is_not_taken_for_options() -> None:
    harness = ViewHarness()
    harness.view.update(moment(candidate(1), chosen="step-1/1"))
    hint = harness.button("Hint")
    hint.value = "--wait  for it"
    harness.button("Debug").click()
    harness.button("Other candidates").click()

    assert harness.orders == [Order("debug", "1.1 --wait for it"), Order("retry", "")]


def test_work_that_was_stopped_before_it_was_open_says_so() -> None:
    showing = CellView(TerminalScreen(), Keeper())
    showing.end("")

    assert "Nothing was explored" in showing.moment().note
    assert not showing.moment().is_working


def test_what_a_first_try_solved_can_be_inserted_or_explored_nevertheless() -> None:
    harness, open_one = ViewHarness(), moment().exploration
    assert open_one is not None
    final = Attempt(code="x = 1", observation=observed(), checks="passed")
    fields = {"steps": (), "is_planned": False, "solution": Solution(attempts=(final,))}
    at_end = Progress(activity="idle", part="solution")
    harness.view.update(Moment(open_one.model_copy(update=fields), at_end))

    can_press = [
        one.description for one in harness.widgets if getattr(one, "disabled", None) is False
    ]
    assert [name for name in can_press if name in ("Explore", "Resume")] == ["Explore"]
    assert "Insert into my notebook" in can_press
    values = htmls(harness)
    assert any("A first try solved it without a plan" in value for value in values)


def test_only_what_changed_is_read_out_again() -> None:
    harness = ViewHarness()
    at_first = moment(candidate(1), chosen="step-1/1")
    harness.view.update(at_first)
    before = read_out(harness)
    working = Progress(activity="working", message="Asking the model", error=at_first.notebook)
    harness.view.update(replace(at_first, progress=working))
    after = read_out(harness)

    (status, alert), (now, still) = before, after
    assert "Waiting for you." in status
    assert "Working: Asking the model" in now
    assert 'role="status"' in now
    assert 'role="alert"' in alert
    assert still == alert


def read_out(harness: ViewHarness) -> list[str]:
    values = htmls(harness)
    marks = ('aria-label="Exploration status"', 'role="alert"')
    return [value for mark in marks for value in values if mark in value]


def test_widgets_that_lost_their_kernel_say_how_to_go_on() -> None:
    harness = ViewHarness()
    harness.view.update(replace(moment(candidate(1)), notebook="my <tea>.ipynb"))
    head = next(one for one in parts(harness.view.root) if type(one).__name__ == "HTML").value

    # The mark is put there by ipywidgets in the front end, when the kernel is restarted.
    assert ".exploracoder-gone { display: none }" in head
    assert ".jupyter-widgets-disconnected .exploracoder-gone { display: block" in head
    assert "%load_ext exploracoder, then %exploracoder resume my &lt;tea&gt;.ipynb" in head


def test_a_closed_view_leaves_no_widget_behind() -> None:
    from ipywidgets import Widget

    def there() -> set[str]:
        return set(Widget.get_manager_state()["state"])

    before = there()
    harness = ViewHarness()
    harness.view.update(moment(candidate(1), chosen="step-1/1"))
    harness.view.update(moment(candidate(2), chosen="step-1/2"))
    harness.view.close()

    assert there() - before == set()
