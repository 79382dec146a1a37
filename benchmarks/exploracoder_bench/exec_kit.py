"""Explores a kit's executable problems with each method: what was solved, at what cost?

Run: ``python -m exploracoder_bench.exec_kit KIT --pythons torchdata=EXE,pandas=EXE --out DIR``

The interpreters are yours; ExploraCoder need not be in them. The kit's answers were checked with
Python 3.11 and

    torchdata: torch==2.13.0 torchdata==0.7.1 numpy==1.26.4 pandas==2.2.3
               pyarrow==18.1.0 requests fsspec iopath
    pandas:    pandas==1.5.3 numpy==1.23.5    (also for numpy, monkey and beatnum)

With --canonical no model is asked: the known solutions go the same way, through the command line
and the sidecar, and each must come out solved. Runs are kept in DIR/results.jsonl; a run that is
there is not done again, so a sweep that was interrupted goes on when it is called again.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from exploracoder.testing import ScriptedModelServer

from exploracoder_bench.kit import KitError, Row, read_rows, select_rows
from exploracoder_bench.options import make_parser, runner, ways
from exploracoder_bench.runs import Problem, RunResult, Way, run
from exploracoder_bench.sweep import Runner, sweep
from exploracoder_bench.tables import datasets_table, methods_table, setup_failures

_CANONICAL = "canonical"
# These need the same environment as pandas.
_KIN = {"numpy": "pandas", "monkey": "pandas", "beatnum": "pandas"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep and print the tables; 2 when the kit or the options cannot be used."""
    given = _parser().parse_args(arguments)
    try:
        rows = select_rows(read_rows(given.kit), given.select)
        pythons = _pythons(given.pythons)
        problems = [row.problem(given.kit, _python(row, pythons)) for row in rows]
    except KitError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    if given.canonical:
        results = sweep(problems, [Way(_CANONICAL, 0)], given.out, _answers(rows, given.timeout))
    else:
        results = sweep(problems, ways(given), given.out, runner(given))
    tables = (methods_table(results), datasets_table(results), setup_failures(results))
    print("\n\n".join(filter(None, tables)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(__doc__, seeds=1)
    parser.add_argument("kit", type=Path, help="folder with dev/, fixtures/ and private/")
    parser.add_argument(
        "--select",
        nargs="+",
        default=["smoke"],
        metavar="NAME",
        help="smoke (the first two problems of each set), all, sets, or ids of problems",
    )
    parser.add_argument(
        "--pythons",
        required=True,
        metavar="LIBRARY=EXE,…",
        help="the interpreter of each library; pandas' serves numpy, monkey and beatnum too",
    )
    parser.add_argument(
        "--canonical", action="store_true", help="check the kit with its known solutions instead"
    )
    return parser


def _pythons(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if not all(library and executable for library, _, executable in pairs):
        raise KitError(f"--pythons takes LIBRARY=EXE,LIBRARY=EXE, not {text!r}.")
    return {library.strip(): executable.strip() for library, _, executable in pairs}


def _python(row: Row, pythons: Mapping[str, str]) -> str:
    library = row.libraries[0]
    found = pythons.get(library) or pythons.get(_KIN.get(library, ""))
    if found is None:
        raise KitError(f"{row.id} needs {library}: add {library}=EXE to --pythons.")
    return found


def _answers(rows: Sequence[Row], timeout_s: float) -> Runner:
    """Runs in which the model is a server that knows the solution."""
    answers = {row.id: f"```python\n{row.canonical}\n```" for row in rows}

    def answer(problem: Problem, way: Way, folder: Path) -> RunResult:
        with ScriptedModelServer(answers[problem.name]) as server:
            options = ("--model", server.model, "--base-url", server.base_url)
            asked = dataclasses.replace(way, method="direct", options=options)
            result = run(problem, asked, folder, timeout_s=timeout_s)
        return result.model_copy(update={"method": way.method, "options": way.options})

    return answer


if __name__ == "__main__":
    sys.exit(main())
