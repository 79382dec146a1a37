"""Chain of API exploration: draft, check, run, debug, select, for one subtask at a time.

ExploraCoder, section 3.4. Candidates run in forks of the current branch, so that the one which is
chosen is already the new state and nothing runs twice.
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine import lookup, renaming, substituting
from exploracoder.engine.checking import check, imported_names, missing_attribute
from exploracoder.engine.conversation import debug_messages, draft_messages
from exploracoder.engine.helpful import helpful_apis, siblings
from exploracoder.engine.results import wanted_in
from exploracoder.engine.selection import has_good_evidence, is_sound, missing, select
from exploracoder.engine.source_lookup import look_up
from exploracoder.engine.wording import code_block
from exploracoder.engine.workbench import Workbench
from exploracoder.models.chat import Reply
from exploracoder.state import Candidate, CandidateOrigin, Step


@dataclass(slots=True)
class _Trial:
    """The candidates of one subtask and the branches that they have run in."""

    bench: Workbench
    step: Step
    variables: Sequence[Variable]
    wanted: tuple[str, ...] = ()
    hint: str = ""
    candidates: list[Candidate] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)

    @property
    def new(self) -> list[Candidate]:
        """The candidates of this trial, without those that the step brought along."""
        return self.candidates[len(self.step.candidates) :]

    @property
    def shown(self) -> Step:
        """The step as it stands: what ran again on this state is in the list once."""
        again = {candidate.code for candidate in self.new}
        old = [one for one in self.step.candidates if one.code not in again]
        return self.step.model_copy(update={"candidates": (*old, *self.new)})

    @property
    def next_number(self) -> int:
        """The number of the next candidate: none is used twice."""
        numbers = [int(one.id.rpartition("/")[2]) for one in self.candidates]
        return max(numbers, default=0) + 1

    @property
    def base(self) -> str:
        """The branch whose state a candidate starts from."""
        live = self.bench.settings.candidate_style == "live"
        return self.bench.branch if live else self.bench.root

    @property
    def is_settled(self) -> bool:
        """Whether some candidate leaves nothing to be wished for."""
        return any(has_good_evidence(candidate, self.wanted) for candidate in self.new)


async def explore(bench: Workbench, step: Step, *, hint: str = "") -> Step:
    """Explore a step whose recommendation is there, and make the chosen state the current one.

    Candidates that the step has already are kept but not chosen again: with a ``hint`` on what is
    wrong with them, others are drafted. Returns the step, done or failed. Raises BudgetError and
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
        await _drop_branches(trial)


async def repair(bench: Workbench, step: Step, target: Candidate, *, hint: str = "") -> Step:
    """Ask for a repair of one candidate of a step, on the state that the step starts from.

    Returns the step with the repair as the chosen candidate if it does something, and otherwise as
    it was, with whatever was tried. Raises BudgetError and ModelError.
    """
    trial = await _open(bench, step, hint)
    try:
        await _debug(trial, target)
        concluded = await _conclude(trial)
    finally:
        await _drop_branches(trial)
    if concluded.chosen is not None:
        return concluded
    return concluded.model_copy(update={"chosen": step.chosen, "status": step.status})


async def _open(bench: Workbench, step: Step, hint: str) -> _Trial:
    bench.bases[step.subtask.id] = bench.branch
    variables = await bench.sidecar.variables(bench.branch)
    there = [variable.name for variable in variables]
    wanted = wanted_in(step.subtask.goal, bench.exploration.task, there)
    return _Trial(bench, step, variables, wanted, hint, list(step.candidates))


async def _draft_at_once(trial: _Trial) -> None:
    """The paper's way: m drafts of one prompt, and repairs only when none of them ran."""
    settings = trial.bench.settings
    await _add(trial, await _ask(trial, _focus(trial, 0), settings.candidates, 0), "draft")
    await _rename(trial, trial.new)
    await _substitute(trial, trial.new)
    failed = sorted(trial.new, key=lambda candidate: len(candidate.problems))
    rounds = settings.debug_rounds if settings.self_debug else 0
    while failed and rounds and not _has_result(trial):
        rounds -= 1
        repaired = await _debug(trial, failed.pop(0))
        failed += [repaired] if repaired else []


async def _draft_one_by_one(trial: _Trial) -> None:
    """Draft, and repair what does not run or shows nothing, until one candidate is good.

    The repair goes on from the draft's own conversation, which a server with a prefix cache has
    read already.
    """
    settings = trial.bench.settings
    rounds = settings.debug_rounds if settings.self_debug else 0
    for number in range(settings.candidates):
        count = len(trial.candidates)
        await _add(trial, await _ask(trial, _focus(trial, number), 1, number), "draft")
        await _rename(trial, trial.candidates[count:])
        await _substitute(trial, trial.candidates[count:])
        drafted = trial.candidates[count:]
        if trial.is_settled:
            return
        is_doubtful = drafted and (not is_sound(drafted[0]) or missing(drafted[0], trial.wanted))
        if is_doubtful and rounds:
            rounds -= 1
            await _debug(trial, drafted[0])
        if trial.is_settled:
            return


def _focus(trial: _Trial, number: int) -> ApiDoc | None:
    """After a first free draft, each further one is asked to try another recommended API."""
    kept = trial.step.recommendation.kept
    tried = {api for candidate in trial.candidates for api in candidate.apis}
    untried = [doc for doc in kept if doc.path not in tried]
    is_first = number == 0 and not trial.candidates
    return untried[0] if untried and not is_first else None


async def _ask(trial: _Trial, focus: ApiDoc | None, n: int, number: int) -> list[str]:
    bench, part = trial.bench, trial.step.subtask.id
    messages = draft_messages(bench, trial.step, trial.variables, focus, trial.hint)
    sampling = bench.sampling(part, n=n, number=number, max_tokens=bench.settings.step_tokens)
    tools = lookup.tools(bench, trial.shown, trial.variables, is_repair=False)
    reply = await bench.ask(part, messages, sampling, tools)
    return _codes(reply)


def _codes(reply: Reply) -> list[str]:
    """The snippets of a reply; what was cut off at the token limit ends with a whole statement."""
    reasons = reply.finish_reasons or ("",) * len(reply.texts)
    return [
        whole_statements(code_block(text)) if reason == "length" else code_block(text)
        for text, reason in zip(reply.texts, reasons, strict=True)
    ]


async def _add(
    trial: _Trial, codes: Sequence[str], origin: CandidateOrigin, debug_of: str | None = None
) -> None:
    """Run the codes that were not tried yet, all at once, each in its own fork."""
    new = dict.fromkeys(code for code in codes if code.strip())
    # Without a hint, what the step brought along was tried on another state: it may do on this one.
    for candidate in trial.candidates if trial.hint else trial.new:
        new.pop(candidate.code, None)
    trial.candidates += await asyncio.gather(
        *(
            _try(trial, f"{trial.step.subtask.id}/{number}", code, origin, debug_of)
            for number, code in enumerate(new, start=trial.next_number)
        )
    )
    trial.bench.show(trial.shown)


async def _rename(trial: _Trial, candidates: Sequence[Candidate]) -> None:
    """Mend candidates that failed at names which do not exist, without asking the model."""
    if not trial.bench.settings.repair_names or any(is_sound(one) for one in candidates):
        return

    for failed in [one for one in candidates if not one.ran and one.problems]:

        async def run(code: str, failed: Candidate = failed) -> Candidate:
            id_ = f"{trial.step.subtask.id}/{trial.next_number}"
            return await _try(trial, id_, code, "debug", failed.id)

        mended = await renaming.search(failed, run, is_sound)
        if mended is not None:
            trial.candidates.append(mended)
            trial.bench.show(trial.shown)
            return


async def _substitute(trial: _Trial, candidates: Sequence[Candidate]) -> None:
    """Where a candidate ran and nothing came of it, try other recommended APIs in its places."""
    empty = [one for one in candidates if one.ran and not is_sound(one)]
    if not empty or trial.is_settled:
        return
    failed, most = empty[0], trial.bench.settings.substitutes // 4

    async def run(code: str) -> Candidate:
        id_ = f"{trial.step.subtask.id}/{trial.next_number}"
        return await _try(trial, id_, code, "debug", failed.id)

    async def docs_for(_: Collection[str]) -> Sequence[ApiDoc]:
        return trial.step.recommendation.kept

    mended = await substituting.search(
        failed,
        trial.bench.known,
        docs_for,
        run,
        lambda one: has_good_evidence(one, trial.wanted),
        most,
        {one.code for one in trial.candidates},
        "\n".join(earlier_cells(trial.bench)),
    )
    if mended is not None:
        trial.candidates.append(mended)
        trial.bench.show(trial.shown)


async def _try(
    trial: _Trial, id_: str, code: str, origin: CandidateOrigin, debug_of: str | None
) -> Candidate:
    bench = trial.bench
    branch = await bench.sidecar.fork(trial.base)
    if id_ in trial.branches:
        await bench.sidecar.drop(trial.branches[id_])
    trial.branches[id_] = branch
    earlier = earlier_cells(bench)
    if bench.settings.candidate_style == "live":
        code = without_repetition(code, earlier)
    bound = [variable.name for variable in trial.variables]
    bound += imported_names(earlier, bench.known)
    checked = await check(bench, branch, code, bound, trial.step.recommendation.kept)
    observation = await bench.run(trial.step.subtask.id, branch, checked.code)
    missing = await missing_attribute(bench, branch, observation)
    return Candidate(
        id=id_,
        code=checked.code,
        origin=origin,
        debug_of=debug_of,
        added_imports=checked.added_imports,
        problems=(*checked.problems, *missing),
        apis=checked.apis,
        observation=observation,
    )


def earlier_cells(bench: Workbench) -> list[str]:
    """The code that has run in the state which a candidate starts from."""
    context = [bench.exploration.task.context]
    if bench.settings.candidate_style != "live":
        return context
    return [*context, *(link.candidate.code for link in bench.exploration.trace)]


def without_repetition(code: str, earlier: Sequence[str]) -> str:
    """``code`` without the statements which the notebook has run already.

    Models asked for new lines tend to start over; running those lines again would only cost time
    and undo what later lines did. Code that holds nothing new is left as it is.
    """
    try:
        body = ast.parse(code).body
        known = {ast.dump(node) for one in earlier for node in ast.parse(one).body}
    except (SyntaxError, ValueError):
        return code
    is_new = {node: ast.dump(node) not in known for node in body}
    if not any(is_new.values()):
        return code
    repeated = {line for node in body if not is_new[node] for line in _lines(node)}
    repeated -= {line for node in body if is_new[node] for line in _lines(node)}
    kept = [line for n, line in enumerate(code.splitlines(), 1) if n not in repeated]
    return "\n".join(kept).strip("\n")


def _lines(node: ast.stmt) -> range:
    """The numbers of a statement's lines, its decorators included."""
    heads = [one.lineno for one in getattr(node, "decorator_list", ())]
    return range(min([node.lineno, *heads]), (node.end_lineno or node.lineno) + 1)


def whole_statements(code: str) -> str:
    """``code`` without an unfinished end: a reply that was cut off at the token limit."""
    lines = code.splitlines()
    for end in range(len(lines), 0, -1):
        head = "\n".join(lines[:end])
        try:
            ast.parse(head)
        except (SyntaxError, ValueError):
            continue
        return head
    return code


def _has_result(trial: _Trial) -> bool:
    """Whether one can be chosen: for the paper it has to run, for us it has to show something."""
    if trial.bench.settings.selection != "evidence":
        return any(candidate.ran for candidate in trial.new)
    return any(is_sound(candidate) for candidate in trial.new)


async def _debug(trial: _Trial, target: Candidate) -> Candidate | None:
    """Ask for a repair of a candidate; None when the reply is nothing new."""
    bench, part = trial.bench, trial.step.subtask.id
    drafted = draft_messages(bench, trial.step, trial.variables, hint=trial.hint)
    apis = await helpful_apis(bench, target.problems, target.observation, trial.step.subtask.goal)
    apis += siblings(bench, target) if target.ran else ()
    sampling = bench.sampling(
        f"{part}/debug", number=len(trial.candidates), max_tokens=bench.settings.step_tokens
    )
    lacking = missing(target, trial.wanted)
    source = await look_up(
        bench,
        target.code,
        target.observation,
        branch=trial.branches.get(target.id, trial.base),
        earlier=earlier_cells(bench),
        variables=trial.variables,
    )
    messages = debug_messages(bench, drafted, target, apis, lacking, source)
    tools = lookup.tools(bench, trial.shown, trial.variables, is_repair=True)
    reply = await bench.ask(part, messages, sampling, tools)
    count = len(trial.candidates)
    await _add(trial, _codes(reply), "debug", debug_of=target.id)
    return trial.candidates[count] if len(trial.candidates) > count else None


async def _conclude(trial: _Trial) -> Step:
    bench, settings = trial.bench, trial.bench.settings
    chosen = select(
        trial.new,
        strategy=settings.selection,
        keep_failed=settings.keep_failed,
        seed=bench.seed(f"{trial.step.subtask.id}/select"),
        wanted=trial.wanted,
    )
    if chosen is not None and settings.candidate_style == "live" and chosen.ran:
        bench.branch = trial.branches.pop(chosen.id)
    return trial.shown.model_copy(
        update={
            "chosen": chosen.id if chosen else None,
            "status": "done" if chosen else "failed",
        }
    )


async def _drop_branches(trial: _Trial) -> None:
    if trial.bench.keeps_branches:
        trial.bench.kept |= trial.branches
        return
    for branch in trial.branches.values():
        await trial.bench.sidecar.drop(branch)
