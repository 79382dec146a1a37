"""What a prompt says of the libraries: their overview, the map, and docs in full.

It is the same in every request of an exploration, and what does not depend on the task comes first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.library_map import library_map
from exploracoder.engine.recommender import find
from exploracoder.engine.wording import clip, describe_api
from exploracoder.engine.workbench import Workbench
from exploracoder.prompts import render

# Shares of the setting ``prompt_chars``; the docs in full have what is left.
_OVERVIEW, _MAP = 8, 2


async def library_knowledge(bench: Workbench) -> str:
    """The part of a prompt that says what the libraries offer, at most ``prompt_chars`` long.

    Sets the exploration's ``overall`` recommendation to the docs that are in it in full.
    """
    room = bench.settings.prompt_chars
    overview = _overview(bench, room // _OVERVIEW)
    hits = await find(bench, bench.exploration.task.text, bench.settings.retrieved_apis)
    shown = await asyncio.to_thread(_map, bench, room // _MAP, [hit.doc for hit in hits])
    docs = list(_fitting([hit.doc for hit in hits], bench, room - len(overview) - len(shown)))
    bench.shown_docs = tuple(docs)
    return render(
        "cells",
        "know",
        library=bench.library_words,
        overview=overview,
        map=shown,
        is_whole=shown.count("\n") + 1 >= len(bench.known.docs),
        docs="\n".join(describe_api(doc, bench.settings.doc_chars) for doc in docs),
    )


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


def _fitting(docs: Iterable[ApiDoc], bench: Workbench, chars: int) -> Iterable[ApiDoc]:
    for doc in docs:
        chars -= len(describe_api(doc, bench.settings.doc_chars)) + 1
        if chars < 0:
            return
        yield doc
