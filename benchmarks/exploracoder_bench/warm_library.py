"""How soon the first cell has run, for a library that the embedded model's server has read or not.

Run: ``python -m exploracoder_bench.warm_library LIBRARY --python EXE [--profile standard]``

LIBRARY is one of the three in benchmarks/unknown_libraries, installed in EXE. Each round explores
two of its tasks one after another, without their checks, each with a server that was just started:
the first with no state of the library on disk, the second with what the first left there. Each
exploration is stopped after its first cell. Printed are the seconds until the server is there,
those from the exploration's start, its kernel's included, until its first cell has run, and the
tokens of the different prompts until then: all, and those that were read before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
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
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    rows = [json.loads(line) for line in _TASKS.read_text(encoding="utf-8").splitlines()]
    first, second = [row for row in rows if row["library"] == options.library][1:3]
    table = []
    with tempfile.TemporaryDirectory() as folder:
        # A folder of its own for states, so that the first run of each round finds none.
        weights, here = WeightsStore(), Path(folder, "models")
        here.mkdir()
        for path in weights.folder.glob(f"{weights.model.file_name}*"):
            os.link(path, here / path.name)
        store = WeightsStore(weights.model, here)
        asyncio.run(_explored(options, store, first, folder))  # makes the index
        times: dict[str, list[tuple[float, float, int, int]]] = {"read": [], "from disk": []}
        for _ in range(options.rounds):
            shutil.rmtree(Path(folder, "prompt_states"), ignore_errors=True)
            times["read"].append(asyncio.run(_explored(options, store, first, folder)))
            times["from disk"].append(asyncio.run(_explored(options, store, second, folder)))
    for name, rounds in times.items():
        start_s, cell_s = (statistics.median(one[place] for one in rounds) for place in (0, 1))
        table.append([name, f"{start_s:.1f}", f"{cell_s:.1f}", rounds[0][2], rounds[0][3]])
    head = ("the library is", "s to start", "s to the first cell", "tokens", "of these cached")
    print(markdown(head, table))
    return 0


async def _explored(
    arguments: argparse.Namespace, store: WeightsStore, task: dict[str, Any], folder: str
) -> tuple[float, float, int, int]:
    has_cell = asyncio.Event()

    def note(event: Event) -> None:
        if any(step.status == "done" for step in event.exploration.steps):
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
        await asyncio.wait((exploring, first_cell), return_when=asyncio.FIRST_COMPLETED)
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
