"""What a prompt says of the libraries: their overview, the map, and docs in full.

It is the same in every request of an exploration, and what does not depend on the task comes first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.knowing.recommender import find
from exploracoder.engine.reading.library_map import library_map
from exploracoder.engine.reading.wording import clip, describe_api, describe_apis
from exploracoder.engine.workbench import Workbench
from exploracoder.prompts import render

# Shares of the room; the docs in full have what is left.
_OVERVIEW, _MAP = 8, 2


async def library_knowledge(bench: Workbench, room: int) -> tuple[str, tuple[ApiDoc, ...]]:
    """What the libraries offer, in at most ``room`` characters, and the docs in it in full."""
    overview = _overview(bench, room // _OVERVIEW)
    hits = await find(bench, bench.exploration.task.text, bench.settings.retrieved_apis)
    shown = await asyncio.to_thread(_map, bench, room // _MAP, [hit.doc for hit in hits])
    left = room - len(overview) - len(shown)
    docs = tuple(_fitting([hit.doc for hit in hits], bench.settings.doc_chars, left))
    text = render(
        "cells",
        "know",
        library=bench.library_words,
        overview=overview,
        map=shown,
        is_whole=shown.count("\n") + 1 >= len(bench.known.docs),
        docs=describe_apis(docs, bench.settings.doc_chars),
    )
    return text, docs


def _overview(bench: Workbench, chars: int) -> str:
    """What each library's own documentation begins with."""
    names = bench.library_names
    texts = (bench.index.info(name).overview.strip() for name in names)
    return "\n\n".join(clip(text, chars // len(names)) for text in texts if text)


def _map(bench: Workbench, chars: int, best: Sequence[ApiDoc]) -> str:
    """The map, of the libraries one after another; where it does not fit, what was found."""
    known = bench.known
    near = [member.path for doc in best for member in known.members(doc.path.rpartition(".")[0])]
    paths = [doc.path for doc in best]
    return library_map(known.docs, chars, dict.fromkeys([*paths, *near]))


def _fitting(docs: Iterable[ApiDoc], doc_chars: int, room: int) -> Iterator[ApiDoc]:
    for doc in docs:
        room -= len(describe_api(doc, doc_chars)) + 1
        if room < 0:
            return
        yield doc
