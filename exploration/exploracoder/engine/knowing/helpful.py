"""The docs that may help repair a failure, and those that a solution relies on."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence

from exploracoder_kernel.observation import Observation, Variable
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.knowing.name_problems import OBJECT_ERROR
from exploracoder.engine.knowing.recommender import find_alike, trim
from exploracoder.engine.knowing.sieve import live_types
from exploracoder.engine.reading import snippet_names
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Candidate, NameProblem


def siblings(bench: Workbench, candidate: Candidate) -> tuple[ApiDoc, ...]:
    """Members of the same classes whose names share a word with those that a candidate used."""
    docs: dict[str, ApiDoc] = {}
    for path in candidate.apis:
        owner, _, name = path.rpartition(".")
        words = set(name.lower().split("_"))
        for doc in bench.libraries.known.members(owner):
            if doc.path != path and words & set(doc.path.rpartition(".")[2].lower().split("_")):
                docs.setdefault(doc.path.rpartition(".")[2], doc)
    return tuple(docs.values())[: bench.settings.shown_apis]


async def helpful_apis(
    bench: Workbench,
    problems: Sequence[NameProblem],
    observation: Observation | None,
    goal: str,
) -> tuple[ApiDoc, ...]:
    """The docs that may help repair a failure.

    They cover APIs that do what the wrong names suggest, real names near these, and members of
    the type that the error names, those that fit the goal first. Empty without the setting
    ``name_hints``.
    """
    if not bench.settings.name_hints:
        return ()
    wrong = [problem.name.partition(".")[0] for problem in problems]
    docs = {doc.path: doc for doc in await find_alike(bench, wrong, _ALIKE)}
    for problem in problems:
        for name in problem.nearest:
            exact = bench.libraries.known.at(f"{problem.owner}.{name}")
            apis = [exact] if exact else list(bench.libraries.known.named(name))[:1]
            docs |= {doc.path: doc for doc in apis}
    error = observation.error if observation else None
    match = OBJECT_ERROR.search(error.evalue) if error else None
    if match:
        owners = [
            doc.path for doc in bench.libraries.known.named(match["type"]) if doc.kind == "class"
        ]
        query = f"{goal} {(match['name'] or '').replace('_', ' ')}"
        hits = await asyncio.to_thread(
            bench.libraries.index.search, query, bench.libraries.names, _SEARCHED_MEMBERS
        )
        docs |= {hit.doc.path: hit.doc for hit in hits if hit.doc.path.rpartition(".")[0] in owners}
    return tuple(docs.values())[: bench.settings.shown_apis]


_ALIKE = 3
_SEARCHED_MEMBERS = 200
# Members of Python's built-in types: ``rows.append`` says nothing about a library.
_OF_VALUES = frozenset(
    name for kind in (str, bytes, int, float, list, tuple, dict, set) for name in dir(kind)
)


def docs_behind(bench: Workbench, code: str, variables: Sequence[Variable]) -> tuple[ApiDoc, ...]:
    """The docs of the libraries' APIs that code uses, sorted by path.

    Readers of a solution should see what it relies on, whether the model was shown the docs or
    wrote from memory. The context's imports count. A member that several classes have is taken
    from a live variable's class, and left out if there is no such variable.
    """
    apis = bench.libraries.known
    around = snippet_names.read(bench.exploration.task.context, apis)
    code_names = snippet_names.read(code, apis)
    code_names = dataclasses.replace(code_names, imports={**around.imports, **code_names.imports})
    types = sorted(live_types(apis, variables))
    members = [doc for type_ in types for doc in apis.members(type_)]
    likely = [doc for doc in members if doc.path.rpartition(".")[2] not in _OF_VALUES]
    docs = (apis.at(path) for path in snippet_names.apis_used(code_names, apis, likely))
    return tuple(trim(bench, doc, is_kept=True) for doc in docs if doc is not None)
