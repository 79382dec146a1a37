from __future__ import annotations

from pathlib import Path

from exploracoder_bench.runs import Problem, RunResult, RunStatus, Way
from exploracoder_bench.sweep import Ledger, folder_of, sweep

DIRECT, EXPLORING = Way("direct", 0), Way("exploration", 0)


def problem(name: str) -> Problem:
    return Problem(
        name=name,
        dataset="Tiny",
        task="Do it.",
        context="",
        check="assert done",
        entry_point=None,
        libraries=(),
        python="python",
    )


class Recorder:
    """Runs nothing and remembers what it was to run; statuses are given out by problem."""

    def __init__(self, **statuses: RunStatus) -> None:
        self.statuses = statuses
        self.ran: list[tuple[str, str]] = []
        self.interrupt_at = -1

    def __call__(self, given: Problem, way: Way, folder: Path) -> RunResult:
        if len(self.ran) == self.interrupt_at:
            raise KeyboardInterrupt
        self.ran.append((given.name, way.method))
        return RunResult(
            problem=given.name,
            dataset=given.dataset,
            method=way.method,
            seed=way.seed,
            options=way.options,
            status=self.statuses.get(given.name, "solved"),
            exit_code=0,
        )


PROBLEMS = [problem("a"), problem("b")]


def test_every_problem_is_run_in_every_way_a_method_at_a_time(tmp_path: Path) -> None:
    recorder = Recorder()

    results = sweep(PROBLEMS, [DIRECT, EXPLORING], tmp_path, recorder)

    assert recorder.ran == [
        ("a", "direct"),
        ("b", "direct"),
        ("a", "exploration"),
        ("b", "exploration"),
    ]
    assert [(one.problem, one.method) for one in results] == recorder.ran


def test_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    first = sweep(PROBLEMS, [DIRECT], tmp_path, Recorder(b="failed"))
    again = Recorder()

    results = sweep(PROBLEMS, [DIRECT], tmp_path, again)

    assert again.ran == []
    assert results == first
    assert [one.status for one in results] == ["solved", "failed"]


def test_another_seed_or_setting_is_another_run(tmp_path: Path) -> None:
    sweep(PROBLEMS[:1], [DIRECT], tmp_path, Recorder())
    again = Recorder()

    sweep(PROBLEMS[:1], [Way("direct", 1), Way("direct", 0, ("--set=m=1",))], tmp_path, again)

    assert len(again.ran) == 2


def test_a_set_up_that_failed_is_tried_again_and_the_later_result_counts(tmp_path: Path) -> None:
    sweep(PROBLEMS, [DIRECT], tmp_path, Recorder(a="setup"))
    again = Recorder()

    results = sweep(PROBLEMS, [DIRECT], tmp_path, again)

    assert again.ran == [("a", "direct")]
    assert [one.status for one in results] == ["solved", "solved"]
    assert [one.status for one in sweep(PROBLEMS, [DIRECT], tmp_path, again)] == ["solved"] * 2


def test_an_interrupt_keeps_the_results_so_far(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.interrupt_at = 1

    results = sweep(PROBLEMS, [DIRECT], tmp_path, recorder)

    assert [one.problem for one in results] == ["a"]
    assert Ledger(tmp_path / "results.jsonl").is_finished(("a", "direct", 0, ()))


def test_each_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = {
        folder_of(tmp_path, each, Way(method, seed))
        for each in PROBLEMS
        for method in ("direct", "exploration")
        for seed in (0, 1)
    }

    assert len(folders) == 8
    assert all(folder.is_absolute() for folder in folders)
