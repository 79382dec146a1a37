"""What a memory is worth: each problem finds the others of its library solved, but not itself."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from exploracoder import prepare
from exploracoder.errors import SetupError, raised_as
from exploracoder.folders import DATA, cache_folder
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.examples.kept import KeptExample, KeptExamples
from exploracoder_retrieval.examples.slices import standing_alone
from exploracoder_retrieval.harvest.mentions import ApiNames
from exploracoder_retrieval.index import Index

from exploracoder_bench.problems import Problem


def caches_of_solved(problems: Sequence[Problem], folder: Path) -> dict[str, Path]:
    """A cache folder for each problem, by its name, in which the solutions of the other problems
    are kept as if a check had accepted them. Everything else in it links to the user's own cache.

    Raises SetupError when a library is not indexed, or an example cannot be kept.
    """
    shutil.rmtree(folder, ignore_errors=True)
    caches = {}
    with raised_as(SetupError, RetrievalError, OSError, of="--solved-others"):
        with prepare.open_index() as index:
            examples = {
                problem.name: _examples(problem, index) for problem in problems if problem.solution
            }
        for problem in problems:
            caches[problem.name] = cache = folder / problem.slug
            _link(cache)
            memory = KeptExamples(cache / DATA)
            for name, problem_examples in examples.items():
                if name != problem.name:
                    memory.keep(problem_examples)
    return caches


def _examples(problem: Problem, index: Index) -> list[KeptExample]:
    code = standing_alone(problem.solution, [problem.context])
    examples = []
    # A library that is given by its folder is indexed under the folder's name.
    for library in (Path(name).name for name in problem.libraries):
        apis = ApiNames(index.docs(library)).used_in(code)
        if apis:
            info = index.info(library)
            title = problem.task.strip().partition("\n")[0]
            examples.append(
                KeptExample(
                    library=info.name,
                    version=info.version,
                    source="exploration",
                    title=title,
                    task=title,
                    code=code,
                    apis=tuple(apis),
                    origin=problem.name,
                    kept=datetime.now(timezone.utc),
                )
            )
    return examples


def _link(cache: Path) -> None:
    """Make a cache folder that shares everything with the user's except the kept examples."""
    data = prepare.user_folder().absolute()
    for source, place in ((cache_folder().absolute(), cache), (data, cache / DATA)):
        place.mkdir(parents=True, exist_ok=True)
        for entry in source.iterdir() if source.is_dir() else ():
            if entry.name not in (DATA, KeptExamples.FOLDER):
                (place / entry.name).symlink_to(entry)
    (cache / DATA / KeptExamples.FOLDER).mkdir()
