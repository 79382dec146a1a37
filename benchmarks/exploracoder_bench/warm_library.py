"""How soon the first cell has run, for a library that the embedded model's server has read or not.

Run: ``python -m exploracoder_bench.warm_library LIBRARY --python EXE [--profile standard]``

LIBRARY is one of the three in benchmarks/unknown_libraries, installed in EXE. Once one of its tasks
has made the index, some others are explored one after another, without their checks, each with a
server that was just started: the first with no state of the library on disk, the others with what
the first left there. Each exploration is stopped after two minutes, or after its first cell, which
is the solution if that is a single one. Printed are the seconds until the server is there, those
from the exploration's start, its kernel's included, until its first cell has run, and the tokens of
the different prompts until then: all, and those that were read before. They are medians; the first
cell's longest time stands behind it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exploracoder.api import explore
from exploracoder.events import Event
from exploracoder.models.chat import ChatModel, Message, Reply, Sampling
from exploracoder.models.counting import CountingModel
from exploracoder.models.local import EmbeddedModel
from exploracoder.models.model_cost import Usage
from exploracoder.models.weights import WeightsStore
from exploracoder.settings import PROFILES
from exploracoder.workspace import Options

from exploracoder_bench.markdown_table import markdown

_LIBRARIES = ("cindertrack", "halyardry", "quernstone")
_LIMIT_S = 120
_TASKS = Path(__file__).parents[1] / "unknown_libraries" / "tasks.jsonl"


class _RecordingModel(CountingModel):
    """Keeps what the first request with each prompt used."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self.usages: dict[tuple[str, ...], Usage] = {}

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, **options: Any
    ) -> Reply:
        reply = await super().complete(messages, sampling, **options)
        self.usages.setdefault(tuple(turn.content for turn in messages), reply.usage)
        return reply


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("library", choices=_LIBRARIES)
    parser.add_argument("--python", metavar="EXE", help="the interpreter that has the library")
    parser.add_argument("--profile", choices=PROFILES, default="small", help="default: %(default)s")
    parser.add_argument(
        "--tasks", type=int, choices=range(1, 11), default=5, help="from disk; default: %(default)s"
    )
    options = parser.parse_args(arguments)
    rows = [json.loads(line) for line in _TASKS.read_text(encoding="utf-8").splitlines()]
    indexed, first, *others = [row for row in rows if row["library"] == options.library]
    table = []
    with tempfile.TemporaryDirectory() as folder:
        # A folder of its own for states, so that the first run finds none.
        weights, here = WeightsStore(), Path(folder, "models")
        here.mkdir()
        for path in weights.folder.glob(f"{weights.model.file_name}*"):
            (here / path.name).symlink_to(path.absolute())
        store = WeightsStore(weights.model, here)
        # Makes the index.
        asyncio.run(_explored(options, store, indexed, folder))
        shutil.rmtree(Path(folder, "prompt_states"), ignore_errors=True)
        for name, tasks in (("read", [first]), ("from disk", others[: options.tasks])):
            runs = [asyncio.run(_explored(options, store, task, folder)) for task in tasks]
            table.append([name, *_medians(runs)])
    head = ("the library is", "s to start", "s to the first cell", "tokens", "of these cached")
    print(markdown(head, table))
    return 0


def _medians(runs: Sequence[tuple[float, float, int, int]]) -> list[str]:
    """What the columns of a row say."""
    starts, cells, tokens, cached = zip(*runs, strict=True)
    seconds = [one for one in cells if not math.isnan(one)]
    cell = f"{statistics.median(seconds):.1f} ({max(seconds):.1f})" if seconds else "none"
    if len(seconds) < len(cells):
        cell += f", {len(cells) - len(seconds)} of {len(cells)} without"
    counts = [f"{statistics.median(one):.0f}" for one in (tokens, cached)]
    return [f"{statistics.median(starts):.1f}", cell, *counts]


async def _explored(
    arguments: argparse.Namespace, store: WeightsStore, task: dict[str, Any], folder: str
) -> tuple[float, float, int, int]:
    has_cell = asyncio.Event()

    def note(event: Event) -> None:
        state = event.exploration
        if state.solution or any(step.status == "done" for step in state.steps):
            has_cell.set()

    start = time.monotonic()
    async with EmbeddedModel(linger_s=0.0, store=store) as embedded:
        start_s = time.monotonic() - start
        model = _RecordingModel(embedded)
        start = time.monotonic()
        exploring = asyncio.ensure_future(
            explore(
                task["requirement"],
                libraries=[arguments.library],
                context=task["context"],
                model=model,
                output=Path(folder, "exploration.ipynb"),
                on_event=note,
                options=Options(
                    python=arguments.python, profile=arguments.profile, settings={"memory": False}
                ),
            )
        )
        first_cell = asyncio.ensure_future(has_cell.wait())
        await asyncio.wait(
            (exploring, first_cell), timeout=_LIMIT_S, return_when=asyncio.FIRST_COMPLETED
        )
        if exploring.done():
            exploring.result()
        cell_s = time.monotonic() - start if has_cell.is_set() else math.nan
        first_cell.cancel()
        exploring.cancel()
        await asyncio.gather(exploring, first_cell, return_exceptions=True)
    usages = model.usages.values()
    prompt_tokens = sum(usage.prompt_tokens for usage in usages)
    return start_s, cell_s, prompt_tokens, sum(usage.cached_tokens for usage in usages)


if __name__ == "__main__":
    sys.exit(main())
