"""Check a solution that somebody else wrote as the engine checks its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from exploracoder import api
from exploracoder.engine.finishing.synthesis import try_solution
from exploracoder.errors import SetupError
from exploracoder.mcp.client_libraries import Libraries
from exploracoder.mcp.tool_results import Verdict, judged
from exploracoder.opening import Opening, open_bench
from exploracoder.state import Exploration, Solution
from exploracoder.workspace import Options


class Nobody:
    """Stands in for the model on a bench that never asks one."""

    name = "none"
    supports_tools = False

    async def identity(self) -> str:
        """The name, which never changes."""
        return self.name

    async def complete(self, *_: object, **__: object) -> NoReturn:
        """Raises SetupError."""
        raise SetupError("No model is asked here.")

    continue_text = complete


async def check(
    solution: str,
    targets: Sequence[str],
    libraries: Libraries,
    options: Options,
    *,
    context: str,
    check: str,
    entry_point: str | None,
) -> Verdict:
    """Run a solution and then its check, in a fresh state after the context.

    Raises InputError if the context or check cannot be used, SetupError if nothing can be run.
    """
    nobody = Nobody()
    exploration = api.new_exploration(
        "Check a solution",
        libraries=targets,
        context=context,
        check=check,
        entry_point=entry_point,
        model=nobody,
        options=options,
    )
    library_records = await asyncio.to_thread(libraries.use, targets)
    python = str(libraries.interpreter.executable)
    scratch = await asyncio.to_thread(options.find_scratch, python)
    async with open_bench(
        exploration.model_copy(update={"libraries": library_records}),
        model=nobody,
        index=libraries.index,
        opening=Opening(python, scratch),
        record=_forget,
    ) as bench:
        attempt = await try_solution(bench, solution)
        return judged(bench.exploration, Solution(attempts=(attempt,)))


async def _forget(exploration: Exploration, message: str) -> None:
    """Save nothing."""
