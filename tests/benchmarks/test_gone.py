"""When a model that cannot be asked ends a run, and when it does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from exploracoder.errors import ModelError
from exploracoder.prepare import settings_for
from exploracoder_bench import harness
from exploracoder_bench.executors import Pool
from exploracoder_bench.harness import RESULTS, Bench, judge_all, run_bench
from exploracoder_bench.judge import Verdict
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.plan import read_plan
from exploracoder_bench.problems import Problem
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import BriefingOutcome, ModelOptions
from exploracoder_bench.samples import Sample

from .made_results import apart, failed, made, plan

GONE = {"fault": "model", "reason": "No model server can be reached."}


@pytest.fixture
def problem(problems: dict[str, Problem], judged_s: object) -> Problem:
    """One that counts without being judged, and whose library needs no index."""
    return problems["Tiny/0"]


def run(
    problem: Problem,
    out: Path,
    results: Iterable[RunResult],
    monkeypatch: pytest.MonkeyPatch,
    methods: tuple[str, ...] = ("direct",),
) -> tuple[RunResult, ...]:
    """A run whose samples come out as is said, one after another, by each method."""
    outcomes = list(results)

    def explore(sample: Sample, **_: object) -> RunResult:
        # As slow as a real one: those that are done at the same time are seen in any order.
        deadline = time.monotonic() + 5
        while _kept(out) < sample.way.seed and time.monotonic() < deadline:
            time.sleep(0.01)
        which = {"seed": sample.way.seed, "method": sample.way.method}
        return outcomes[sample.way.seed].model_copy(update=which)

    monkeypatch.setattr(harness, "explore", explore)
    settings = {name: settings_for(name, is_embedded=False) for name in methods}
    begun = plan(methods=methods, samples=len(outcomes))
    bench = Bench(begun, [problem], ModelOptions("scripted"), settings, out)
    return run_bench(bench, lambda _: None)


def _kept(out: Path) -> int:
    file = out / RESULTS
    return file.read_bytes().count(b"\n") if file.exists() else 0


def test_each_verdict_is_kept_as_soon_as_it_is_there(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[Verdict]:
        yield Verdict(problem=problem.name, digest=problem.digest, is_sound=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(harness, "judge_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(problem, tmp_path, [made()], monkeypatch)

    plan = read_plan(tmp_path)
    assert plan is not None
    assert plan.problems == {problem.name: problem.digest}


def test_three_in_a_row_that_could_not_ask_the_model_end_the_run(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match="3 samples in a row could not ask the model: No model"):
        run(problem, tmp_path, [made(), *[apart(**GONE)] * 4, made()], monkeypatch)

    assert len(list(Ledger(tmp_path / RESULTS))) == 4


@pytest.mark.parametrize(
    "others",
    [
        [apart(**GONE), apart(**GONE), made(), apart(**GONE), apart(**GONE), made()],
        [apart(fault="request", reason="No such field.")] * 4 + [made()],
        [apart(fault="execution", reason="No library.")] * 4 + [made()],
        [failed(reason="It did not answer in the form of a plan.")] * 4 + [made()],
    ],
)
def test_nothing_else_ends_the_run(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: list[Any]
) -> None:
    results = run(problem, tmp_path, others, monkeypatch)

    assert len(results) == len(others)
    assert results[-1].is_solved


def test_what_is_told_before_a_plan_is_written_once_beforehand(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    briefed_methods: list[str] = []

    def brief_for(sample: Sample, **_: object) -> BriefingOutcome:
        briefed_methods.append(sample.way.method)
        return BriefingOutcome("No library.", "execution")

    monkeypatch.setattr(harness, "brief_for", brief_for)

    run(problem, tmp_path / "direct", [made()], monkeypatch, ("direct", "docprompting"))
    assert briefed_methods == []

    methods = ("capir", "epigen", "exploracoder-paper-no-knowledge", "exploration")
    results = run(problem, tmp_path / "all", [made()] * 2, monkeypatch, methods)

    # With the profile standard all of them show as many plans, and one of them none.
    assert briefed_methods == ["capir"]
    # What goes wrong there is for each sample to find out.
    assert len(results) == 8


def test_a_model_that_is_gone_beforehand_ends_the_run(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "brief_for", lambda *_, **__: BriefingOutcome("No key.", "model"))

    with pytest.raises(ModelError, match=r"could not be asked about frumpkin: No key\."):
        run(problem, tmp_path, [made()], monkeypatch, ("capir",))

    assert list(Ledger(tmp_path / RESULTS)) == []


class CancellingPool(Executor):
    """Dask's way when its scheduler is lost: what it was given is cancelled, and never done."""

    def submit(self, work: Callable[..., Any], *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_a_cluster_whose_scheduler_is_lost_loses_its_samples_and_nothing_else(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(problem, tmp_path, [made()], monkeypatch)

    def open_pool(*_: object) -> AbstractContextManager[Pool]:
        return nullcontext(Pool(CancellingPool(), 1))

    monkeypatch.setattr(harness, "open_pool", open_pool)
    first, *others = run(problem, tmp_path, [made()] * 3, monkeypatch)

    assert first.is_solved
    assert [(one.status, one.fault) for one in others] == [("setup", "harness")] * 2
    assert {one.reason for one in others} == {"It was cancelled: its cluster was lost."}


def test_a_problem_that_nobody_judged_is_excluded(problem: Problem, tmp_path: Path) -> None:
    messages: list[str] = []
    pool = Pool(CancellingPool(), 1)

    (verdict,) = judge_all([problem], tmp_path, pool, messages.append)

    assert (verdict.is_sound, verdict.digest) == (False, problem.digest)
    assert verdict.reason == "It could not be tried: It was cancelled: its cluster was lost."
