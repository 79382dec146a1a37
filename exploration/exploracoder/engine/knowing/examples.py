"""Which examples a prompt shows: the libraries' own, and code that was used before.

Such code comes from the user's files and from explorations that they, or their check, accepted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from exploracoder_retrieval.apidoc import Hit
from exploracoder_retrieval.examples.nearest import NearExample

from exploracoder.engine.knowing.recommender import find
from exploracoder.engine.reading.value_text import clip
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Example

EXAMPLE_CHARS = 900
_TITLE_CHARS = 160


async def choose_examples(bench: Workbench, library: str) -> tuple[Example, ...]:
    """The examples of a library that are nearest to the task, nearest first."""
    count, task = bench.settings.shown_examples, bench.exploration.task.text
    if not count:
        return ()
    hits = await find(bench, task, bench.settings.retrieved_apis)
    near = await asyncio.to_thread(bench.libraries.index.near_examples, library, task, hits)
    usable = (one for one in near if 0 < len(one.code) <= EXAMPLE_CHARS)
    suitable = [one for one in usable if one.fits or not one.is_kept]
    return tuple(_shown(one) for one in suitable[:count])


async def used_before(bench: Workbench, hits: Sequence[Hit], room: int) -> tuple[Example, ...]:
    """Previously used code that fits the task, nearest first, in at most ``room`` characters.

    ``hits`` are the APIs found for the task.
    """
    task, examples = bench.exploration.task.text, list[NearExample]()
    for library in bench.libraries.names:
        examples += await asyncio.to_thread(
            bench.libraries.index.near_examples, library, task, hits
        )
    matches = sorted((one for one in examples if one.is_kept and one.fits), key=_distance)
    return tuple(_within(map(_shown, matches), room))[: bench.settings.shown_examples]


def example_chars(examples: Iterable[Example]) -> int:
    """How much room examples take in a prompt."""
    return sum(len(one.title) + len(one.code) + _FENCE_CHARS for one in examples)


_FENCE_CHARS = len("\n```python\n\n```\n\n")


def _distance(example: NearExample) -> float:
    return -example.nearness


def _shown(example: NearExample) -> Example:
    title = clip(" ".join(example.title.split()), _TITLE_CHARS)
    return Example(title=f"Used before: {title}" if example.is_kept else title, code=example.code)


def _within(examples: Iterable[Example], room: int) -> Iterator[Example]:
    """The examples that fit into ``room``; one that is too long is skipped."""
    for one in examples:
        chars = example_chars([one])
        if len(one.code) <= EXAMPLE_CHARS and chars <= room:
            room -= chars
            yield one
