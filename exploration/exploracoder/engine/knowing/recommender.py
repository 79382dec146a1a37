"""Which APIs to show for a subtask, and for the whole task (ExploraCoder, section 3.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apidoc import ApiDoc, Hit
from exploracoder_retrieval.fusion import fuse
from pydantic import BaseModel, ConfigDict

from exploracoder.engine.knowing.sieve import sift
from exploracoder.engine.reading.value_text import describe_api
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import ReplyError
from exploracoder.models.chat import Message, Sampling
from exploracoder.prompts import render
from exploracoder.state import RankedApi, Recommendation, Step, Subtask

_KEPT_DOC_CHARS = 4000
# APIs considered for a name that does not exist.
ALIKE = 8


class _RerankReply(BaseModel):
    """The form that the model answers in: numbers counting from 1."""

    model_config = ConfigDict(extra="forbid")

    relevant: list[int]


async def find(
    bench: Workbench, query: str, k: int, variables: Sequence[Variable] = ()
) -> tuple[Hit, ...]:
    """Find k APIs for a query, sifted if the settings say so, without a model.

    Searching takes a while, so it is done in a thread to keep a server responsive.
    """
    most = 3 * k if bench.settings.sift else k
    hits = await asyncio.to_thread(bench.libraries.index.search, query, bench.libraries.names, most)
    if not bench.settings.sift:
        return tuple(hits)
    return sift(query, hits, bench.libraries.known, bench.libraries.used_names, variables)[:k]


async def find_alike(bench: Workbench, names: Iterable[str], k: int) -> tuple[ApiDoc, ...]:
    """Find k APIs for each name that does not exist: those that do what it suggests.

    The query is the name alone. For 126 names from pandas and NumPy, in libraries that have other
    names for these things, the right one is among the first 8 in 84 of 100 cases, and in 57 if the
    query is the task's sentence.
    """
    docs: dict[str, ApiDoc] = {}
    for name in names:
        hits = await find(bench, f"{name.replace('_', ' ')} {name}", k)
        docs |= {hit.doc.path: hit.doc for hit in hits}
    return tuple(docs.values())


async def find_meant(
    bench: Workbench, query: str, names: Iterable[str], k: int
) -> tuple[ApiDoc, ...]:
    """Find k APIs for a query and for names that do not exist, with all the rankings merged.

    A name written from memory is the best query for what the library calls something else.
    """
    rankings = [await find_alike(bench, [name], k) for name in names]
    rankings.append(tuple(hit.doc for hit in await find(bench, query, k)))
    return tuple(hit.doc for hit in _merge(bench, rankings)[:k])


async def recommend(bench: Workbench, subtask: Subtask) -> Recommendation:
    """The APIs for a subtask: k are retrieved, then the model re-ranks and may drop."""
    settings = bench.settings
    variables = await bench.sidecar.variables(bench.branches.current)
    hits = await find(bench, subtask.goal, settings.retrieved_apis, variables)
    question = f"The step: {subtask.goal}"
    return await _keep(bench, subtask.id, hits, question, settings.shown_apis)


async def recommend_overall(bench: Workbench, steps: Sequence[Step]) -> Recommendation:
    """k_G APIs for the whole task: those found for the subtasks and the task, ranked together."""
    task, settings = bench.exploration.task, bench.settings
    rankings = [[api.doc for api in step.recommendation.apis] for step in steps]
    hits = await find(bench, task.text, settings.retrieved_apis)
    rankings.append([hit.doc for hit in hits])
    ranking = _merge(bench, rankings)[: 2 * settings.overall_apis]
    goals = "; ".join(step.subtask.goal for step in steps)
    question = f"The steps: {goals}" if goals else f"The task: {task.text}"
    return await _keep(bench, "overall", ranking, question, settings.overall_apis)


def _merge(bench: Workbench, rankings: Sequence[Sequence[ApiDoc]]) -> list[Hit]:
    """The docs of several rankings, joined by reciprocal rank fusion.

    They come from the index: of a doc that a step dropped, the notebook keeps only the head.
    """
    docs = {
        doc.path: bench.libraries.known.at(doc.path) or doc
        for ranking in rankings
        for doc in ranking
    }
    scores = fuse([[doc.path for doc in ranking] for ranking in rankings])
    return [Hit(doc=docs[path], score=score) for path, score in scores]


async def _keep(
    bench: Workbench, part: str, hits: Sequence[Hit], question: str, most: int
) -> Recommendation:
    order = list(range(len(hits)))
    if bench.settings.rerank == "model" and hits:
        order = await _rerank(bench, part, hits, question, most)
    best = order[:most]
    rest = [number for number in range(len(hits)) if number not in best]
    return Recommendation(
        apis=tuple(
            RankedApi(
                doc=trim(bench, hits[number].doc, is_kept=number in best),
                score=hits[number].score,
                is_kept=number in best,
            )
            for number in [*best, *rest]
        )
    )


def trim(bench: Workbench, doc: ApiDoc, *, is_kept: bool) -> ApiDoc:
    """The part of a doc that a notebook keeps; the index has the rest.

    Its file path starts at the library's folder: where that is located is private, and differs
    from machine to machine.
    """
    file = doc.file
    if file is not None:
        root = Path(bench.libraries.index.info(doc.library).root)
        file = (
            str(Path(file).relative_to(root.parent)) if root.parent in Path(file).parents else None
        )
    fields = {
        "file": file,
        "doc": doc.doc[:_KEPT_DOC_CHARS] if is_kept else "",
        "examples": doc.examples[:1] if is_kept else (),
        "mentions": (),
    }
    return doc.model_copy(update=fields)


async def _rerank(
    bench: Workbench, part: str, hits: Sequence[Hit], question: str, most: int
) -> list[int]:
    """The indices that the model finds relevant, best first; empty if it says that none is.

    The retriever's order stands if the model's answer cannot be used.
    """
    messages = [
        Message("system", render("rerank", "system")),
        Message(
            "user",
            render(
                "rerank",
                "user",
                library=bench.libraries.words,
                task=bench.exploration.task.text,
                apis=[describe_api(hit.doc, 0).removeprefix("- ") for hit in hits],
                question=question,
                most=most,
            ),
        ),
    ]
    sampling = Sampling(max_tokens=160, seed=bench.model.seed(f"rerank/{part}"))
    try:
        reply = await bench.model.ask_json(part, messages, sampling, _RerankReply)
    except ReplyError:
        return list(range(len(hits)))
    indices = dict.fromkeys(n - 1 for n in reply.relevant if 1 <= n <= len(hits))
    return list(indices) if indices or not reply.relevant else list(range(len(hits)))
