"""Runs the demo's task with each method for several seeds: how many were solved, at what cost?

Run: ``python -m exploracoder_bench.demo_runs --out DIR [--seeds 5] [--python EXE]``

The task is a folder with its words, the context and the check. Runs are kept in DIR/results.jsonl;
one that is there is not done again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from exploracoder_bench.options import make_parser, runner, ways
from exploracoder_bench.runs import Problem
from exploracoder_bench.sweep import sweep
from exploracoder_bench.tables import methods_table, setup_failures

_FILES = ("task", "context", "check")


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep and print the table; 2 when a file of the task cannot be read."""
    given = _parser().parse_args(arguments)
    try:
        problem = _problem(given)
    except OSError as error:
        print(f"Error: {error.filename}: {error.strerror}.", file=sys.stderr)
        return 2
    results = sweep([problem], ways(given), given.out, runner(given))
    print("\n\n".join(filter(None, (methods_table(results), setup_failures(results)))))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(__doc__, seeds=5)
    parser.add_argument("--folder", type=Path, default=Path("examples/demo"), metavar="DIR")
    for name, file in zip(_FILES, ("task.txt", "context.py", "check.py"), strict=True):
        parser.add_argument(f"--{name}", default=file, metavar="FILE", help="in the folder")
    parser.add_argument("--library", default="justhtml", help="default: %(default)s")
    parser.add_argument("--entry-point", help="the function to define, if the task wants one")
    parser.add_argument("--python", default=sys.executable, help="the one that has the library")
    return parser


def _problem(given: argparse.Namespace) -> Problem:
    task, context, check = (
        (given.folder / getattr(given, name)).read_text(encoding="utf-8") for name in _FILES
    )
    return Problem(
        name=given.folder.name,
        dataset="demo",
        task=task,
        context=context,
        check=check,
        entry_point=given.entry_point,
        libraries=(given.library,),
        python=given.python,
    )


if __name__ == "__main__":
    sys.exit(main())
