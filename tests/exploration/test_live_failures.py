"""What a steered session keeps when work is cancelled, or the model, the disk or a cell fails."""

from __future__ import annotations

import asyncio

import pytest
from exploracoder import commands as c
from exploracoder.errors import CommandError, SetupError
from exploracoder.testing import Delay, Failure

from .conftest import Serve
from .live_sessions import (
    accept_all,
    chosen_codes,
    goals,
    ids,
    live_session,
    wait_until_asked,
)
from .scripted import (
    COLLECT,
    GOALS,
    KEEP,
    READ,
    SOLUTION,
    TeaModel,
    fenced,
    script_of,
)

WEAK = KEEP.replace("> 3", "> 1")
CODES = [READ, KEEP, COLLECT]
REFUSES = Failure(401, "no such key")
WRITTEN = script_of(GOALS, CODES, fenced(SOLUTION))


async def test_what_is_cancelled_keeps_its_seconds(serve: Serve) -> None:
    async with live_session(serve(TeaModel(scripts=[Delay(60, WRITTEN)]))) as surface:
        await surface.session.do(c.GoOn())
        await asyncio.sleep(1.0)
        await surface.session.do(c.Cancel())

    assert surface.session.exploration.seconds_total > 0.9


async def test_cancelling_keeps_what_was_accepted_and_the_work_can_go_on(serve: Serve) -> None:
    model = TeaModel(is_lost=True, drafts={2: [Delay(30, fenced(KEEP)), fenced(KEEP)]})
    server = serve(model)
    async with live_session(server) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        request_count = len(server.chat_requests)
        await surface.session.do(c.Accept(subtask="step-1"))
        await asyncio.to_thread(server.wait_for_requests, len(server.requests) + 1, 20)
        with pytest.raises(CommandError, match="Cancel that first"):
            await surface.session.do(c.GoOn())
        await surface.session.do(c.Cancel())
        exploration = surface.session.exploration
        await surface.do(c.GoOn())

    assert request_count
    assert [step.status for step in exploration.steps][:1] == ["done"]
    assert exploration.status == "waiting"
    assert surface.statuses[:2] == ["done", "review"]


@pytest.mark.parametrize("what", ["draft", "debug"])
async def test_a_retry_that_is_cancelled_or_fails_leaves_what_was_accepted(
    serve: Serve, what: str
) -> None:
    server = serve(TeaModel(drafts={1: [Delay(30, fenced(WEAK)), REFUSES]}, debugs={1: [REFUSES]}))
    retry = c.Draft(subtask="step-1") if what == "draft" else c.Debug(subtask="step-1", hint="No.")
    async with live_session(server) as surface:
        await accept_all(surface)
        await surface.do(c.Synthesize())
        before = surface.session.exploration
        if what == "draft":
            await surface.session.do(retry)
            await asyncio.to_thread(wait_until_asked, server, "draft", 1)
            await surface.session.do(c.Cancel())
            cancelled = surface.session.exploration
            assert (cancelled.steps, cancelled.solution) == (before.steps, before.solution)
        await surface.do(retry)
        after, error = surface.session.exploration, surface.error

    assert "key" in error
    assert (after.steps, after.solution) == (before.steps, before.solution)


async def test_another_choice_that_is_cancelled_leaves_what_was_accepted(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await accept_all(surface)
        await surface.do(c.Synthesize())
        await surface.do(c.TryCode(subtask="step-1", code="1 / 0"))
        branches = len(await surface.session.bench.sidecar.measure())
        before = surface.session.exploration
        slow = f"import time\ntime.sleep(60)\n{READ}"
        await surface.session.do(c.TryCode(subtask="step-1", code=slow))
        await asyncio.sleep(1.0)
        await surface.session.do(c.Cancel())
        after = surface.session.exploration
        left = len(await surface.session.bench.sidecar.measure())

    assert (after.steps, after.solution) == (before.steps, before.solution)
    assert left == branches


async def test_what_the_user_ran_while_work_was_cancelled_is_a_candidate(serve: Serve) -> None:
    model = TeaModel(is_lost=True, drafts={2: [Delay(30, fenced(KEEP))]})
    server = serve(model)
    async with live_session(server) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        await surface.session.do(c.Accept(subtask="step-1"))
        await asyncio.to_thread(wait_until_asked, server, "draft", 2)
        bench = surface.session.bench
        branch = await bench.sidecar.fork(bench.branches.current)
        observation = await bench.sidecar.run(branch, WEAK)
        await surface.session.take_run("step-2", WEAK, branch, observation)
        await surface.session.do(c.Cancel())
        saved = surface.saved[-1]
        own = saved.steps[1].candidates[-1]
        await surface.do(c.Accept(subtask="step-2", candidate=own.id))

    assert (own.code, own.origin, own.ran) == (WEAK, "user", True)
    assert saved.steps[1].is_open
    assert chosen_codes(surface.session.exploration)[:2] == [READ, WEAK]


async def test_what_cannot_be_saved_is_said_and_work_goes_on_when_it_can_be(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        surface.save_trouble = "The disk is full."
        await surface.do(c.Accept(subtask="step-1"))
        said, activity = surface.error, surface.session.progress.activity
        surface.save_trouble = ""
        await surface.do(c.GoOn(), c.Accept(subtask="step-2"))
        saved = surface.saved[-1]

    assert (said, activity) == ("The disk is full.", "review")
    assert surface.error == ""
    assert [step.status for step in saved.steps][:2] == ["done", "done"]


async def test_what_could_not_be_saved_is_saved_at_the_end(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        surface.save_trouble = "The disk is full."
        await surface.do(c.Accept(subtask="step-1"))
        surface.save_trouble = ""
    assert surface.saved[-1].steps[0].status == "done"

    with pytest.raises(SetupError, match="The disk is full"):
        async with live_session(serve()) as surface:
            await surface.do(c.GoOn(), c.GoOn())
            surface.save_trouble = "The disk is full."
            await surface.do(c.Accept(subtask="step-1"))


async def test_an_accepted_cell_that_fails_when_it_is_run_again_stays_accepted(
    serve: Serve,
) -> None:
    async with live_session(serve()) as surface:
        await accept_all(surface)
        await surface.do(c.Synthesize())
        before = surface.session.exploration
        bench = surface.session.bench
        branch = await bench.sidecar.fork(bench.branches.current)
        observation = await bench.sidecar.run(branch, "1 / 0")
        await surface.session.take_run("step-1", READ, branch, observation)
        await surface.session.idle()
        after = surface.session.exploration

    assert after.steps == before.steps


async def test_a_retry_that_is_cancelled_leaves_the_order_of_the_plan(serve: Serve) -> None:
    server = serve(TeaModel(drafts={2: [Delay(30, fenced(KEEP))]}))
    async with live_session(server) as surface:
        await accept_all(surface, 1)
        await surface.do(c.AddSubtask(goal="Count"), c.Skip(subtask="step-3"))
        before = ids(surface)
        await surface.session.do(c.Draft(subtask="step-2"))
        await asyncio.to_thread(wait_until_asked, server, "draft", 1)
        await surface.session.do(c.RenameSubtask(subtask="step-4", goal="Count them"))
        await surface.session.do(c.Cancel())

    assert surface.statuses == ["done", "review", "skipped", "pending"]
    assert ids(surface) == before
    assert goals(surface)[-1] == "Count them"


async def test_an_edit_that_could_not_be_saved_is_saved_at_the_end(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn())
        surface.save_trouble = "The disk is full."
        with pytest.raises(SetupError, match="The disk is full"):
            await surface.do(c.RenameSubtask(subtask="step-1", goal="Read it"))
        surface.save_trouble = ""

    assert surface.saved[-1].steps[0].subtask.goal == "Read it"


async def test_a_session_whose_end_is_cancelled_saves_before_it_ends(serve: Serve) -> None:
    server = serve(TeaModel(is_lost=True, drafts={2: [Delay(30, fenced(KEEP))]}))
    async with live_session(server) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        await surface.session.do(c.Accept(subtask="step-1"))
        await asyncio.to_thread(wait_until_asked, server, "draft", 2)
        closing = asyncio.ensure_future(surface.session.__aexit__(None, None, None))
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        saved, working = surface.saved[-1], surface.session.is_working

    assert not working
    assert (saved.status, saved.steps[0].status) == ("waiting", "done")


async def test_what_is_cancelled_while_it_is_written_is_written_anew(serve: Serve) -> None:
    server = serve(TeaModel(scripts=[Delay(30, WRITTEN), WRITTEN]))
    async with live_session(server) as surface:
        await surface.session.do(c.GoOn())
        await asyncio.to_thread(wait_until_asked, server, "write", 1)
        await surface.session.do(c.Cancel())
        exploration = surface.session.exploration
        await surface.do(c.GoOn())

    assert (exploration.status, exploration.steps, exploration.is_planned) == ("paused", (), False)
    assert goals(surface) == list(GOALS)


@pytest.mark.parametrize(
    ("model", "work"),
    [
        (TeaModel(scripts=[REFUSES, WRITTEN]), []),
        (TeaModel(is_lost=True, drafts={1: [REFUSES, fenced(READ)]}), [c.GoOn()]),
    ],
    ids=["as it writes", "as it explores"],
)
async def test_a_model_that_fails_stops_the_work_and_is_asked_again(
    serve: Serve, model: TeaModel, work: list[c.Command]
) -> None:
    async with live_session(serve(model)) as surface:
        await surface.do(*work, c.GoOn())
        error, reason = surface.error, surface.session.exploration.reason
        await surface.do(c.GoOn(), *([] if work else [c.GoOn()]))

    assert "key" in error
    assert reason == error
    assert surface.error == ""
    assert surface.statuses[0] == "review"
