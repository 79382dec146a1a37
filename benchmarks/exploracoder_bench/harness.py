"""Run many samples, each kept as a line of a file and a folder with its trace, so that a run that
was interrupted at any moment can be resumed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from exploracoder.engine.exploring.briefing import wants_briefing
from exploracoder.errors import BudgetError, ModelError, SetupError
from exploracoder.methods import DEFAULT, is_planned
from exploracoder.models.model_cost import Usage
from exploracoder.settings import Settings

from exploracoder_bench.ablations import Ablation
from exploracoder_bench.executors import LOCAL, Pool, open_pool
from exploracoder_bench.judge import Verdict
from exploracoder_bench.kept_replies import unpack
from exploracoder_bench.ledger import Ledger, alone_in
from exploracoder_bench.plan import Plan, going_on, read_plan, write_plan
from exploracoder_bench.problems import Problem, check_names
from exploracoder_bench.progress_lines import Say
from exploracoder_bench.provenance import code_digest, own_code
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import BriefingOutcome, ModelOptions, Way, warm_index
from exploracoder_bench.samples import Sample, brief_for, clear_attempts, examine, explore, lost
from exploracoder_bench.solved_others import caches_of_solved
from exploracoder_bench.spending import Budget

RESULTS = "results.jsonl"
# This many samples in a row without reaching the model end the run: the next would fail too.
_MODEL_GONE = 3


@dataclass(frozen=True, slots=True)
class Bench:
    """What to run, with what, and where to keep it.

    ``settings`` are by the names of the methods and of ``ablations``. With ``solved_others``, each
    problem's memory has the others solved. ``replies`` is a file of kept replies that answer in
    place of a model.
    """

    plan: Plan
    problems: Sequence[Problem]
    model_options: ModelOptions
    settings: Mapping[str, Settings]
    out: Path
    executor: str = LOCAL
    jobs: int = 1
    solved_others: bool = False
    ablations: Sequence[Ablation] = ()
    replies: Path | None = None
    max_money: float | None = None


def run_bench(bench: Bench, say: Say) -> tuple[RunResult, ...]:
    """Judge the problems, then run what the ledger does not hold yet; return all requested results.

    Ctrl-C passes through as KeyboardInterrupt, with everything kept. Raises InputError when the
    folder was started with something else, SetupError when results cannot be kept, ModelError when
    the model is gone, BudgetError when the next sample could exceed the budget.
    """
    check_names(bench.problems)
    with alone_in(bench.out), open_pool(bench.executor, bench.jobs) as pool:
        clear_attempts(bench.out)
        before = read_plan(bench.out)
        plan = going_on(before, bench.plan, list(bench.problems)) if before else bench.plan
        plan = plan.with_splits(bench.problems)
        write_plan(bench.out, plan)
        if bench.replies is not None:
            say(f"{unpack(bench.replies, bench.out)} replies are kept")
        for verdict in _judge(bench, plan, pool, say):
            plan = plan.judged(verdict)
            write_plan(bench.out, plan)
        samples = _samples(bench, plan)
        ledger = Ledger(bench.out / RESULTS)
        pending = [sample for sample in samples if not ledger.is_finished(sample.key)]
        say(f"{len(samples)} samples, {len(samples) - len(pending)} of them finished before")
        _warm((sample.problem for sample in pending), say)
        briefing = plan.briefing + _brief(pending, bench.settings, pool, say)
        write_plan(bench.out, plan.model_copy(update={"briefing": briefing}))
        if bench.solved_others:
            pending = _remembering(pending, samples, bench.out)
        budget = Budget(plan.price, bench.max_money, ledger, briefing)
        provenance = next(iter(bench.plan.provenance), "")
        _work(pending, ledger, pool, say, budget=budget, provenance=provenance)
    results = (ledger.find(sample.key) for sample in samples)
    return tuple(result for result in results if result is not None)


def judge_all(
    problems: Sequence[Problem],
    out: Path,
    pool: Pool,
    say: Say,
    *,
    run_seconds: float | None = None,
) -> Iterator[Verdict]:
    """The verdicts as they come in; each is reported."""
    futures = {pool.submit(examine, problem, out, run_seconds): problem for problem in problems}
    for number, future in enumerate(as_completed(futures), start=1):
        problem, loss = futures[future], _loss(future)
        verdict = (
            Verdict(
                problem=problem.name,
                digest=problem.digest,
                is_sound=False,
                reason=f"It could not be tried: {loss}",
            )
            if loss
            else future.result()
        )
        note = "counts" if verdict.is_sound else "excluded"
        say(f"judged {number}/{len(futures)}  {problem.name}  {note}  {verdict.reason}".rstrip())
        yield verdict


def _judge(bench: Bench, plan: Plan, pool: Pool, say: Say) -> Iterator[Verdict]:
    """Judge only new problems: a table must not change because a machine was busy later."""
    new = [one for one in bench.problems if one.name not in plan.problems]
    # No method's source says how long a run may take: all have the same limit.
    run_seconds = max(one.run_seconds for one in bench.settings.values())
    yield from judge_all(new, bench.out, pool, say, run_seconds=run_seconds)


def _samples(bench: Bench, plan: Plan) -> list[Sample]:
    """The samples, grouped by method, so that prompts hit the server's cache as in real use.

    If methods share replies, they are grouped by problem: a run that ends early then has some
    problems with every method, which can be compared.
    """
    problems = [problem for problem in bench.problems if problem.name in plan.problems]
    samples = [
        Sample(
            problem,
            _way(bench, plan, method, seed),
            bench.model_options,
            bench.out,
            plan.timeout_s,
            bench.settings[method].run_seconds,
        )
        for method in bench.plan.methods
        for seed in range(bench.plan.samples)
        for problem in problems
    ]
    if bench.model_options.shares_replies:
        samples.sort(key=lambda sample: problems.index(sample.problem))
    return samples


def _way(bench: Bench, plan: Plan, name: str, seed: int) -> Way:
    """How a method explores, or an ablation, which has settings besides the plan's."""
    hides_check = plan.checks == "hidden"
    ablation = next((one for one in bench.ablations if one.row == name), None)
    if ablation is None:
        return Way(name, seed, plan.options, hides_check)
    options = (*plan.options, *ablation.options)
    return Way(DEFAULT, seed, options, hides_check, ablation.name)


def _remembering(pending: Sequence[Sample], samples: Sequence[Sample], out: Path) -> list[Sample]:
    problems = {sample.problem.name: sample.problem for sample in samples}
    caches = caches_of_solved(list(problems.values()), out / "caches")
    return [replace(sample, cache=caches[sample.problem.name]) for sample in pending]


def _work(
    pending: Sequence[Sample],
    ledger: Ledger,
    pool: Pool,
    say: Say,
    *,
    budget: Budget,
    provenance: str,
) -> None:
    start, count = time.perf_counter(), 0
    for number, (sample, future) in enumerate(_explored(pending, pool, budget), start=1):
        loss = _loss(future)
        result = lost(sample, loss) if loss else future.result()
        if code_digest() != own_code().digest:
            raise SetupError(
                "The code was changed while this ran, so nobody knows which one made the last"
                " samples. What was finished before counts; use the code of then to go on, or"
                " another --out."
            )
        how = {"jobs": pool.width, "provenance": provenance}
        ledger.append(result.model_copy(update=how))
        budget.add(result)
        each_s = (time.perf_counter() - start) / number
        remaining_time = timedelta(seconds=round(each_s * (len(pending) - number)))
        say(f"{number}/{len(pending)}  {_line(result)}  {remaining_time} left")
        count = count + 1 if result.fault == "model" else 0
        if count == _MODEL_GONE and number < len(pending):
            raise ModelError(
                f"{count} samples in a row could not ask the model: {result.reason} Nothing of them"
                " counts; give the same command again to go on."
            )


def _explored(
    pending: Sequence[Sample], pool: Pool, budget: Budget
) -> Iterator[tuple[Sample, Future[RunResult]]]:
    """The samples as they finish. Raises BudgetError when the next could exceed the budget."""
    queue, running_samples = deque(pending), dict[Future[RunResult], Sample]()
    # Submitted samples will be paid for, so with a limit only as many are as can run at once.
    room = pool.width if budget.is_limited else len(pending)
    while queue or running_samples:
        methods = [sample.way.row for sample in running_samples.values()]
        if (
            queue
            and len(running_samples) < room
            and not budget.could_pass(queue[0].way.row, methods)
        ):
            sample = queue.popleft()
            running_samples[pool.submit(explore, sample)] = sample
            continue
        if not running_samples:
            raise BudgetError(
                f"{budget.in_words(queue[0].way.row)}: {len(queue)} samples were not"
                " begun. Give the same command with a higher --max-money to go on."
            )
        for future in wait(running_samples, return_when=FIRST_COMPLETED).done:
            yield running_samples.pop(future), future


def _loss(future: Future[Any]) -> str:
    """Why submitted work has no result; empty if it has one."""
    # Dask cancels what it was given when its scheduler is lost.
    if future.cancelled():
        return "It was cancelled: its cluster was lost."
    error = future.exception()
    return f"The worker was lost: {type(error).__name__}: {error}" if error is not None else ""


def _warm(problems: Iterable[Problem], say: Say) -> None:
    """Index each library once beforehand: indexing is not part of a method's cost."""
    library_problems = (problem for problem in problems if problem.libraries)
    distinct = {(one.libraries, one.python, one.search_path): one for one in library_problems}
    for problem in distinct.values():
        say(f"reading the docs of {' and '.join(problem.libraries)}")
        failure = warm_index(problem)
        if failure:
            say(failure)


def _brief(
    samples: Iterable[Sample], settings: Mapping[str, Settings], pool: Pool, say: Say
) -> Usage:
    """Have the model write its briefing on each library: that is a cost of the library, and would
    otherwise be the first sample's. Raises ModelError when the model cannot be asked.
    """
    usage = Usage()
    distinct: dict[object, Sample] = {}
    for sample in samples:
        way_settings = settings[sample.way.row]
        is_told = is_planned(sample.way.method, way_settings) and wants_briefing(way_settings)
        if sample.problem.libraries and is_told:
            problem = sample.problem
            libraries = (problem.libraries, problem.python, problem.search_path)
            distinct.setdefault((libraries, way_settings.few_shot_plans), sample)
    futures = {pool.submit(brief_for, sample): sample for sample in distinct.values()}
    for future in as_completed(futures):
        sample, loss = futures[future], _loss(future)
        briefing = BriefingOutcome(loss, "harness") if loss else future.result()
        names = " and ".join(sample.problem.libraries)
        usage += briefing.usage
        say(f"the model on {names}, for {sample.way.method}: {briefing.message}")
        if briefing.fault == "model":
            raise ModelError(
                f"The model could not be asked about {names}: {briefing.message} Nothing was run;"
                " give the same command again to go on."
            )
    return usage


def _line(result: RunResult) -> str:
    tokens = result.prompt_tokens + result.completion_tokens
    words = f"{result.problem}  {result.method}-{result.seed}  {result.status}"
    line = f"{words}  {tokens} tokens  {result.seconds:.1f} s"
    return line if result.counts else f"{line}  ({result.fault}) {result.reason[:200]}"
