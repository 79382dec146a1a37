"""Problems of ``api_use``, for ``--problems api-use=NAME_OR_FILE``: judged by their data flow.

Each problem has packages of its own that only record calls, since noise changes their names. The
task contains the documentation too, so that all methods have the same information.
"""

from __future__ import annotations

import hashlib

from exploracoder_bench.api_use.benchmarks import open_benchmark
from exploracoder_bench.api_use.composed_problems import PreparedProblem, prepare
from exploracoder_bench.api_use.packages import example_context, write_packages
from exploracoder_bench.datasets.fetching import home
from exploracoder_bench.datasets.interpreters import PythonOf
from exploracoder_bench.problems import Problem


def read_api_use(name_or_file: str, python_of: PythonOf) -> list[Problem]:
    """The problems of a benchmark, or of a file that ``generate`` wrote. Raises InputError."""
    shelf, problems = open_benchmark(name_or_file)
    return [_problem(prepare(one, shelf), python_of) for one in problems]


def _problem(preparation: PreparedProblem, python_of: PythonOf) -> Problem:
    problem = preparation.problem
    key = hashlib.sha256(preparation.task.encode()).hexdigest()[:16]
    folder = home().absolute() / "api-use" / key
    names = tuple(
        one.name for one in write_packages(preparation.shelf, preparation.shown_keys, folder)
    )
    return Problem(
        name=problem.id,
        dataset=problem.benchmark,
        task=preparation.task,
        context=example_context(preparation.outer, preparation.shelf) + "\n",
        check=preparation.check,
        entry_point=problem.func_name,
        libraries=names,
        python=python_of(names),
        search_path=folder,
        solution=preparation.reference,
    )
