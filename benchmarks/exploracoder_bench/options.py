"""Arguments that the sweeps share, and what they mean."""

from __future__ import annotations

import argparse
from pathlib import Path

from exploracoder_bench.runs import Problem, RunResult, Way, run
from exploracoder_bench.sweep import Runner

_PASSED_ON = ("profile", "model", "base-url")


def make_parser(description: str | None, *, seeds: int) -> argparse.ArgumentParser:
    """A parser that shows ``description`` as it is written and knows the shared arguments."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="where the runs are kept"
    )
    parser.add_argument(
        "--methods",
        default="direct,docprompting,exploration",
        metavar="NAME,…",
        help="default: %(default)s",
    )
    parser.add_argument(
        "--seeds", type=int, default=seeds, metavar="N", help="seeds 0 to N-1; default: %(default)s"
    )
    parser.add_argument(
        "--set",
        dest="assignments",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of 'exploracoder explore', for all methods; may be repeated",
    )
    for name in _PASSED_ON:
        parser.add_argument(f"--{name}", help="as in 'exploracoder explore'")
    parser.add_argument(
        "--timeout",
        type=float,
        default=900.0,
        metavar="S",
        help="seconds for one run; default: %(default)g",
    )
    return parser


def ways(given: argparse.Namespace) -> list[Way]:
    """Each method with each seed, all with the same options of the command line."""
    options = [f"--set={assignment}" for assignment in given.assignments]
    for name in _PASSED_ON:
        value = getattr(given, name.replace("-", "_"))
        options += [f"--{name}={value}"] if value else []
    methods = [name.strip() for name in given.methods.split(",") if name.strip()]
    return [Way(method, seed, tuple(options)) for method in methods for seed in range(given.seeds)]


def runner(given: argparse.Namespace) -> Runner:
    """Runs within the time limit that was given."""

    def explore(problem: Problem, way: Way, folder: Path) -> RunResult:
        return run(problem, way, folder, timeout_s=given.timeout)

    return explore
