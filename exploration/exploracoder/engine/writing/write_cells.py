"""Writes all cells and the solution in one request; each cell runs as soon as it is complete."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
from collections.abc import Collection

from exploracoder.engine.reading import stub
from exploracoder.engine.reading.cells import (
    Cell,
    Script,
    cells_of,
    heading_of,
    read_cells,
    read_script,
)
from exploracoder.engine.reading.replies import no_code
from exploracoder.engine.running.written_cells import add, others, run_open, take_back
from exploracoder.engine.workbench import Workbench
from exploracoder.engine.writing.cells_request import CellsRequest, ask_about_cells
from exploracoder.state import Written
from exploracoder.texts import Text

PART = "write"
_TRIES = 2


async def write(bench: Workbench, replaced_ids: Collection[str] = ()) -> None:
    """Ask for cells and the solution, and record the cells as steps.

    They run as they arrive, up to the first that fails; in a review they wait. The open steps
    ``replaced_ids`` are removed. Raises BudgetError and ModelError; what has arrived until then is
    recorded.
    """
    bench.tell(PART, "Reading the docs")
    done_steps = tuple(one for one in others(bench, replaced_ids) if one.status == "done")
    bench.cells_request = CellsRequest(
        done_steps, bench.branches.current, bench.settings.prompt_chars
    )
    reader = _ReplyReader(bench, replaced_ids)
    task = asyncio.ensure_future(reader.work())
    try:
        script = await _ask(bench, reader)
        answer = Written(solution=script.solution, calls=script.calls, cells=len(script.cells))
        bench.change(written=answer)
        reader.end(script)
        await task
    finally:
        task.cancel()
        reader.keep()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    if not script.cells:
        bench.change(steps=others(bench, replaced_ids))
    words = "Wrote %1 cells and the solution" if script.solution else "Wrote %1 cells"
    await bench.update(Text(words, len(script.cells)), is_planned=True)


async def _ask(bench: Workbench, reader: _ReplyReader) -> Script:
    """What the model writes; it is asked once more if its reply contains no code.

    Raises NoCodeError if the second reply contains none either.
    """
    for number in range(_TRIES):
        sampling = bench.model.sampling(PART, number=number, max_tokens=bench.settings.write_tokens)
        reply = await ask_about_cells(bench, PART, sampling, on_text=reader.read)
        is_cut_off = "length" in reply.finish_reasons[:1]
        script = _script(bench, read_script(reply.text, is_cut_off=is_cut_off))
        if script.cells or script.solution:
            return script
    reason = reply.finish_reasons[:1]
    raise no_code(bench.model.name, reply.text, *reason, limit="write-tokens")


def _script(bench: Workbench, script: Script) -> Script:
    """The script with cells: a solution without any is cut into cells."""
    if script.cells or not script.solution:
        return script
    code = stub.complete(script.solution, bench.exploration.task.stub)
    return dataclasses.replace(script, cells=cells_of(code))


class _ReplyReader:
    """Records the cells of a reply in their order while it is being written, and runs them."""

    def __init__(self, bench: Workbench, replaced_ids: Collection[str]) -> None:
        self._bench = bench
        self._replaced_ids = replaced_ids
        self._cells: tuple[Cell, ...] = ()
        # The step ids of the cells recorded so far.
        self._ids: list[str] = []
        self._recorded: list[Cell] = []
        self._read_chars = 0
        self._is_ended = False
        # While a cell runs, the progress names its step, so that nobody edits it.
        self._is_running = False
        self._news = asyncio.Event()

    def read(self, text: str) -> None:
        """Take in what has arrived of the reply so far, up to its last whole line."""
        lines = text[: text.rfind("\n") + 1]
        if self._is_ended or len(lines) == self._read_chars:
            return
        self._read_chars = len(lines)
        heading = heading_of(lines)
        if not self._is_running:
            self._bench.tell(PART, Text("Writing: %1", heading) if heading else "Writing")
        cells = read_cells(lines)
        if len(cells) > len(self._cells):
            self._cells = (*self._cells, *cells[len(self._cells) :])
            self._news.set()

    def end(self, script: Script) -> None:
        """Take in the whole reply, which begins anew if the request was sent again."""
        self._cells = script.cells
        self._is_ended = True
        self._news.set()

    async def work(self) -> None:
        """Record each cell as it comes, and run it unless one before it failed."""
        runs = not self._bench.is_review()
        while True:
            await self._news.wait()
            self._news.clear()
            await self._take_back_others()
            while len(self._ids) < len(self._cells):
                cell = self._add()
                await self._bench.update(Text("Written: %1", cell.goal))
                # In plan order: a step that the user added meanwhile may come before it.
                self._is_running = runs
                runs = runs and await run_open(self._bench)
                self._is_running = False
                await self._take_back_others()
            if self._is_ended:
                return

    def keep(self) -> None:
        """Add cells that were not recorded yet to the plan, whatever ended the work."""
        while len(self._ids) < len(self._cells):
            self._add()

    def _add(self) -> Cell:
        cell = self._cells[len(self._ids)]
        self._ids.append(add(self._bench, cell, () if self._ids else self._replaced_ids))
        self._recorded.append(cell)
        return cell

    async def _take_back_others(self) -> None:
        """Remove recorded cells from the first on that the reply does not have."""
        pairs = zip(self._recorded, self._cells, strict=False)
        same = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
        if same < len(self._ids):
            await take_back(self._bench, self._ids[same:])
            del self._ids[same:], self._recorded[same:]
