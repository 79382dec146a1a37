"""Chain of API exploration: draft, check, run, debug, select, for one subtask at a time.

ExploraCoder, section 3.4. Candidates run in forks of the current branch, so that the chosen one
already holds the new state and nothing runs twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.exploring.conversation import debug_messages, draft_messages
from exploracoder.engine.exploring.functions import functions_for
from exploracoder.engine.knowing.helpful import helpful_apis, siblings
from exploracoder.engine.knowing.source_lookup import look_up
from exploracoder.engine.reading.replies import codes
from exploracoder.engine.reading.result_names import wanted_in
from exploracoder.engine.running import mending
from exploracoder.engine.running.selection import is_sound, missing, select
from exploracoder.engine.running.trial import Trial, earlier_cells
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Candidate, CandidateOrigin, Step


async def explore(bench: Workbench, step: Step, *, hint: str = "") -> Step:
    """Explore a step that has its recommendation, and make the chosen state the current one.

    The step's existing candidates are kept but not chosen again; with a ``hint`` on what is wrong
    with them, others are drafted. Returns the step, done or failed. Raises BudgetError and
    ModelError.
    """
    trial = await _open(bench, step, hint)
    try:
        if bench.settings.stop_at_first:
            await _draft_one_by_one(trial)
        else:
            await _draft_at_once(trial)
        return await _conclude(trial)
    finally:
        await trial.drop_branches()


async def repair(bench: Workbench, step: Step, target: Candidate, *, hint: str = "") -> Step:
    """Ask for a repair of one candidate of a step, on the state that the step starts from.

    Returns the step with the repair chosen if that does something, and otherwise as it was apart
    from the candidates that were tried. Raises BudgetError and ModelError.
    """
    trial = await _open(bench, step, hint)
    try:
        await _debug(trial, target)
        result = await _conclude(trial)
    finally:
        await trial.drop_branches()
    if result.chosen is not None:
        return result
    return result.model_copy(update={"chosen": step.chosen, "status": step.status})


async def _open(bench: Workbench, step: Step, hint: str) -> Trial:
    bench.branches.bases[step.subtask.id] = bench.branches.current
    variables = await bench.sidecar.variables(bench.branches.current)
    there = [variable.name for variable in variables]
    wanted_names = wanted_in(step.subtask.goal, bench.exploration.task, there)
    return Trial(bench, step, variables, wanted_names, hint, list(step.candidates))


async def _draft_at_once(trial: Trial) -> None:
    """Draft as the paper does: m samples of one prompt, repaired only if none of them ran."""
    settings = trial.bench.settings
    await _add(trial, await _ask(trial, _focus(trial, 0), settings.candidates, 0), "draft")
    await mending.rename(trial, trial.new)
    await mending.substitute(trial, trial.new)
    failures = sorted(trial.new, key=lambda candidate: len(candidate.problems))
    rounds = settings.debug_rounds if settings.self_debug else 0
    while failures and rounds and not _has_result(trial):
        rounds -= 1
        fix = await _debug(trial, failures.pop(0))
        failures += [fix] if fix else []


async def _draft_one_by_one(trial: Trial) -> None:
    """Draft one at a time, repairing what does not run or shows nothing, until one is good.

    A failed candidate that the step already has is repaired first. A repair continues the draft's
    own conversation, which a server with a prefix cache has read already.
    """
    settings = trial.bench.settings
    rounds = settings.debug_rounds if settings.self_debug else 0
    candidate = trial.candidates[-1] if trial.candidates and not trial.hint else None
    if candidate is not None and rounds and candidate.observation is not None and not candidate.ran:
        rounds -= 1
        await _debug(trial, candidate)
        if trial.is_settled:
            return
    for number in range(settings.candidates):
        count = len(trial.candidates)
        await _add(trial, await _ask(trial, _focus(trial, number), 1, number), "draft")
        await mending.rename(trial, trial.candidates[count:])
        await mending.substitute(trial, trial.candidates[count:])
        drafts = trial.candidates[count:]
        if trial.is_settled:
            return
        is_doubtful = drafts and (not is_sound(drafts[0]) or missing(drafts[0], trial.wanted_names))
        if is_doubtful and rounds:
            rounds -= 1
            await _debug(trial, drafts[0])
        if trial.is_settled:
            return


def _focus(trial: Trial, number: int) -> ApiDoc | None:
    """An untried recommended API that the next draft should use; none for a free first draft."""
    docs = trial.step.recommendation.kept
    tried_paths = {api for candidate in trial.candidates for api in candidate.apis}
    others = [doc for doc in docs if doc.path not in tried_paths]
    is_first = number == 0 and not (trial.new or trial.hint)
    return others[0] if others and not is_first else None


async def _ask(trial: Trial, focus: ApiDoc | None, n: int, number: int) -> list[str]:
    bench, part = trial.bench, trial.step.subtask.id
    messages = draft_messages(bench, trial.step, trial.variables, focus, trial.hint)
    sampling = bench.model.sampling(
        part, n=n, number=number, max_tokens=bench.settings.step_tokens, is_code=True
    )
    tools = functions_for(trial, is_repair=False)
    reply = await bench.model.ask(part, messages, sampling, tools)
    return codes(reply)


async def _add(
    trial: Trial, snippets: Sequence[str], origin: CandidateOrigin, debug_of: str | None = None
) -> None:
    """Run the snippets not tried yet concurrently, each in its own fork."""
    new = dict.fromkeys(code for code in snippets if code.strip())
    # Without a hint, the step's old candidates ran on another state: they may work on this one.
    for candidate in trial.candidates if trial.hint else trial.new:
        new.pop(candidate.code, None)
    runs = [
        asyncio.ensure_future(
            trial.run(f"{trial.step.subtask.id}/{number}", code, origin, debug_of)
        )
        for number, code in enumerate(new, start=trial.next_number)
    ]
    try:
        if runs:
            await asyncio.wait(runs, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        # One that fails, or the end of it all, must not leave others running.
        for run in runs:
            run.cancel()
        if runs:
            await asyncio.wait(runs)
    # What one raised counts; those still running then were only cancelled for it.
    errors = [error for run in runs if not run.cancelled() and (error := run.exception())]
    trial.candidates += [run.result() for run in runs if not (run.cancelled() or run.exception())]
    trial.bench.show(trial.shown)
    if errors:
        raise errors[0]


def _has_result(trial: Trial) -> bool:
    """Whether a candidate can be chosen: the paper's has to run, ours to show something."""
    if trial.bench.settings.selection != "evidence":
        return any(candidate.ran for candidate in trial.new)
    return any(is_sound(candidate) for candidate in trial.new)


async def _debug(trial: Trial, target: Candidate) -> Candidate | None:
    """Ask for a repair of a candidate; None if the reply has nothing new."""
    bench, part = trial.bench, trial.step.subtask.id
    conversation = draft_messages(bench, trial.step, trial.variables, hint=trial.hint)
    apis = await helpful_apis(bench, target.problems, target.observation, trial.step.subtask.goal)
    apis += siblings(bench, target) if target.ran else ()
    sampling = bench.model.sampling(
        f"{part}/debug",
        number=len(trial.candidates),
        max_tokens=bench.settings.step_tokens,
        is_code=True,
    )
    missing_names = missing(target, trial.wanted_names)
    source = await look_up(
        bench,
        target.code,
        target.observation,
        branch=trial.branches.get(target.id) or await bench.branches.probe(trial.base),
        earlier=earlier_cells(bench),
        variables=trial.variables,
    )
    messages = debug_messages(bench, conversation, target, apis, missing_names, source)
    tools = functions_for(trial, is_repair=True)
    reply = await bench.model.ask(part, messages, sampling, tools)
    count = len(trial.candidates)
    await _add(trial, codes(reply), "debug", debug_of=target.id)
    return trial.candidates[count] if len(trial.candidates) > count else None


async def _conclude(trial: Trial) -> Step:
    bench, settings = trial.bench, trial.bench.settings
    candidate = select(
        trial.new,
        strategy=settings.selection,
        seed=bench.model.seed(f"{trial.step.subtask.id}/select"),
        wanted_names=trial.wanted_names,
    )
    if candidate is not None and settings.candidate_style == "live" and candidate.ran:
        bench.branches.current = trial.branches.pop(candidate.id)
    return trial.shown.model_copy(
        update={
            "chosen": candidate.id if candidate else None,
            "status": "done" if candidate else "failed",
        }
    )
