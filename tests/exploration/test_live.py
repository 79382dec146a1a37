"""A session that a user steers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence

import pytest
from exploracoder import commands as c
from exploracoder.errors import CommandError, InputError
from exploracoder.live_session import LiveSession
from exploracoder.testing import Failure
from waiting import wait_until

from .conftest import Serve
from .live_sessions import (
    accept_all,
    chosen_codes,
    ids,
    live_session,
    new_exploration,
    replayed_from_changes,
)
from .scripted import (
    COLLECT,
    GOALS,
    KEEP,
    READ,
    SOLUTION,
    WRONG_SOLUTION,
    TeaModel,
    fenced,
    kinds_asked,
    script_of,
)

WEAK = KEEP.replace("> 3", "> 1")
CODES = [READ, KEEP, COLLECT]
WRITTEN = script_of(GOALS, CODES, fenced(SOLUTION))


async def test_review_mode_stops_at_the_plan_and_at_each_subtask(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn())
        at_plan = surface.statuses, surface.session.exploration.status
        await surface.do(c.GoOn())
        at_first = surface.statuses, surface.session.progress.part
        await surface.do(c.Accept(subtask="step-1"))
        at_second = surface.statuses, surface.session.progress.part
        await surface.do(c.Accept(subtask="step-2"), c.Accept(subtask="step-3"))
        at_end = surface.statuses, surface.session.exploration.solution
        await surface.do(c.Synthesize())
        exploration = surface.session.exploration

    assert at_plan == (["pending"] * 3, "waiting")
    assert at_first == (["review", "pending", "pending"], "step-1")
    assert at_second == (["done", "review", "pending"], "step-2")
    assert at_end == (["done"] * 3, None)
    assert exploration.status == "solved"
    assert chosen_codes(exploration) == [READ, KEEP, COLLECT]


async def test_what_is_accepted_as_it_was_written_ends_with_the_written_solution(
    serve: Serve,
) -> None:
    server = serve()
    async with live_session(server) as surface:
        await accept_all(surface)
        await surface.do(c.GoOn())
        exploration = surface.session.exploration

    assert kinds_asked(server) == ["write"]
    assert exploration.status == "solved"
    assert exploration.solution is not None
    assert exploration.solution.final.code == SOLUTION


async def test_a_solution_is_not_as_it_was_written_once_a_cell_is_another(serve: Serve) -> None:
    mine = "kept = [leaf for leaf in leaves if leaf.strength > 3]"
    server = serve(TeaModel(scripts=[script_of(GOALS, CODES, fenced("1 / 0"))]))
    async with live_session(server) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await surface.do(c.TryCode(subtask="step-2", code=mine), c.Accept(subtask="step-3"))
        await surface.do(c.GoOn())
        exploration = surface.session.exploration

    assert exploration.status == "solved"
    assert exploration.solution is not None
    assert [one.code for one in exploration.solution.attempts] == [SOLUTION]


async def test_another_candidate_that_is_accepted_is_the_state_of_what_follows(
    serve: Serve,
) -> None:
    model = TeaModel(is_lost=True, drafts={2: [fenced(KEEP), fenced(WEAK)]})
    async with live_session(serve(model), candidates=2) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        proposal = surface.step(2).candidate
        other = next(one for one in surface.step(2).candidates if one.code == WEAK)
        await surface.do(c.Accept(subtask="step-2", candidate=other.id))
        third = surface.step(3).candidate

    assert proposal is not None
    assert proposal.code == KEEP
    assert third is not None
    assert third.observation is not None
    assert "sencha" in third.observation.stdout
    assert chosen_codes(surface.session.exploration)[1] == WEAK


async def test_going_back_opens_later_steps_and_keeps_their_candidates(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await accept_all(surface)
        await surface.do(c.GoBack(subtask="step-2"))
        back = surface.statuses
        candidate_counts = [len(step.candidates) for step in surface.session.exploration.steps]
        spending_count = len(surface.saved[-1].spending)
        await surface.do(c.Accept(subtask="step-2"), c.Accept(subtask="step-3"))
        again = surface.session.exploration

    assert back == ["done", "review", "pending"]
    assert candidate_counts == [1, 1, 1]
    assert chosen_codes(again) == [READ, KEEP, COLLECT]
    assert len(again.spending) == spending_count, (
        "what was accepted before runs again without the model"
    )


async def test_choosing_otherwise_in_an_earlier_step_runs_the_later_ones_again(
    serve: Serve,
) -> None:
    model = TeaModel(is_lost=True, drafts={2: [fenced(KEEP), fenced(WEAK)]})
    async with live_session(serve(model), candidates=2) as surface:
        await accept_all(surface)
        other = next(one for one in surface.step(2).candidates if one.code == WEAK)
        await surface.do(c.Accept(subtask="step-2", candidate=other.id))
        after = surface.session.exploration

    assert surface.statuses == ["done"] * 3
    assert chosen_codes(after)[1] == other.code
    assert "sencha" in after.trace[2].observation.stdout


async def test_what_only_defines_something_stays_done_when_an_earlier_step_changes(
    serve: Serve,
) -> None:
    cells = [
        READ,
        "def is_strong(leaf):\n    return leaf.strength > 3",
        "filter(is_strong, leaves)",
    ]
    server = serve(TeaModel(scripts=[script_of(GOALS, cells, fenced(SOLUTION))]))
    async with live_session(server) as surface:
        await accept_all(surface)
        await surface.do(c.TryCode(subtask="step-1", code=f"{READ}\nprint(len(leaves))"))

        assert surface.statuses == ["done"] * 3


async def test_the_users_own_code_is_a_candidate_and_the_chain_goes_on_from_it(
    serve: Serve,
) -> None:
    mine = "kept = [leaf for leaf in leaves if leaf.strength > 3]"
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await surface.do(c.TryCode(subtask="step-2", code=mine))

    assert surface.statuses == ["done", "done", "review"]
    assert surface.step(2).candidate is not None
    assert surface.step(2).candidate.origin == "user"
    assert chosen_codes(surface.session.exploration) == [READ, mine]


async def test_a_cell_that_the_user_ran_by_hand_is_accepted_and_the_chain_goes_on(
    serve: Serve,
) -> None:
    mine = "kept = [leaf for leaf in leaves if leaf.strength > 3]"
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        bench = surface.session.bench
        branch = await bench.sidecar.fork(bench.branches.current)
        observation = await bench.sidecar.run(branch, mine)
        await surface.session.take_run("step-2", mine, branch, observation)
        await surface.session.idle()

    assert surface.statuses == ["done", "done", "review"]
    assert chosen_codes(surface.session.exploration) == [READ, mine]


async def test_a_cell_that_was_run_by_hand_runs_again_if_what_comes_before_is_another(
    serve: Serve,
) -> None:
    mine = "kept = list(leaves)\nprint(len(kept))"
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        bench = surface.session.bench
        branch = await bench.sidecar.fork(bench.branches.current)
        observation = await bench.sidecar.run(branch, mine)
        await surface.do(c.TryCode(subtask="step-1", code=READ.replace("(text)", "(text)[:2]")))
        await surface.session.take_run("step-2", mine, branch, observation)
        await surface.session.idle()
        second = surface.step(2).candidate

    assert observation.stdout == "3\n"
    assert surface.statuses[:2] == ["done", "done"]
    assert second is not None
    assert second.observation is not None
    assert second.observation.stdout == "2\n"


async def test_own_code_that_fails_is_listed_and_accepts_nothing(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        await surface.do(c.TryCode(subtask="step-1", code="1 / 0"))

    assert surface.statuses[0] == "review"
    assert [one.code for one in surface.step(1).candidates] == [READ, "1 / 0"]


async def test_a_repair_of_a_candidate_is_the_new_proposal(serve: Serve) -> None:
    model = TeaModel(drafts={1: [fenced("leaves = tealeaf.nothing(text)")]})
    async with live_session(serve(model), self_debug=False, repair_names=False) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        failed_step, looked_at = surface.step(1), surface.session.progress.part
        await surface.do(c.Debug(subtask="step-1", candidate=failed_step.candidates[0].id))
        repaired_step = surface.step(1)

    assert (failed_step.status, looked_at) == ("failed", "step-1")
    assert repaired_step.status == "review"
    assert repaired_step.candidate is not None
    assert (repaired_step.candidate.code, repaired_step.candidate.origin) == (READ, "debug")


async def test_other_candidates_come_beside_those_that_are_there(serve: Serve) -> None:
    server = serve(TeaModel(scripts=[WRITTEN], drafts={2: [fenced(WEAK)]}))
    async with live_session(server) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await surface.do(c.Draft(subtask="step-2", hint="Weaker ones too."))

    codes = [one.code for one in surface.step(2).candidates]
    assert codes == [KEEP, WEAK]
    assert "Weaker ones too." in str(server.chat_requests[-1].body)
    assert surface.step(2).status == "review"


async def test_a_skipped_subtask_is_left_out_and_the_next_one_explored(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn(), c.Accept(subtask="step-1"))
        await surface.do(c.Skip(subtask="step-2"))

    assert surface.statuses[:2] == ["done", "skipped"]
    assert surface.session.progress.part != "step-2"


async def test_ids_that_are_not_there_are_refused(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await surface.do(c.GoOn(), c.GoOn())

        with pytest.raises(InputError, match="no subtask 'step-9'"):
            await surface.session.do(c.Accept(subtask="step-9"))
        with pytest.raises(InputError, match="no candidate 'x'"):
            await surface.session.do(c.Accept(subtask="step-1", candidate="x"))


async def test_a_verified_solution_is_not_replaced_by_one_that_fails(serve: Serve) -> None:
    wrong = fenced(WRONG_SOLUTION)
    model = TeaModel(solutions=[fenced(SOLUTION), wrong], repairs=[wrong])
    async with live_session(serve(model), mode="auto") as surface:
        await surface.do(c.GoOn(), c.Synthesize())
        result = surface.session.exploration

    assert result.solution is not None
    assert len(result.solution.attempts) > 1
    assert (result.status, result.solution.final.code) == ("solved", SOLUTION)


@pytest.mark.parametrize("again", ["", "auto"])
async def test_cells_wait_once_the_user_wants_to_review_them(serve: Serve, again: str) -> None:
    slow = f"import time\ntime.sleep(2)\n{READ}"
    script = script_of(GOALS, [slow, KEEP, COLLECT], fenced(SOLUTION))
    server = serve(TeaModel(scripts=[script]))
    async with live_session(server, mode="auto") as surface:
        await surface.session.do(c.GoOn())
        await asyncio.to_thread(wait_until, lambda: "step-1" in surface.session.progress.part)
        await surface.session.do(c.SetMode(mode="review"))
        await asyncio.wait_for(surface.session.idle(), 60)
        statuses = surface.statuses
        if again:
            await surface.do(c.SetMode(mode="auto"), c.GoOn())
        else:
            await surface.do(c.Accept(subtask="step-1"))

    assert statuses == ["review", "pending", "pending"]
    assert surface.statuses == (["done"] * 3 if again else ["done", "review", "pending"])


async def test_the_method_that_was_chosen_works_in_a_session_too(serve: Serve) -> None:
    server = serve()
    exploration = new_exploration().model_copy(update={"method": "docprompting"})
    async with live_session(server, exploration=exploration) as surface:
        await surface.do(c.GoOn())
        result = surface.session.exploration

    assert kinds_asked(server) == ["solution"]
    assert (result.status, result.steps) == ("solved", ())


async def test_time_in_which_nobody_works_is_not_counted(serve: Serve) -> None:
    async with live_session(serve()) as surface:
        await asyncio.sleep(2.0)
        start = time.monotonic()
        await surface.do(c.GoOn())
        seconds = time.monotonic() - start

    assert 0 < surface.session.exploration.seconds_total < seconds + 0.5


async def test_time_before_the_plan_is_edited_is_not_counted(serve: Serve) -> None:
    async with live_session(serve(), mode="review") as surface:
        await surface.do(c.GoOn())
        before = surface.session.exploration.seconds_total
        await asyncio.sleep(1.0)
        await surface.do(c.RenameSubtask(subtask="step-3", goal="Collect the names"))

    assert surface.session.exploration.seconds_total < before + 0.5


async def test_what_was_saved_goes_on_in_another_session(serve: Serve) -> None:
    server = serve()
    async with live_session(server) as surface:
        await accept_all(surface, 2)
        exploration = surface.saved[-1]
    async with live_session(server, exploration=exploration) as surface:
        await surface.do(c.Accept(subtask="step-3"), c.Synthesize())

    assert surface.session.exploration.status == "solved"
    assert chosen_codes(surface.session.exploration) == [READ, KEEP, COLLECT]


def random_command(choose: random.Random, subtasks: Sequence[str]) -> c.Command:
    subtask = choose.choice([*subtasks, "step-99"])
    commands: list[c.Command] = [
        c.GoOn(),
        c.GoOn(),
        c.SetMode(mode=choose.choice(["auto", "review"])),
        c.AddSubtask(goal="Count the leaves", before=choose.choice([None, subtask])),
        c.RenameSubtask(subtask=subtask, goal="Read them once more"),
        c.DeleteSubtask(subtask=subtask),
        c.MoveSubtask(subtask=subtask, before=choose.choice([None, *subtasks])),
        c.Skip(subtask=subtask),
        c.Replan(subtask=subtask),
        c.Accept(subtask=subtask),
        c.Accept(subtask=subtask, candidate=f"{subtask}/{choose.randint(1, 2)}"),
        c.Debug(subtask=subtask),
        c.Draft(subtask=subtask),
        c.TryCode(subtask=subtask, code="leaves = tealeaf.read_leaves(text)"),
        c.GoBack(subtask=subtask),
        c.Synthesize(),
        c.Cancel(),
    ]
    return choose.choice(commands)


def is_offered(session: LiveSession, command: c.Command) -> bool:
    """Whether what is published says that a command can be given."""
    now, before = session.abilities, getattr(command, "before", None)
    subtask = getattr(command, "subtask", "")
    about = subtask
    if isinstance(command, c.Accept | c.Debug):
        steps = [one for one in session.exploration.steps if one.subtask.id == subtask]
        about = command.candidate or (steps[0].chosen if steps else None) or "none"
    is_placed = before in (None, subtask) or "add_subtask" in now.get(before, ())
    return command.kind in now.get(about, ()) and is_placed


async def is_taken(session: LiveSession, command: c.Command) -> bool:
    try:
        await session.do(command)
    except (CommandError, InputError):
        return False
    return True


@pytest.mark.parametrize("seed", range(6))
async def test_no_sequence_of_commands_confuses_a_session(serve: Serve, seed: int) -> None:
    choose = random.Random(seed)
    model = TeaModel(
        drafts={n: [fenced(READ), fenced("1 / 0"), fenced(KEEP)] for n in range(1, 40)},
        debugs={n: [fenced(READ), fenced("oops")] for n in range(1, 40)},
        solutions=(fenced(SOLUTION), fenced("1 / 0")),
    )
    async with live_session(serve(model), candidates=1, backtracks=1) as surface:
        await surface.do(c.GoOn())
        for _ in range(25):
            command = random_command(choose, ids(surface))
            was_offered = is_offered(surface.session, command)
            was_taken = await is_taken(surface.session, command)
            assert was_taken == was_offered or isinstance(command, c.Cancel | c.SetMode), command
            # What was taken begins, and is told.
            await asyncio.sleep(0)
            if choose.random() < 0.8:
                await asyncio.wait_for(surface.session.idle(), 30)
        await asyncio.wait_for(surface.session.idle(), 30)

        assert replayed_from_changes(surface) == surface.session.exploration
        assert surface.saved[-1] == surface.session.exploration
        seen_open = False
        for step in surface.session.exploration.steps:
            seen_open = seen_open or step.status in ("pending", "review")
            assert not (seen_open and step.status == "done"), "what is done comes first"
        await surface.session.do(c.SetMode(mode="auto"))
        was_offered = is_offered(surface.session, c.GoOn())
        assert await is_taken(surface.session, c.GoOn()) == was_offered
        await asyncio.wait_for(surface.session.idle(), 60)
        assert surface.session.progress.activity == "idle"


async def test_a_first_try_that_the_check_accepts_is_the_solution(serve: Serve) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION), fenced(SOLUTION)]))
    async with live_session(server, first_tries=3, cells=False) as surface:
        await surface.do(c.GoOn())
        exploration, progress = surface.session.exploration, surface.session.progress

    assert kinds_asked(server) == ["solution", "solution"]
    assert exploration.status == "solved"
    assert exploration.steps == ()
    assert exploration.solution is not None
    assert exploration.solution.final.code == SOLUTION
    assert progress.part == "solution"
    assert surface.saved[-1].solution == exploration.solution


async def test_while_a_solution_is_shown_in_cells_it_stays(serve: Serve) -> None:
    code = f"{SOLUTION}\n\nnames = strong_names(text)\n\nprint(names)"
    server = serve(TeaModel(solutions=[fenced(code)]))
    async with live_session(server, mode="auto", first_tries=3, cells=False) as surface:
        await surface.do(c.GoOn())
    first = next(n for n, one in enumerate(surface.saved) if one.solution is not None)
    later = surface.saved[first:]

    assert len(later[-1].steps) > 1
    assert later[0].steps == ()
    assert all(one.solution == later[-1].solution for one in later)


async def test_first_tries_are_told_as_work_of_their_own(serve: Serve) -> None:
    wrong = fenced(WRONG_SOLUTION)
    server = serve(TeaModel(solutions=[wrong, wrong, fenced(SOLUTION)]))
    async with live_session(server, first_tries=2, cells=False) as surface:
        await surface.do(c.GoOn())
        parts = [one.part for one in surface.session.exploration.spending]
    messages = [(progress.part, progress.message) for _, progress in surface.reports]

    assert ("first tries", "Trying without exploring: Attempt 1 of 2: Asking the model") in messages
    assert (
        "first tries",
        "Trying without exploring: Attempt 2 of 2: Running a snippet",
    ) in messages
    assert ("first tries", "Solved without exploring") in messages
    assert parts == ["first tries"]


async def test_first_tries_that_fail_end_at_the_plan(serve: Serve) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)]))
    async with live_session(server, first_tries=2, cells=False) as surface:
        await surface.do(c.GoOn())
        exploration = surface.session.exploration
        await surface.do(c.GoOn())
        kinds = kinds_asked(server)

    assert exploration.status == "waiting"
    assert exploration.solution is None
    assert [step.subtask.goal for step in exploration.steps] == list(GOALS)
    assert kinds == [*["solution"] * 3, "plan", "draft"]
    assert surface.statuses == ["review", "pending", "pending"]


@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_what_a_first_try_solved_can_still_be_explored(serve: Serve, mode: c.Mode) -> None:
    server = serve()
    async with live_session(server, mode=mode, first_tries=1, cells=False) as surface:
        await surface.do(c.GoOn())
        at_once = surface.session.exploration
        await surface.do(c.GoOn())
        exploration = surface.session.exploration

    assert at_once.status == "solved"
    assert len(exploration.steps) == len(GOALS)
    assert exploration.status == ("waiting" if mode == "review" else "solved")
    assert kinds_asked(server)[:2] == ["solution", "plan"]


async def test_a_first_try_stays_the_solution_until_there_is_a_plan(serve: Serve) -> None:
    server = serve(TeaModel(plans=[Failure(status=401)]))
    async with live_session(server, first_tries=1, cells=False) as surface:
        await surface.do(c.GoOn(), c.GoOn())
        error, exploration = surface.error, surface.session.exploration

    assert error
    assert exploration.solution is not None
    assert exploration.solution.final.code == SOLUTION
