from __future__ import annotations

from typing import Any

from exploracoder_bench.runs import RunResult
from exploracoder_bench.tables import datasets_table, methods_table, setup_failures, tally


def made(**given: Any) -> RunResult:
    """A result; what is not given is that of a solved run."""
    solved: dict[str, Any] = {
        "problem": "Tiny/0",
        "dataset": "Tiny",
        "method": "direct",
        "seed": 0,
        "status": "solved",
        "exit_code": 0,
        "ran": True,
        "checks": "passed",
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "cached_tokens": 600,
        "seconds": 10.0,
    }
    return RunResult.model_validate(solved | given)


def failed(**given: Any) -> RunResult:
    return made(status="failed", exit_code=1, checks="failed", **given)


def test_a_tally_adds_up_tokens_and_takes_the_median_of_times() -> None:
    sums = tally([made(seconds=1.0), failed(seconds=2.0), failed(seconds=9.0, ran=False)])

    assert (sums.solved, sums.ran, sums.counted, sums.apart) == (1, 2, 3, 0)
    assert (sums.prompt_tokens, sums.cached_tokens, sums.completion_tokens) == (3000, 1800, 300)
    assert (sums.median_seconds, sums.total_seconds) == (2.0, 12.0)


def test_a_set_up_that_failed_is_not_the_methods_failure() -> None:
    sums = tally([made(), made(status="setup", exit_code=2, ran=False, seconds=700.0)])

    assert (sums.solved, sums.counted, sums.apart) == (1, 1, 1)
    assert sums.prompt_tokens == 1000
    assert sums.total_seconds == 10.0


def test_a_run_that_had_no_check_is_not_solved() -> None:
    sums = tally([made(status="unverified", checks="none")])

    assert (sums.solved, sums.ran, sums.counted) == (0, 1, 1)


def test_nothing_adds_up_to_nothing() -> None:
    assert tally([]).median_seconds == 0.0


def test_the_methods_stand_in_lines() -> None:
    table = methods_table([made(), failed(method="exploration", prompt_tokens=12_345)])

    assert table.splitlines()[2:] == [
        "| direct | 1 | 1 | 1 | 0 | 1,000 | 600 | 100 | 10.0 | 10 |",
        "| exploracoder | 0 | 1 | 1 | 0 | 12,345 | 600 | 100 | 10.0 | 10 |",
    ]


def test_the_data_sets_stand_in_lines_and_the_methods_in_columns() -> None:
    results = [made(), failed(dataset="Other"), made(method="docprompting"), failed(seed=1)]

    assert datasets_table(results).splitlines() == [
        "| solved / ran / runs | direct | docprompting |",
        "| --- | ---: | ---: |",
        "| Other | 0 / 1 / 1 | 0 / 0 / 0 |",
        "| Tiny | 1 / 2 / 2 | 1 / 1 / 1 |",
    ]


def test_set_up_failures_are_listed_with_their_reason_in_one_line() -> None:
    broken = made(status="setup", exit_code=2, reason="The check\npasses | before")

    assert setup_failures([made()]) == ""
    assert setup_failures([made(), broken]).splitlines()[2:] == [
        "| Tiny/0 | direct | 2 | The check passes \\| before |"
    ]
