"""What a prompt says about the libraries: overview, all docs or a map and some docs, examples.

It is the same in every request of an exploration, and its task-independent parts come first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.knowing.examples import example_chars, used_before
from exploracoder.engine.knowing.recommender import find
from exploracoder.engine.reading.library_map import LibraryMap, library_map
from exploracoder.engine.reading.value_text import clip, describe_api, describe_apis
from exploracoder.engine.workbench import Workbench
from exploracoder.prompts import render

# Fractions (1/n) of the room; the docs in full get what is left.
_OVERVIEW, _MAP, _EXAMPLES = 8, 2, 8


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A prompt's text on the libraries, with the docs that the task retrieves, ``docs``, in full.

    Its first ``stable_chars`` characters are the same for every task.
    """

    text: str
    stable_chars: int
    docs: tuple[ApiDoc, ...]


async def library_knowledge(bench: Workbench, room: int) -> Knowledge:
    """What the libraries offer, in at most ``room`` characters: with all docs in full if they fit.

    Otherwise there is a map, and the docs that are nearest to the task.
    """
    known, doc_chars = bench.libraries.known.docs, bench.settings.doc_chars
    overview = _overview(bench, room // _OVERVIEW)
    hits = await find(bench, bench.exploration.task.text, bench.settings.retrieved_apis)
    nearest = [hit.doc for hit in hits]
    examples = await used_before(bench, hits, room // _EXAMPLES)
    doc_room = room - len(overview) - example_chars(examples)
    know = partial(render, "cells", "know", library=bench.libraries.words, overview=overview)
    all_docs = list(_fitting(known, doc_chars, doc_room))
    if len(all_docs) == len(known):
        know = partial(know, map="", is_whole=True, docs=describe_apis(all_docs, doc_chars))
        stable = know(examples=())
        return Knowledge(know(examples=examples), len(stable), tuple(nearest))
    api_map = await asyncio.to_thread(_map, known, room // _MAP, [doc.path for doc in nearest])
    docs = tuple(_fitting(nearest, doc_chars, doc_room - len(api_map.text)))
    text = know(
        map=api_map.text,
        is_whole=api_map.is_whole,
        docs=describe_apis(docs, doc_chars),
        examples=examples,
    )
    stable_map = api_map.text if api_map.is_whole else ""
    stable = know(map=stable_map, is_whole=True, docs="", examples=())
    return Knowledge(text, len(stable), docs)


def _map(docs: Sequence[ApiDoc], chars: int, best: Sequence[str]) -> LibraryMap:
    """The same map for every task if all APIs fit, otherwise one of those nearest to this task.

    First sentences that the former leaves out are in the full docs of the nearest APIs.
    """
    api_map = library_map(docs, chars)
    return api_map if api_map.is_whole else library_map(docs, chars, best)


def _overview(bench: Workbench, chars: int) -> str:
    """Each library's own overview, as much as there is room for."""
    names = bench.libraries.names
    share = chars // len(names)
    texts = (bench.libraries.index.info(name).overview.strip() for name in names if share)
    return "\n\n".join(clip(text, share) for text in texts if text)


def _fitting(docs: Iterable[ApiDoc], doc_chars: int, room: int) -> Iterator[ApiDoc]:
    for doc in docs:
        room -= len(describe_api(doc, doc_chars)) + 1
        if room < 0:
            return
        yield doc
