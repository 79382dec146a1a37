"""All cells of the notebook, and the solution, in one request; each runs when it is complete."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Collection, Iterable

from exploracoder.engine import stub
from exploracoder.engine.cells import Cell, Script, cells_of, heading_of, read_cells, read_script
from exploracoder.engine.knowledge import library_knowledge
from exploracoder.engine.replies import no_code
from exploracoder.engine.results import result_names
from exploracoder.engine.wording import describe_output, describe_variables
from exploracoder.engine.workbench import Workbench
from exploracoder.engine.written_cells import record, run_written
from exploracoder.models.chat import Message
from exploracoder.prompts import render
from exploracoder.state import Step, Written

PART = "write"
_TRIES = 2


async def write(bench: Workbench, replaced: Collection[str] = ()) -> None:
    """Ask for cells and the solution, and record the cells as steps.

    They run as they come, up to the first that fails; in a review they wait. Open steps that are
    ``replaced``, by their ids, go. Raises BudgetError and ModelError; what has come until then is
    recorded.
    """
    bench.tell(PART, "Reading the docs")
    before = [one for one in _others(bench, replaced) if one.status == "done"]
    bench.request = await _request(bench, before)
    reading = _Reading(bench, replaced)
    running = asyncio.ensure_future(reading.work())
    try:
        script = await _ask(bench, reading)
        reading.end(script)
        await running
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
    written = Written(solution=script.solution, calls=script.calls, cells=len(script.cells))
    changes: dict[str, object] = {"written": written, "is_planned": True}
    if not script.cells:
        changes["steps"] = _others(bench, replaced)
    words = f"Wrote {len(script.cells)} cells" + (" and the solution" if script.solution else "")
    await bench.update(bench.exploration.model_copy(update=changes), words)


def _others(bench: Workbench, replaced: Collection[str]) -> tuple[Step, ...]:
    """The steps as they are now, without those that are replaced."""
    return tuple(one for one in bench.exploration.steps if one.subtask.id not in replaced)


async def _ask(bench: Workbench, reading: _Reading) -> Script:
    """What the model writes; it is asked once more where there is no code in its reply.

    Raises NoCodeError where there is none in that either.
    """
    messages = await opening(bench)
    for number in range(_TRIES):
        sampling = bench.sampling(
            PART,
            number=number,
            max_tokens=bench.settings.write_tokens,
            is_code=not bench.settings.cells,
        )
        reply = await bench.ask(PART, messages, sampling, on_text=reading.read)
        is_cut_off = "length" in reply.finish_reasons[:1]
        script = _script(bench, read_script(reply.text, is_cut_off=is_cut_off))
        if script.cells or script.solution:
            return script
    raise no_code(bench.model.name, reply.text, *reply.finish_reasons[:1])


def _script(bench: Workbench, script: Script) -> Script:
    """The script with cells: a solution that came alone is cut into some."""
    if script.cells or not script.solution:
        return script
    code = stub.complete(script.solution, bench.exploration.task.stub)
    return dataclasses.replace(script, cells=cells_of(code))


async def opening(bench: Workbench) -> list[Message]:
    """The beginning of each conversation about the cells; it stays what it was when first asked."""
    if bench.request is None:
        bench.request = await _request(bench, [])
    system = render("cells", "system", library=bench.library_words)
    return [Message("system", system), Message("user", bench.request)]


def wants_calls(bench: Workbench) -> bool:
    """Whether the model is to call the function that it writes: a check does that itself."""
    return not (bench.exploration.task.check or _is_no_function(bench))


def function_asked(bench: Workbench) -> str:
    """The function that the solution is to define; empty where none was named."""
    task = bench.exploration.task
    return task.entry_point or stub.function_name(task.stub) or ""


def _is_no_function(bench: Workbench) -> bool:
    return bool(stub.assignment_target(bench.exploration.task.stub))


async def _request(bench: Workbench, before: list[Step]) -> str:
    task = bench.exploration.task
    branch = bench.branch if before else bench.root
    knowledge = await library_knowledge(bench)
    asked = render(
        "cells",
        "ask",
        library=bench.library_words,
        context=task.context,
        before=[_shown(bench, step) for step in before],
        variables=describe_variables(await bench.sidecar.variables(branch)),
        task=task.text,
        stub="" if task.stub in task.text else task.stub,
        has_cells=bench.settings.cells,
        function=function_asked(bench),
        target=stub.assignment_target(task.stub) or "",
        # Without a check the task's own words say best what is wanted.
        wanted=_listed(result_names(task)) if task.check else "",
        calls=wants_calls(bench),
        brought=_listed(one.name for one in bench.exploration.brought.variables),
    )
    return f"{knowledge}\n\n{asked}".strip()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _shown(bench: Workbench, step: Step) -> dict[str, str]:
    observation = step.candidate.observation if step.candidate else None
    return {
        "goal": step.subtask.goal,
        "code": step.candidate.code if step.candidate else "",
        "output": describe_output(observation, bench.settings.output_chars) if observation else "",
    }


class _Reading:
    """The cells of a reply that is being written: recorded in order, and run."""

    def __init__(self, bench: Workbench, replaced: Collection[str]) -> None:
        self._bench = bench
        self._replaced = replaced
        self._cells: tuple[Cell, ...] = ()
        self._is_ended = False
        self._news = asyncio.Event()

    def read(self, text: str) -> None:
        """Take what has come of the reply so far."""
        self._bench.tell(PART, f"Writing: {heading_of(text)}" if heading_of(text) else "Writing")
        if self._is_ended:
            return
        cells = read_cells(text)
        if len(cells) > len(self._cells):
            self._cells = (*self._cells, *cells[len(self._cells) :])
            self._news.set()

    def end(self, script: Script) -> None:
        """Take the whole reply."""
        self._cells = (*self._cells, *script.cells[len(self._cells) :])
        self._is_ended = True
        self._news.set()

    async def work(self) -> None:
        """Record each cell as it comes, and run it unless one before it failed."""
        count, runs = 0, not self._bench.is_review()
        while True:
            await self._news.wait()
            self._news.clear()
            while count < len(self._cells):
                await record(self._bench, self._cells[count], self._replaced if not count else ())
                count += 1
                runs = runs and await run_written(self._bench, self._bench.exploration.steps[-1])
            if self._is_ended:
                return
