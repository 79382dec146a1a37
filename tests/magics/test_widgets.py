"""The widgets: buttons lead the whole flow in a real kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest
from exploracoder import document
from exploracoder.testing import Delay

from .conftest import (
    CHECK,
    COLLECT,
    CONTEXT,
    GOALS,
    KEEP,
    READ,
    SOLUTION,
    TASK,
    Stage,
    TeaModel,
    fenced,
    script_of,
)
from .front_end import VIEW, FrontEnd, front_end

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
    script = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))
    lines = {"drafts": {1: [fenced(OTHERWISE)]}, "debugs": {1: [fenced(REPAIRED)]}}
    front = notebook(scripts=[script], **lines)
    names = front.value(NAMES)
    front.run(explore("--review --output buttons.ipynb"))
    front.wait_for(lambda: front.can_press("Explore"))
    plan_text, plan = front.text, front.plan
    assert not front.can_press("Accept")
    front.press("Explore")
    front.wait_for(lambda: "Candidate 1: ran, proposed" in front.text)
    candidate_text = front.text
    front.press("Other candidates")
    front.wait_for(lambda: "Candidate 2: ran" in front.text)
    front.change(front.find("Hint")[0], value="Print the first")
    front.press("Debug")
    front.wait_for(lambda: "Candidate 3: ran, repaired" in front.text)
    request_body = str(stage.server.chat_requests[-1].body)
    front.press("Accept")
    front.wait_for(lambda: "accepted 3 candidates" in front.plan)
    front.press("Accept")
    front.wait_for(lambda: front.plan.count("accepted") == 2)
    front.press("Skip")
    front.wait_for(lambda: "left out" in front.plan and front.can_press("Synthesize"))
    front.change(front.find("Subtask")[0], index=2)
    front.press("Go back here")
    front.wait_for(lambda: "left out" not in front.plan)
    front.press("Accept")
    front.wait_for(lambda: front.plan.count("accepted") == 3)
    front.press("Synthesize")
    front.wait_for(lambda: "Verified" in front.text)
    before = front.run("1 + 1")
    front.press("Insert into my notebook")
    front.wait_for(lambda: "below the next cell that you run" in front.text)
    after = front.run("1 + 1")

    assert all(f"{goal} open 1 candidate" in plan for goal in GOALS)
    assert "Candidate 1: not run, proposed" in plan_text
    assert "Waiting for you." in plan_text
    assert "tealeaf.read_leaves" in candidate_text
    assert "Leaf(name='assam'" in unescape(candidate_text)
    assert "Print the first" in request_body
    assert "model calls" in front.text
    assert before["payload"] == []
    exploration = document.load(stage.folder / "buttons.ipynb")
    assert exploration.solution is not None
    assert [one["text"] for one in after["payload"]] == [exploration.solution.final.code]
    assert front.value(NAMES) == names


def test_the_kernel_stays_free_the_output_stays_put_and_cancel_stops_it(
    notebook: Callable[..., FrontEnd],
) -> None:
    front = notebook(scripts=[Delay(60, script_of(GOALS, [READ]))])
    front.run(explore("--review --output slow.ipynb"))
    front.wait_for(lambda: TASK in front.text and front.can_press("Cancel"))
    (output,), bundles = front.outputs.values(), front.bundles
    front.run("leaf = 1")
    front.press("Cancel")
    front.wait_for(lambda: front.can_press("Resume"))
    text, at_rest = front.text, front.bundles
    front.run("%exploracoder status")
    front.wait_for(lambda: len(front.outputs) == 2)
    old, new = front.outputs.values()

    assert {"text/html", "text/plain", VIEW} <= set(output)
    assert at_rest == bundles
    assert "Stopped. All that was found is kept." in text
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
    count = front.made
    front.run("import sys\nkept = sys.modules.pop('ipywidgets')\nsys.modules['ipywidgets'] = None")
    try:
        reply = front.run("%exploracoder config widgets=on")
        front.run(explore("--auto --wait --output none.ipynb"))
    finally:
        front.run("sys.modules['ipywidgets'] = kept\ndel kept, sys")

    assert "pip install 'exploracoder[widgets]'" in reply["evalue"]
    assert front.made == count
    assert "Solved." in list(front.outputs.values())[-1]["text/html"]


def test_what_a_kernel_that_ends_leaves_behind_says_how_to_go_on(
    notebook: Callable[..., FrontEnd],
) -> None:
    front = notebook()
    front.run(explore("--review --output left.ipynb"))
    front.wait_for(lambda: front.can_press("Explore"))
    (before,) = front.outputs.values()
    front.run("%unload_ext exploracoder")
    front.wait_for(lambda: not front.has_view)
    front.wait_for(lambda: "left.ipynb" in next(iter(front.outputs.values()))["text/html"])
    (after,) = front.outputs.values()
    front.run("%load_ext exploracoder")

    assert "To go on after a restart run %load_ext exploracoder" in before["text/html"]
    assert "%exploracoder resume left.ipynb" in " ".join(after["text/plain"].split())
