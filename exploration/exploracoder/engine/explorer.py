"""Chain of API exploration: draft, check, run, debug, select, for one subtask at a time.

ExploraCoder, section 3.4. Candidates run in forks of the current branch, so that the one which is
chosen is already the new state and nothing runs twice.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from exploracoder_kernel.observation import Observation, Variable
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine import names
from exploracoder.engine.conversation import debug_messages, draft_messages
from exploracoder.engine.selection import has_good_evidence, select
from exploracoder.engine.wording import code_block
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Candidate, CandidateOrigin, NameProblem, Step


@dataclass(slots=True)
class _Trial:
    """The candidates of one subtask and the branches that they have run in."""

    bench: Workbench
    step: Step
    variables: Sequence[Variable]
    candidates: list[Candidate] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The branch whose state a candidate starts from."""
        live = self.bench.settings.candidate_style == "live"
        return self.bench.branch if live else self.bench.root

    @property
    def is_settled(self) -> bool:
        """Whether some candidate leaves nothing to be wished for."""
        return any(has_good_evidence(candidate) for candidate in self.candidates)


async def explore(bench: Workbench, step: Step) -> Step:
    """Explore a step whose recommendation is there, and make the chosen state the current one.

    Returns the step with its candidates, done or failed. Raises BudgetError and ModelError.
    """
    trial = _Trial(bench, step, await bench.sidecar.variables(bench.branch))
    try:
        await _draft(trial)
        if bench.settings.self_debug and not _has_run(trial):
            await _debug(trial)
        return await _conclude(trial)
    finally:
        await _drop_branches(trial)


async def _draft(trial: _Trial) -> None:
    settings = trial.bench.settings
    if not settings.stop_at_first:
        await _add(trial, await _ask(trial, _focus(trial, 0), settings.candidates, 0), "draft")
        return
    for number in range(settings.candidates):
        await _add(trial, await _ask(trial, _focus(trial, number), 1, number), "draft")
        if trial.is_settled:
            return


def _focus(trial: _Trial, number: int) -> ApiDoc | None:
    """After a first free draft, each further one is asked to try another recommended API."""
    kept = trial.step.recommendation.kept
    tried = {api for candidate in trial.candidates for api in candidate.apis}
    untried = [doc for doc in kept if doc.path not in tried]
    return untried[0] if number > 0 and untried else None


async def _ask(trial: _Trial, focus: ApiDoc | None, n: int, number: int) -> list[str]:
    bench, part = trial.bench, trial.step.subtask.id
    messages = draft_messages(bench, trial.step, trial.variables, focus)
    sampling = bench.sampling(part, n=n, number=number, max_tokens=bench.settings.step_tokens)
    reply = await bench.ask(part, messages, sampling)
    return [code_block(text) for text in reply.texts]


async def _add(
    trial: _Trial, codes: Sequence[str], origin: CandidateOrigin, debug_of: str | None = None
) -> None:
    """Run the codes that were not tried yet, all at once, each in its own fork."""
    new = dict.fromkeys(code for code in codes if code.strip())
    for candidate in trial.candidates:
        new.pop(candidate.code, None)
    first = len(trial.candidates) + 1
    trial.candidates += await asyncio.gather(
        *(
            _try(trial, f"{trial.step.subtask.id}/{number}", code, origin, debug_of)
            for number, code in enumerate(new, start=first)
        )
    )


async def _try(
    trial: _Trial, id_: str, code: str, origin: CandidateOrigin, debug_of: str | None
) -> Candidate:
    bench = trial.bench
    branch = await bench.sidecar.fork(trial.base)
    trial.branches[id_] = branch
    if bench.settings.candidate_style == "live":
        code = without_repetition(code, [link.candidate.code for link in bench.exploration.trace])
    bound = [variable.name for variable in trial.variables]
    checked = await check(bench, branch, code, bound, trial.step.recommendation.kept)
    observation = await bench.run(trial.step.subtask.id, branch, checked.code)
    return Candidate(
        id=id_,
        code=checked.code,
        origin=origin,
        debug_of=debug_of,
        added_imports=checked.added_imports,
        problems=checked.problems,
        apis=checked.apis,
        observation=observation,
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """A snippet after the static check, imports that were missing put in."""

    code: str
    added_imports: tuple[str, ...] = ()
    problems: tuple[NameProblem, ...] = ()
    apis: tuple[str, ...] = ()


async def check(
    bench: Workbench, branch: str, code: str, bound: Sequence[str], shown: Sequence[ApiDoc]
) -> Checked:
    """Check every name of a snippet against the installed version, without running anything."""
    imports = tuple(library.import_name for library in bench.exploration.libraries)
    try:
        found = names.read(code, bench.known)
    except (SyntaxError, ValueError):
        # Running it will say what is wrong, with the line.
        return Checked(code)
    bound = [*bound, *_imported_before(bench)]
    added: tuple[str, ...] = ()
    if bench.settings.repair_imports:
        added = names.missing_imports(found, bench.known, bound, imports)
        code = "\n".join([*added, code])
        found = names.read(code, bench.known)
    return Checked(
        code=code,
        added_imports=added,
        problems=await names.problems(found, bench.sidecar, branch, bound, imports),
        apis=names.apis_used(found, bench.known, shown),
    )


def _imported_before(bench: Workbench) -> list[str]:
    """Names that the context and the chain have imported: they are bound, but no variables."""
    codes = [bench.exploration.task.context]
    if bench.settings.candidate_style == "live":
        codes += [link.candidate.code for link in bench.exploration.trace]
    bound: list[str] = []
    for code in codes:
        try:
            read = names.read(code, bench.known)
        except (SyntaxError, ValueError):
            continue
        bound += read.imported
    return bound


def without_repetition(code: str, earlier: Sequence[str]) -> str:
    """``code`` without the statements at its head which the notebook has run already.

    Models asked for new lines tend to start over; running those lines again would only cost time
    and undo what later lines did.
    """
    try:
        body = ast.parse(code).body
        known = {ast.dump(node) for one in earlier for node in ast.parse(one).body}
    except (SyntaxError, ValueError):
        return code
    fresh = next((node for node in body if ast.dump(node) not in known), None)
    if fresh is None or fresh is body[0]:
        return code
    return "\n".join(code.splitlines()[fresh.lineno - 1 :])


def _has_run(trial: _Trial) -> bool:
    return any(
        candidate.ran
        and not any(variable.preview_error for variable in candidate.observation.variables)
        for candidate in trial.candidates
        if candidate.observation is not None
    )


async def _debug(trial: _Trial) -> None:
    """Ask for repairs of the failed candidates, the most promising first, until one runs."""
    bench, part = trial.bench, trial.step.subtask.id
    failed = sorted(trial.candidates, key=lambda candidate: len(candidate.problems))
    for number in range(bench.settings.debug_rounds):
        if not failed:
            return
        target = failed.pop(0)
        drafted = draft_messages(bench, trial.step, trial.variables)
        apis = helpful_apis(bench, target.problems, target.observation, trial.step.subtask.goal)
        messages = debug_messages(bench, drafted, target, apis)
        sampling = bench.sampling(
            f"{part}/debug", number=number, max_tokens=bench.settings.step_tokens
        )
        reply = await bench.ask(part, messages, sampling)
        await _add(trial, [code_block(reply.text)], "debug", debug_of=target.id)
        if _has_run(trial):
            return
        if trial.candidates and trial.candidates[-1].debug_of == target.id:
            failed.append(trial.candidates[-1])


def helpful_apis(
    bench: Workbench,
    problems: Sequence[NameProblem],
    observation: Observation | None,
    goal: str,
) -> tuple[ApiDoc, ...]:
    """The docs that may mend a failure: real names near the wrong ones, and the members of the type
    that the error names, those that fit the goal first."""
    docs: dict[str, ApiDoc] = {}
    for problem in problems:
        for name in problem.nearest:
            exact = bench.known.at(f"{problem.owner}.{name}")
            named = [exact] if exact else list(bench.known.named(name))[:1]
            docs |= {doc.path: doc for doc in named}
    error = observation.error if observation else None
    match = _NO_ATTRIBUTE.search(error.evalue) if error else None
    if match:
        owners = [doc.path for doc in bench.known.named(match["type"]) if doc.kind == "class"]
        query = f"{goal} {match['name'].replace('_', ' ')}"
        hits = bench.index.search(query, bench.library_names, _SEARCHED_MEMBERS)
        docs |= {hit.doc.path: hit.doc for hit in hits if hit.doc.path.rpartition(".")[0] in owners}
    return tuple(docs.values())[: bench.settings.shown_apis]


_NO_ATTRIBUTE = re.compile(r"'(?P<type>\w+)' object has no attribute '(?P<name>\w+)'")
_SEARCHED_MEMBERS = 200


async def _conclude(trial: _Trial) -> Step:
    bench, settings = trial.bench, trial.bench.settings
    chosen = select(
        trial.candidates,
        strategy=settings.selection,
        keep_failed=settings.keep_failed,
        seed=bench.seed(f"{trial.step.subtask.id}/select"),
    )
    if chosen is not None and settings.candidate_style == "live" and chosen.ran:
        bench.branch = trial.branches.pop(chosen.id)
    return trial.step.model_copy(
        update={
            "candidates": tuple(trial.candidates),
            "chosen": chosen.id if chosen else None,
            "status": "done" if chosen else "failed",
        }
    )


async def _drop_branches(trial: _Trial) -> None:
    for branch in trial.branches.values():
        await trial.bench.sidecar.drop(branch)
