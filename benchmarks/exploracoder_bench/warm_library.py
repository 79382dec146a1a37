"""How soon the embedded model begins to write about a library that its server has read before.

Run: ``python -m exploracoder_bench.warm_library LIBRARY [--python EXE] [--rounds 3]``

Each round explores a task twice with the profile ``standard``, each time with a server that was
just started: once without a state of the library on disk, once with it. The task differs, as tasks
do. Printed are the seconds until the server is there, those from the first request until its first
text, and the tokens of that prompt: all, and those that were read before.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from exploracoder.api import explore
from exploracoder.models.chat import (
    ChatModel,
    Message,
    OnText,
    OnWait,
    Reply,
    Sampling,
    Schema,
)
from exploracoder.models.counting import CountingModel
from exploracoder.models.local import EmbeddedModel
from exploracoder.models.weights import WeightsStore
from exploracoder.workspace import Options

from exploracoder_bench.markdown_table import markdown

_TASKS = ("Say in one line what the main object of {} is.", "Name three functions of {}.")
# The reply's first words are enough.
_SETTINGS = {"write_tokens": 16, "first_tries": 0, "memory": False}


class _FirstReplyRead(Exception):  # noqa: N818 - the end of a measurement
    pass


class _WatchedModel(CountingModel):
    """The model, stopped after its first reply; it notes when its first text came."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self.first_text_s = 0.0
        self.reply: Reply | None = None

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        schema: Schema | None = None,
        tools: Sequence[Schema] = (),
        on_text: OnText | None = None,
        on_wait: OnWait | None = None,
    ) -> Reply:
        start = time.monotonic()

        def listen(text: str) -> None:
            if text and not self.first_text_s:
                self.first_text_s = time.monotonic() - start

        self.reply = await super().complete(
            messages, sampling, schema=schema, tools=tools, on_text=listen, on_wait=on_wait
        )
        raise _FirstReplyRead


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("library")
    parser.add_argument("--python", metavar="EXE", help="the interpreter that has the library")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        # A folder of its own for states, so that the first run of each round finds none.
        weights, here = WeightsStore(), Path(folder, "models")
        here.mkdir()
        for path in weights.folder.glob(f"{weights.model.file_name}*"):
            os.link(path, here / path.name)
        store = WeightsStore(weights.model, here)
        asyncio.run(_explored(options, store, 0, folder))  # makes the index
        times: dict[str, list[tuple[float, float, int, int]]] = {"read": [], "from disk": []}
        for _ in range(options.rounds):
            shutil.rmtree(Path(folder, "prompt_states"), ignore_errors=True)
            times["read"].append(asyncio.run(_explored(options, store, 0, folder)))
            times["from disk"].append(asyncio.run(_explored(options, store, 1, folder)))
    for name, rounds in times.items():
        start, first = (statistics.median(one[place] for one in rounds) for place in (0, 1))
        rows.append([name, f"{start:.1f}", f"{first:.1f}", rounds[0][2], rounds[0][3]])
    head = ("the library is", "s to start", "s to the first text", "tokens", "of these cached")
    print(markdown(head, rows))
    return 0


async def _explored(
    arguments: argparse.Namespace, store: WeightsStore, task: int, folder: str
) -> tuple[float, float, int, int]:
    start = time.monotonic()
    async with EmbeddedModel(linger_s=0.0, store=store) as model:
        start_s = time.monotonic() - start
        probe = _WatchedModel(model)
        options = Options(python=arguments.python, profile="standard", settings=_SETTINGS)
        with suppress(_FirstReplyRead):
            await explore(
                _TASKS[task].format(arguments.library),
                libraries=[arguments.library],
                model=probe,
                output=Path(folder, "exploration.ipynb"),
                options=options,
            )
    assert probe.reply is not None, "the model was asked"
    usage = probe.reply.usage
    return start_s, probe.first_text_s, usage.prompt_tokens, usage.cached_tokens


if __name__ == "__main__":
    sys.exit(main())
