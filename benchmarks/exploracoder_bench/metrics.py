"""Summary figures of samples. Samples that do not count (``RunResult.counts``) are left out."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from exploracoder.models.model_cost import Price

from exploracoder_bench.intervals import (
    CONFIDENCE,
    Estimate,
    bootstrap,
    mean_amount,
    ratio,
    sign_test,
)
from exploracoder_bench.results import RunResult

Passed = Callable[[RunResult], bool]


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that one of ``k`` samples passes, when ``c`` of ``n`` did; unbiased.

    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1; as
    used by ExploraCoder (section 5) and RepoClassBench. Raises ValueError when ``k`` is more than
    ``n``, or ``c`` is not between 0 and ``n``.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@{k} is not known from {c} of {n} samples")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def estimate_at_k(results: Iterable[RunResult], k: int, criterion: Passed) -> Estimate:
    """The mean of pass@k over problems with at least ``k`` samples that count."""
    groups = by_problem(results)
    values = [
        pass_at_k(len(group), sum(map(criterion, group)), k)
        for group in groups.values()
        if len(group) >= k
    ]
    return bootstrap(values)


def after_calls(
    results: Iterable[RunResult], calls: int, score: Callable[[float], float]
) -> Estimate:
    """The mean over problems of ``score`` applied to the share of tests that pass.

    It is the share after at most ``calls`` oracle calls: a sample that ended earlier counts with
    its last text, one without any text as 0.
    Source: RepoClassBench, table 10 (Pass@1 across iterations) and section 5.2 (test rate).
    """
    groups = by_problem(results).values()
    return bootstrap([_mean(score(_share(one, calls)) for one in group) for group in groups])


def invented(results: Iterable[RunResult]) -> Estimate:
    """The mean over problems of the share of called API names that no library has."""
    groups = by_problem(one for one in results if one.called).values()
    shares = [
        sum(len(one.unknown) for one in group) / sum(len(one.called) for one in group)
        for group in groups
    ]
    return bootstrap(shares)


def passes_all(share: float) -> float:
    """1 for a class that passes all of its tests, or 0."""
    return float(share == 1.0)


def success_at_k(results: Iterable[RunResult], k: int) -> Estimate:
    """Like pass@k, for solutions that were executed without runtime errors, right or wrong.

    Results that do not record this are left out. Source: ExploraCoder, section 5.1.
    """
    return estimate_at_k(telling(results), k, is_success)


def telling(results: Iterable[RunResult]) -> list[RunResult]:
    """The results that say whether their solution was executed; an earlier version's do not."""
    return [one for one in results if one.executed is not None]


def is_success(result: RunResult) -> bool:
    """Whether the solution was executed without runtime errors, right or wrong."""
    return bool(result.executed)


def is_pass(result: RunResult) -> bool:
    """Whether the solution passed its check."""
    return result.is_solved


def passes_twice(result: RunResult) -> bool:
    """Whether the solution passed its check with the second data too."""
    return result.is_solved and bool(result.second_check)


def doubly_judged(results: Iterable[RunResult]) -> list[RunResult]:
    """The results of problems that have second data."""
    return [one for one in results if one.second_check is not None]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How two differ on the problems that both have: ``difference`` is the second's minus the
    first's chance to solve a problem with one sample."""

    difference: Estimate
    first: float
    second: float
    better: tuple[str, ...]
    worse: tuple[str, ...]

    @property
    def chance(self) -> float:
        """How likely a fair coin would favour one of them on that many problems or more."""
        return sign_test(len(self.better), len(self.worse))

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes a difference of 0, and the sign test does so too.

        With few problems, resampling alone calls anything certain.
        """
        is_outside = self.difference.low > 0 or self.difference.high < 0
        return is_outside and self.chance < 1 - CONFIDENCE


def compare(first: Iterable[RunResult], second: Iterable[RunResult]) -> PairedDifference:
    """Compare problem by problem; the interval is from resampling problems."""
    ours, theirs = by_problem(first), by_problem(second)
    names = sorted(ours.keys() & theirs.keys())
    rates = {name: (_rate(ours[name]), _rate(theirs[name])) for name in names}
    return PairedDifference(
        difference=bootstrap([b - a for a, b in rates.values()], least=-1.0),
        first=_mean(a for a, _ in rates.values()),
        second=_mean(b for _, b in rates.values()),
        better=tuple(name for name, (a, b) in rates.items() if b > a),
        worse=tuple(name for name, (a, b) in rates.items() if b < a),
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """A method's samples, added up; means are over those that count, ``apart`` counts the others.

    ``could_explore`` counts the samples of which it is known whether they explored, ``explored``
    those that did, ``solved_by_exploring`` those solved as a result. ``recall`` is the share of
    names that a known solution calls which are last names of APIs that a prompt showed; nan when
    nothing was recommended or no solution is known. ``checked`` is the mean of
    ``RunResult.checked``. A sample is a chain when it tried a subtask: ``subtasks`` is how many a
    chain had, planned or written as cells, ``subtask_rate`` the share of them all that have an
    experience that ran (ExploraCoder, appendix A.5, table 8), ``chain_rate`` the share of chains in
    which all do; nan without chains. ``seconds``, the median, and ``mean_seconds``, a mean over
    problems, are of samples that took no reply from an earlier, interrupted run; ``jobs`` lists how
    many samples ran at a time then, such as "1" or "1, 8", with "?" if that is not known.
    """

    problems: int
    samples: int
    apart: int
    solved: int
    could_explore: int
    explored: int
    solved_by_exploring: int
    test_rate: float
    subtasks: float
    subtask_rate: Estimate
    chain_rate: float
    apis_per_subtask: float
    recall: float
    checked: float
    calls: float
    prompt_tokens: float
    cached_tokens: float
    completion_tokens: float
    seconds: float
    mean_seconds: Estimate
    seconds_per_solved: float
    jobs: str
    tokens_per_solved: float
    money: float


def summarize(results: Iterable[RunResult], price: Price | None = None) -> Summary:
    """Summarize the samples."""
    all_samples = list(results)
    samples = [one for one in all_samples if one.counts]
    chains = [one for one in samples if one.chain.explored]
    timed_samples = [one for one in samples if not one.cached_calls]
    seconds = [one.seconds for one in timed_samples]
    passes = sum(one.is_solved for one in samples)
    completion = sum(one.completion_tokens for one in samples)
    steps = sum(one.chain.explored for one in chains)
    return Summary(
        problems=len(by_problem(samples)),
        samples=len(samples),
        apart=len(all_samples) - len(samples),
        solved=passes,
        could_explore=sum(one.explored_steps is not None for one in samples),
        explored=sum(bool(one.explored_steps) for one in samples),
        solved_by_exploring=sum(one.is_solved_by_exploring for one in samples),
        test_rate=_mean(one.tests_passed / one.tests for one in samples if one.tests),
        subtasks=_mean(one.chain.explored for one in chains),
        subtask_rate=_subtask_rate(chains),
        chain_rate=_mean(float(not one.chain.broken_at) for one in chains),
        apis_per_subtask=sum(one.chain.apis for one in chains) / steps if steps else math.nan,
        recall=_mean(filter(_is_known, map(recall, samples))),
        checked=_mean(one.checked for one in samples if one.checked is not None),
        calls=_mean(one.calls for one in samples),
        prompt_tokens=_mean(one.prompt_tokens for one in samples),
        cached_tokens=_mean(one.cached_tokens for one in samples),
        completion_tokens=_mean(one.completion_tokens for one in samples),
        seconds=statistics.median(seconds) if seconds else math.nan,
        mean_seconds=_mean_seconds(timed_samples),
        seconds_per_solved=_mean(seconds) * len(samples) / passes if passes else math.nan,
        jobs=_jobs(timed_samples),
        tokens_per_solved=completion / passes if passes else math.nan,
        money=money(samples, price or Price()),
    )


def recall(result: RunResult) -> float:
    """The share of the needed names that were recommended; nan when unknown."""
    if not result.gold or not result.chain.recommended:
        return math.nan
    recommended_names = {path.rpartition(".")[2] for path in result.chain.recommended}
    return sum(name in recommended_names for name in result.gold) / len(result.gold)


def _subtask_rate(chains: Sequence[RunResult]) -> Estimate:
    """The rate over all subtasks of all chains, as in the paper: long chains weigh more."""
    return ratio(
        [
            (sum(one.chain.ran for one in group), sum(one.chain.explored for one in group))
            for group in by_problem(chains).values()
        ]
    )


def _mean_seconds(results: Iterable[RunResult]) -> Estimate:
    groups = by_problem(results).values()
    return mean_amount([_mean(one.seconds for one in group) for group in groups])


def _jobs(results: Iterable[RunResult]) -> str:
    numbers = {one.jobs for one in results}
    counts = sorted(number for number in numbers if number is not None)
    return ", ".join([*map(str, counts), *(["?"] if None in numbers else [])])


def money(results: Iterable[RunResult], price: Price) -> float:
    """What the tokens cost, in the currency of the price."""
    return sum(price.of(one.prompt_tokens, one.completion_tokens) for one in results)


def by_problem(results: Iterable[RunResult]) -> dict[str, list[RunResult]]:
    """The samples that count, by problem, sorted by name: intervals depend on the order."""
    groups: dict[str, list[RunResult]] = defaultdict(list)
    for one in results:
        if one.counts:
            groups[one.problem].append(one)
    return dict(sorted(groups.items()))


def _share(result: RunResult, calls: int) -> float:
    return result.oracle_calls[:calls][-1] if result.oracle_calls else 0.0


def _rate(results: Sequence[RunResult]) -> float:
    return sum(one.is_solved for one in results) / len(results)


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return statistics.fmean(numbers) if numbers else math.nan


def _is_known(value: float) -> bool:
    return not math.isnan(value)
