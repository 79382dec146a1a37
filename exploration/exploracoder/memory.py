"""Examples of the libraries, kept from the user's own code and from what they accepted.

They stay on this machine, in the user's data folder; prompts of later explorations show those
that fit the task. Accepted code is kept at once; if it cannot be written, the work goes on.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_kernel.environment import SECRET_NAME
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.examples.kept import KeptExample
from exploracoder_retrieval.examples.slices import standing_alone
from exploracoder_retrieval.examples.uses import read_uses
from exploracoder_retrieval.harvest.mentions import ApiNames
from exploracoder_retrieval.index import Index

from exploracoder.errors import InputError
from exploracoder.models.redaction import Redactor, blot_credentials

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench
    from exploracoder.state import Step

_TITLE_CHARS = 160
_log = logging.getLogger("exploracoder.memory")


@dataclass(frozen=True, slots=True)
class Uses:
    """The examples kept from the user's own code, and the skipped files, each with the reason."""

    examples: tuple[KeptExample, ...]
    skipped_files: tuple[tuple[str, str], ...]


def keep_uses(index: Index, library: str, paths: Sequence[Path]) -> Uses:
    """Read what the files at and below ``paths`` do with an indexed library, and keep it.

    This replaces what was kept of the user's code before. Raises InputError if a path does not
    exist, or the examples cannot be written.
    """
    skip_reasons: dict[str, str] = {}
    try:
        before = [one for one in index.examples.of(library) if one.source == "code"]
        info, names = index.info(library), ApiNames(index.docs(library))
        examples = read_uses(paths, info, names, skip_reasons.__setitem__, clean=scrubber())
        index.examples.keep(examples)
        gone_ids = {one.id for one in before} - {one.id for one in examples}
        if gone_ids:
            index.examples.forget(library, gone_ids)
    except RetrievalError as error:
        raise InputError(str(error)) from error
    return Uses(examples, tuple(skip_reasons.items()))


def scrubber() -> Callable[[str], str]:
    """Return a function that redacts secrets: the environment's, and what looks like one."""
    values = (value for name, value in os.environ.items() if SECRET_NAME.search(name))
    # A path, such as that of an agent's socket, is not a secret.
    redactor = Redactor(*(value for value in values if not value.startswith("/")))
    return lambda text: redactor.clean(blot_credentials(text))


async def keep_step(bench: Workbench, step: Step) -> None:
    """Keep the candidate accepted for a step, with what it needs from code before it."""
    candidate = step.candidate
    if candidate is None or not bench.settings.memory:
        return
    before = []
    for one in bench.exploration.trace:
        if one.subtask.id == step.subtask.id:
            break
        before.append(one.candidate.code)
    code = standing_alone(candidate.code, [bench.exploration.task.context, *before])
    await _keep(bench, step.subtask.goal, code, candidate.apis)


async def keep_solution(bench: Workbench) -> None:
    """Keep the solution, once, if it passed the user's check."""
    solution, task = bench.exploration.solution, bench.exploration.task
    if solution is None or solution.final.checks != "passed" or task.target is not None:
        return
    final = solution.final
    if not bench.settings.memory or bench.solution_kept == final.code:
        return
    bench.solution_kept = final.code
    code = standing_alone(final.code, [task.context])
    await _keep(bench, task.text, code, [doc.path for doc in final.docs])


async def _keep(bench: Workbench, title: str, code: str, apis: Sequence[str]) -> None:
    clean, now = scrubber(), datetime.now(timezone.utc)
    title, task = map(_first_line, (title, bench.exploration.task.text))
    examples = []
    for library in bench.exploration.libraries:
        own = [
            doc.path
            for doc in map(bench.libraries.known.at, apis)
            if doc and doc.library == library.name
        ]
        if own:
            examples.append(
                KeptExample(
                    library=library.name,
                    version=library.version,
                    source="exploration",
                    title=clean(title),
                    task=clean(task),
                    code=clean(code),
                    apis=tuple(own),
                    origin=bench.notebook,
                    kept=now,
                )
            )
    try:
        await asyncio.to_thread(bench.libraries.index.examples.keep, examples)
    except RetrievalError as error:
        _log.warning("What was accepted is not kept as an example: %s", error)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:_TITLE_CHARS]
