"""A kit of known problems whose library has names that nobody has seen, made from a seed.

The library is re-exported under a new name with new names in it (``private_libraries``), and each
problem is rewritten in the sandbox: running it shows which attributes are the library's.
"""

from __future__ import annotations

import asyncio
import json
import keyword
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.run_limits import Limits

from exploracoder_bench.datasets.invented_names import Inventor, is_english
from exploracoder_bench.datasets.private_libraries import Recipe, make_library, public_names
from exploracoder_bench.executors import Pool
from exploracoder_bench.judge import judge, sidecar_for
from exploracoder_bench.problems import Problem
from exploracoder_bench.progress_lines import Say
from exploracoder_bench.runs import prepare
from exploracoder_bench.samples import attempt_in, clear_attempts
from exploracoder_bench.splits import FILE as SPLITS

PRIVATE = "private"
_SCRIPT = Path(__file__).with_name(PRIVATE) / "rewrite.py.txt"
_RUN_SECONDS = 60.0
_MOST_CHARS = 10_000_000
# Other names by which people call a library.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {"numpy": ("NumPy",)}
_ALIASES = {"pandas": "pd", "numpy": "np"}


@dataclass(frozen=True, slots=True)
class RenamedProblem:
    """A problem under new names, or why there is none; ``origin`` is the original."""

    origin: Problem
    problem: Problem | None
    reason: str = ""


def make_kit(
    kit: Path, problems: Sequence[Problem], library: str, seed: int, pool: Pool, say: Say
) -> list[RenamedProblem]:
    """Make the library and the problems anew in ``kit``. Raises SetupError."""
    python = problems[0].python
    recipe = invent(library, seed, python)
    say(f"{library} is {recipe.library} now, with {len(recipe.names)} other names")
    make_library(kit / PRIVATE, recipe, python)
    futures = [pool.submit(remake, problem, recipe, kit) for problem in problems]
    remade = []
    for number, future in enumerate(futures, start=1):
        remade.append(one := future.result())
        note = "made" if one.problem else f"left out: {one.reason}"
        say(f"{number}/{len(futures)}  {one.origin.name}  {note}")
    clear_attempts(kit)
    _write_kit(kit, recipe, seed, remade)
    return remade


def invent(made_from: str, seed: int, python: str) -> Recipe:
    """The names that a seed gives a library, which ``python`` has. Raises SetupError."""
    inventor = Inventor(seed, made_from)
    library = inventor.word()
    names = inventor.rename(public_names(made_from, python))
    spoken = {made_from.capitalize(), *_OTHER_NAMES.get(made_from, ())}
    modules = dict.fromkeys(spoken, library.capitalize())
    if made_from in _ALIASES:
        alias = library[:2]
        modules[_ALIASES[made_from]] = f"{alias}_" if keyword.iskeyword(alias) else alias
    no_words = [name for name in names if not is_english(name)]
    return Recipe(library, made_from, names, no_words=no_words, modules=modules)


def remake(problem: Problem, recipe: Recipe, kit: Path, **_: object) -> RenamedProblem:
    """Rewrite a problem for the library in ``kit``, and judge the outcome."""
    folder = attempt_in(kit)
    try:
        outcome = asyncio.run(_rewritten(problem, recipe, kit, folder))
        if isinstance(outcome, str):
            return RenamedProblem(problem, None, outcome)
        verdict = judge(outcome, folder, _RUN_SECONDS)
        return RenamedProblem(problem, outcome if verdict.is_sound else None, verdict.reason)
    except (SidecarError, InputError, OSError) as error:
        return RenamedProblem(problem, None, f"It could not be tried: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _rewritten(problem: Problem, recipe: Recipe, kit: Path, folder: Path) -> Problem | str:
    """The problem with new names, or what is wrong with the original."""
    prepare(problem, folder)
    private = kit / PRIVATE
    arguments = [recipe.library, problem.task, [problem.context, problem.solution, problem.check]]
    script = _SCRIPT.read_text(encoding="utf-8")
    code = f"{script}\nimport json\nprint(json.dumps(rewrite(*{arguments!r})))"
    limits = Limits(wall_seconds=_RUN_SECONDS, max_output_chars=_MOST_CHARS)
    async with await sidecar_for(replace(problem, search_path=private), folder, limits) as sidecar:
        result = await sidecar.run(sidecar.root, code)
    if result.error is not None:
        return f"It does not run as it is: {result.error.ename}: {result.error.evalue}"[:300]
    if not result.ran:
        return f"As it is it ended as {result.status} after {result.seconds:.0f} s."
    task, (context, solution, check) = json.loads(result.stdout.splitlines()[-1])
    return replace(
        problem,
        name=f"{problem.name}@{recipe.library}",
        dataset=f"{problem.dataset}@{recipe.library}",
        task=task,
        context=context,
        solution=solution,
        check=check,
        libraries=(recipe.library,),
        search_path=private,
        second_context="",
        second_check="",
    )


def _write_kit(kit: Path, recipe: Recipe, seed: int, remade: Sequence[RenamedProblem]) -> None:
    """Write what was made: its rows, their data, their splits, and what was left out."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for one in remade:
        if one.problem is not None:
            rows.setdefault(one.problem.dataset, []).append(_row(one.problem, recipe, kit))
    for dataset, lines in rows.items():
        _write_lines(kit / "dev" / f"{dataset}.jsonl", lines)
    about = {
        "library": recipe.library,
        "made_from": recipe.made_from,
        "seed": seed,
        "left_out": {one.origin.name: one.reason for one in remade if one.problem is None},
        "names": dict(recipe.names),
    }
    (kit / "renamed.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    (kit / SPLITS).write_text(json.dumps(_splits(remade), indent=1), encoding="utf-8")


def _row(problem: Problem, recipe: Recipe, kit: Path) -> dict[str, Any]:
    """The problem as a line of a kit, with its unfinished code in the words of the task."""
    if problem.fixtures is not None:
        shutil.copytree(problem.fixtures, kit / "fixtures" / problem.slug, dirs_exist_ok=True)
    return {
        "id": problem.name,
        "dataset": problem.dataset,
        "library": recipe.library,
        "made_from": recipe.made_from,
        "kind": "function" if problem.entry_point else "assign",
        "prompt": problem.context,
        "context": problem.context,
        "requirement": problem.task.rstrip(),
        "test": problem.check,
        "canonical_solution": [problem.solution],
        "entry_point": problem.entry_point,
        "target": problem.target or None,
        "fixtures": problem.slug if problem.fixtures is not None else None,
    }


def _splits(remade: Iterable[RenamedProblem]) -> list[dict[str, Any]]:
    """The split of a renamed problem is that of its original."""
    groups: dict[str, list[str]] = {}
    for one in remade:
        if one.problem is not None and one.origin.split is not None:
            groups.setdefault(one.origin.split, []).append(one.problem.name)
    why = "So are the problems that they are made from."
    return [{"split": split, "why": why, "problems": names} for split, names in groups.items()]


def _write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
