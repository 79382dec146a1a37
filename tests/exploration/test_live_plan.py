"""The plan of a session: edited, also while it works, and made anew."""

from __future__ import annotations

import asyncio
import time

import pytest
from exploracoder import commands as c
from exploracoder.engine.running import plan_edits
from exploracoder.errors import CommandError, InputError
from exploracoder.testing import Delay
from waiting import until

from .conftest import Serve
from .live_sessions import (
    accept_all,
    chosen_codes,
    goals,
    ids,
    live_session,
    new_exploration,
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
    kinds_asked,
    script_of,
)

WRITTEN = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))


SOME = ("Read the leaves", "Keep some")


async def test_the_plan_is_edited_where_it_is_open(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await surface.do(c.AddSubtask(goal="Say how many there are", before="step-3"))
        await surface.do(c.RenameSubtask(subtask="step-3", goal="Collect  the names"))
        await surface.do(c.MoveSubtask(subtask="step-4", before=None))
        edited_goals = list(goals(surface))
        await surface.do(c.DeleteSubtask(subtask="step-4"))

    assert edited_goals == [*GOALS[:2], "Collect the names", "Say how many there are"]
    assert ids(surface) == ["step-1", "step-2", "step-3"]


async def test_what_was_deleted_is_put_back_with_what_was_tried_for_it(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn())
        second = surface.session.exploration.steps[1]
        await surface.do(c.DeleteSubtask(subtask="step-2"), c.DeleteSubtask(subtask="step-1"))
        rest = ids(surface)
        await surface.do(c.RestoreSubtask(subtask="step-1"), c.RestoreSubtask(subtask="step-2"))

        assert rest == ["step-3"]
        assert ids(surface) == ["step-1", "step-2", "step-3"]
        assert surface.session.exploration.steps[1] == second
        with pytest.raises(InputError, match="not deleted"):
            await surface.session.do(c.RestoreSubtask(subtask="step-2"))
        await surface.do(c.GoOn(), c.Accept(subtask="step-1"))
        await surface.do(c.DeleteSubtask(subtask="step-2"), c.AddSubtask(goal="Something else"))
        await surface.do(c.RestoreSubtask(subtask="step-2"))

    assert surface.statuses[0] == "done"
    assert len(set(ids(surface))) == 4


async def test_what_was_deleted_can_be_put_back_until_it_is(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.DeleteSubtask(subtask="step-3"))
        await surface.do(c.AddSubtask(goal="Say how many"), c.DeleteSubtask(subtask="step-3"))
        with monkeypatch.context() as full, pytest.raises(CommandError, match="at most"):
            full.setattr(plan_edits, "MAX_SUBTASKS", 2)
            await surface.session.do(c.RestoreSubtask(subtask="step-3"))

        await surface.do(c.RestoreSubtask(subtask="step-3"), c.RestoreSubtask(subtask="step-3"))

    assert sorted(goals(surface)) == sorted([*GOALS, "Say how many"])


@pytest.mark.parametrize("restores", [False, True])
async def test_a_skipped_subtask_that_is_moved_starts_from_where_it_is_now(
    serve: Serve, restores: bool
) -> None:
    names = "names = [leaf.name for leaf in leaves]\nprint(names)"
    server = serve(TeaModel(scripts=[script_of(GOALS, [READ, KEEP, names], fenced(SOLUTION))]))
    async with live_session(server) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"), c.Skip(subtask="step-2"))
        if restores:
            await surface.do(c.DeleteSubtask(subtask="step-2"), c.Accept(subtask="step-3"))
            await surface.do(c.RestoreSubtask(subtask="step-2"))
        else:
            await surface.do(c.MoveSubtask(subtask="step-2"), c.Accept(subtask="step-3"))
        await surface.do(c.TryCode(subtask="step-2", code="print(len(names))"))

    assert ids(surface) == ["step-1", "step-3", "step-2"]
    assert surface.statuses == ["done"] * 3


async def test_a_skipped_subtask_starts_after_what_was_put_before_it(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"), c.Skip(subtask="step-2"))
        await surface.do(c.AddSubtask(goal="Say how many", before="step-2"))
        await surface.do(c.TryCode(subtask="step-4", code="count = len(leaves)"))
        await surface.do(c.TryCode(subtask="step-2", code="print(count)"))

    step = surface.session.exploration.steps[2]
    assert ids(surface)[:3] == ["step-1", "step-4", "step-2"]
    assert step.candidates[-1].ran


async def test_a_method_that_explores_nothing_plans_again_without_cells(serve: Serve) -> None:
    server = serve(TeaModel(solutions=["1 / 0"]))
    exploration = new_exploration().model_copy(update={"method": "capir"})
    async with live_session(server, exploration=exploration) as surface:
        await surface.do(c.GoOn())
        planned_count = kinds_asked(server).count("plan")
        await surface.do(c.Replan(subtask="step-2"))

    assert planned_count == 1
    assert kinds_asked(server).count("plan") == 2
    assert "write" not in kinds_asked(server)


async def test_planning_again_keeps_what_stands_before(serve: Serve) -> None:
    scripts = [script_of(SOME, [READ, KEEP]), script_of(["Keep the strong"], [KEEP])]
    async with live_session(serve(TeaModel(scripts=scripts))) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await surface.do(c.Replan(subtask="step-2"))

    assert goals(surface) == ["Read the leaves", "Keep the strong"]
    assert ids(surface)[0] == "step-1"


@pytest.mark.parametrize(
    ("again", "planned"),
    [(script_of(["Keep the strong"], [KEEP]), ["Keep the strong"]), (fenced(SOLUTION), [])],
    ids=["cells", "the solution alone"],
)
async def test_a_subtask_that_is_added_while_it_plans_again_stays(
    serve: Serve, again: str, planned: list[str]
) -> None:
    server = serve(TeaModel(scripts=[script_of(SOME, [READ, KEEP]), Delay(1.0, again)]))
    async with live_session(server) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await surface.session.do(c.Replan(subtask="step-2"))
        await asyncio.to_thread(wait_until_asked, server, "write", 2)
        await surface.session.do(c.AddSubtask(goal="Look at them"))
        await surface.session.idle()

    assert goals(surface) == ["Read the leaves", "Look at them", *planned]
    assert len(set(ids(surface))) == 2 + len(planned)


async def test_a_plan_that_is_edited_while_a_step_is_done_again_stays_so(serve: Serve) -> None:
    fails = fenced("print(undefined)")
    model = TeaModel(
        is_lost=True,
        drafts={1: [fenced(READ), Delay(1.0, fenced(READ))], 2: [fails, fenced(KEEP)]},
        debugs={2: [fails]},
    )
    server = serve(model)
    settings = {"check": "", "backtracks": 1, "looks": 0}
    async with live_session(server, mode="auto", **settings) as surface:
        await surface.session.do(c.GoOn())
        await asyncio.to_thread(wait_until_asked, server, "draft", 3)
        await surface.session.do(c.RenameSubtask(subtask="step-3", goal="Collect the names"))
        await surface.session.do(c.AddSubtask(goal="Count them"))
        await surface.session.idle()

    assert surface.statuses[:2] == ["done", "failed"]
    assert goals(surface) == [*GOALS[:2], "Collect the names", "Count them"]


async def test_a_subtask_that_is_added_while_cells_run_has_its_turn(serve: Serve) -> None:
    slow = f"import time\ntime.sleep(2)\n{READ}"
    count = "count = len(leaves)\nprint(count)"
    script = script_of(GOALS, [slow, KEEP, COLLECT], fenced(SOLUTION))
    model = TeaModel(scripts=[script], drafts={2: [fenced(count)]})
    async with live_session(serve(model, piece_pause_s=0.05), mode="auto", check="") as surface:
        await surface.session.do(c.GoOn())
        deadline = time.monotonic() + 30
        while not surface.session.exploration.steps:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        await surface.session.do(c.AddSubtask(goal="Count them"))
        await surface.session.idle()

    assert surface.statuses == ["done"] * 4
    assert chosen_codes(surface.session.exploration) == [slow, count, KEEP, COLLECT]


async def test_a_cell_that_runs_while_others_are_written_is_not_edited(serve: Serve) -> None:
    slow = f"import time\ntime.sleep(2)\n{READ}"
    script = script_of(GOALS, [slow, KEEP, COLLECT], fenced(SOLUTION))
    server = serve(TeaModel(scripts=[script]), piece_pause_s=0.05)
    async with live_session(server, mode="auto") as surface:
        await surface.session.do(c.GoOn())
        await until(lambda: surface.session.progress.part == "step-1")
        await asyncio.sleep(0.5)
        with pytest.raises(CommandError, match="is being explored"):
            await surface.session.do(c.DeleteSubtask(subtask="step-1"))
        await surface.session.idle()

    assert surface.statuses == ["done"] * 3


@pytest.mark.parametrize("deletes", [False, True])
async def test_what_is_edited_while_steps_before_it_run_again_is_not_run(
    serve: Serve, deletes: bool
) -> None:
    slow = f"import time\ntime.sleep(2 * (len(leaves) < 3))\n{KEEP}"
    other = READ.replace("(text)", "(text)[:2]")
    server = serve(TeaModel(scripts=[script_of(GOALS, [READ, slow, COLLECT], fenced(SOLUTION))]))
    async with live_session(server) as surface:
        await accept_all(surface)
        await surface.session.do(c.TryCode(subtask="step-1", code=other))
        await until(lambda: surface.session.progress.part == "step-2")
        if deletes:
            await surface.session.do(c.DeleteSubtask(subtask="step-3"))
        else:
            await surface.session.do(c.RenameSubtask(subtask="step-3", goal="Name them"))
        await surface.session.idle()
        await surface.do(c.AddSubtask(goal="Look") if deletes else c.Cancel())
        await surface.do(c.TryCode(subtask="step-3", code="print('names' in globals())"))
        last = surface.step(3)

    assert surface.statuses == ["done"] * 3
    assert last.subtask.goal == ("Look" if deletes else "Name them")
    assert last.candidate is not None
    assert last.candidate.observation is not None
    assert last.candidate.observation.stdout == "False\n"


async def test_a_subtask_that_is_another_now_takes_the_written_solution_along(
    serve: Serve,
) -> None:
    mine = COLLECT.replace("leaf.name", "leaf.name.upper()")
    server = serve(TeaModel(scripts=[WRITTEN], drafts={3: [fenced(mine)]}))
    async with live_session(server, check="", compose=False) as surface:
        await accept_all(surface, 2)
        await surface.do(c.RenameSubtask(subtask="step-3", goal="Collect the names in capitals"))
        await surface.do(c.GoOn(), c.Accept(subtask="step-3"), c.GoOn())
        codes = chosen_codes(surface.session.exploration)

    assert codes == [READ, KEEP, mine]
    assert kinds_asked(server) == ["write", "draft", "solution"]
