"""Sifts what was retrieved by what else is known: the library's own examples, the live variables.

The same words find constants, internals and one method on ten classes. What the library's examples
use comes first, as do members of the types that are at hand; of a member that several classes
share, one is shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apidoc import ApiDoc, Hit

from exploracoder.engine.known import KnownApis

_USED_IN_EXAMPLES = 2.0
_OF_LIVE_TYPE = 2.0
_ATTRIBUTE = 0.35
_DEPTH = 0.75


def names_used(codes: Iterable[str]) -> frozenset[str]:
    """The identifiers that stand in example codes."""
    return frozenset(name for code in codes for name in re.findall(r"[A-Za-z_]\w*", code))


def sift(
    query: str,
    hits: Sequence[Hit],
    known: KnownApis,
    used: Collection[str],
    variables: Sequence[Variable],
) -> tuple[Hit, ...]:
    """``hits`` for a query weighed anew, best first, one for each shared member.

    What the query calls by its name comes before all else.
    """
    types = live_types(known, variables)
    named = _named(query, known)
    weighed = [
        Hit(doc=hit.doc, score=_rank_score(rank) * _weight(hit.doc, used, types))
        for rank, hit in enumerate(hits)
    ]
    weighed.sort(key=lambda hit: -hit.score)
    merged: dict[tuple[str, str], Hit] = {}
    for hit in [*(Hit(doc=doc, score=1.0) for doc in named), *weighed]:
        merged.setdefault(_sameness(hit.doc), _at_hand(hit, known, types))
    return tuple(merged.values())


def live_types(known: KnownApis, variables: Sequence[Variable]) -> frozenset[str]:
    """The library's classes of which there are live variables, or elements of variables."""
    return frozenset(doc.path for one in variables for doc in known.classes_in(one.type))


def _at_hand(hit: Hit, known: KnownApis, types: Collection[str]) -> Hit:
    """The same member on a type that is at hand, if it is there too."""
    owner, _, name = hit.doc.path.rpartition(".")
    if owner in types or hit.doc.kind not in ("method", "property"):
        return hit
    for type_ in sorted(types):
        doc = known.at(f"{type_}.{name}")
        if doc is not None and _sameness(doc) == _sameness(hit.doc):
            return Hit(doc=doc, score=hit.score)
    return hit


def _named(query: str, known: KnownApis) -> list[ApiDoc]:
    """The APIs that a query calls by a name which is no common word: ``JustHTML``, ``to_text``."""
    names = dict.fromkeys(re.findall(r"\w*(?:[a-z][A-Z]|_[a-z]|[A-Z]{2})\w*", query))
    docs = [known.named(name) for name in names]
    return [min(found, key=lambda doc: doc.path.count(".")) for found in docs if found]


def _rank_score(rank: int) -> float:
    return 1 / (5 + rank)


def _weight(doc: ApiDoc, used: Collection[str], types: Collection[str]) -> float:
    owner, _, name = doc.path.rpartition(".")
    is_member = doc.kind in ("method", "property", "attribute")
    depth = doc.path.count(".") - (2 if is_member else 1)
    weight = _DEPTH ** max(0, depth)
    if doc.kind == "attribute":
        weight *= _ATTRIBUTE
    if name in used or any(alias.lstrip(".") in used for alias in doc.aliases):
        weight *= _USED_IN_EXAMPLES
    if owner in types:
        weight *= _OF_LIVE_TYPE
    return weight


def _sameness(doc: ApiDoc) -> tuple[str, str]:
    """Members of one name and one description are one thing, whichever class they are met on."""
    if doc.kind not in ("method", "property", "attribute"):
        return (doc.path, "")
    return (doc.path.rpartition(".")[2], doc.summary or doc.signature.partition("(")[2])
