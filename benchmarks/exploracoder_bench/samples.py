"""One sample, wherever it runs: made in a scratch folder, and moved into place when complete."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from exploracoder.errors import InputError
from exploracoder_kernel.errors import SidecarError

from exploracoder_bench.children import Children
from exploracoder_bench.judge import Assessment, Verdict, assess, judge
from exploracoder_bench.problems import Problem
from exploracoder_bench.results import RunKey, RunResult
from exploracoder_bench.runs import BriefingOutcome, ModelOptions, Way, brief, is_full_disk, run

_ATTEMPTS = "attempts"


@dataclass(frozen=True, slots=True)
class Sample:
    """A problem explored in one way; ``out`` is the folder of the bench run.

    ``timeout_s`` is the limit of the whole sample, ``run_seconds`` that of one run in it; the way's
    options tell the method the same. ``cache`` is a cache folder to use instead of the user's.
    """

    problem: Problem
    way: Way
    model_options: ModelOptions
    out: Path
    timeout_s: float
    run_seconds: float
    cache: Path | None = None

    @property
    def key(self) -> RunKey:
        """Its key in the ledger."""
        return (self.problem.name, self.way.row, self.way.seed, self.way.options)

    @property
    def folder(self) -> Path:
        """Where its trace is kept."""
        return trace_folder(self.out, self.problem.slug, self.way.row, self.way.seed)

    @property
    def own_model_options(self) -> ModelOptions:
        """The model, with a folder of replies: this sample's alone, or its problem's and seed's.

        Methods ask the same of a problem: one that reuses another's replies takes no time for them.
        """
        if self.model_options.replies is None:
            return self.model_options
        asker = "shared" if self.model_options.shares_replies else self.way.row
        folder = f"{asker}-{self.way.seed}-{self.problem.slug}"
        return replace(self.model_options, replies=self.model_options.replies / folder)


def trace_folder(out: Path, slug: str, method: str, seed: int) -> Path:
    """Where the trace of a sample is kept."""
    return out / "work" / slug / f"{method}-{seed}"


def explore(sample: Sample, children: Children | None = None) -> RunResult:
    """Run a sample. Anything that goes wrong outside the command is a fault of the harness."""
    attempt = attempt_in(sample.out)
    try:
        result = run(
            sample.problem,
            sample.way,
            sample.own_model_options,
            attempt,
            timeout_s=sample.timeout_s,
            cache=sample.cache,
            children=children,
        )
        if sample.folder.exists():
            shutil.rmtree(sample.folder)
        sample.folder.parent.mkdir(parents=True, exist_ok=True)
        attempt.rename(sample.folder)
        has_solution = result.counts and result.solution.strip()
        if sample.way.hides_check and has_solution:
            result = _assessed(sample, result)
        return _with_second(sample, result)
    except OSError as error:
        return lost(sample, f"{type(error).__name__}: {error}")


def _assessed(sample: Sample, result: RunResult) -> RunResult:
    """The result with the check's verdict on the solution, which the method has not seen."""
    assessment = _found(sample, sample.problem, result)
    if isinstance(assessment, RunResult):
        return assessment
    return result.model_copy(
        update={
            "status": "solved" if assessment.has_passed else "failed",
            "ran": assessment.ran,
            "executed": assessment.is_executed,
            "checks": "passed" if assessment.has_passed else "failed" if assessment.ran else "none",
            "reason": "" if assessment.has_passed else assessment.reason,
            "tests_passed": int(assessment.has_passed),
        }
    )


def _with_second(sample: Sample, result: RunResult) -> RunResult:
    """The result with the check's verdict on the solution with the problem's second data."""
    second = sample.problem.with_second_data
    if second is None or not result.counts:
        return result
    assessment = _found(sample, second, result)
    if isinstance(assessment, RunResult):
        return assessment
    return result.model_copy(update={"second_check": assessment.has_passed})


def _found(sample: Sample, problem: Problem, result: RunResult) -> Assessment | RunResult:
    """The assessment of a solution, or the result of a sample for which there can be none.

    Such a result keeps what was spent: it was paid for.
    """
    folder = attempt_in(sample.out)
    try:
        assessment = assess(problem, result.solution, folder, sample.run_seconds)
    except (SidecarError, InputError, OSError) as error:
        reason = f"The solution could not be checked: {error}"
        return result.model_copy(update={"status": "setup", "fault": "harness", "reason": reason})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if is_full_disk(assessment.reason):
        hindrance = {"status": "setup", "fault": "execution", "reason": assessment.reason}
        return result.model_copy(update=hindrance)
    return assessment


def examine(
    problem: Problem,
    out: Path,
    run_seconds: float | None = None,
    children: Children | None = None,
) -> Verdict:
    """Judge a problem in a folder that is gone afterwards; its runs end after ``run_seconds``."""
    folder = attempt_in(out)
    try:
        return judge(problem, folder, run_seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def brief_for(sample: Sample, children: Children | None = None) -> BriefingOutcome:
    """Have the briefing for a sample's method written before the sample is measured."""
    folder = attempt_in(sample.out)
    try:
        return brief(
            sample.problem,
            sample.way,
            sample.model_options,
            folder,
            timeout_s=sample.timeout_s,
            children=children,
        )
    except OSError as error:
        return BriefingOutcome(f"{type(error).__name__}: {error}", "harness")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def lost(sample: Sample, reason: str) -> RunResult:
    """The result of a sample that the harness could not complete."""
    return RunResult(
        problem=sample.problem.name,
        dataset=sample.problem.dataset,
        method=sample.way.row,
        seed=sample.way.seed,
        options=sample.way.options,
        status="setup",
        fault="harness",
        exit_code=-1,
        reason=reason,
    )


def attempt_in(out: Path) -> Path:
    """The path of a new scratch folder, which is not created yet."""
    return (out / _ATTEMPTS / uuid4().hex).absolute()


def clear_attempts(out: Path) -> None:
    """Remove the scratch folders of interrupted runs."""
    shutil.rmtree(out / _ATTEMPTS, ignore_errors=True)
