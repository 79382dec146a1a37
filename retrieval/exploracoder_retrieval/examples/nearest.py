"""The examples nearest to a task, by its words and by the APIs that it is likely to need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from exploracoder_retrieval.apidoc import Hit
from exploracoder_retrieval.embedded_words import words
from exploracoder_retrieval.examples.kept import KeptExample
from exploracoder_retrieval.harvest.result import UsageExample
from exploracoder_retrieval.ranking.searched_fields import names

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
# Code for another version is more likely to use names that are missing or have changed meaning.
_OTHER_VERSION = 0.7
# A match in an example of this many words counts half as much as in a very short one.
_LENGTH = 60
# An example less near to the task than this is about something else.
_LEAST = 0.2


@dataclass(frozen=True, slots=True)
class NearExample:
    """An example as a prompt may show it, and how near it is to the task, from 0 to 2.

    ``is_kept``: it comes from the user's own code or from an exploration, not from the library.
    """

    title: str
    code: str
    nearness: float
    is_kept: bool = False
    shares_api: bool = False

    @property
    def fits(self) -> bool:
        """Whether it uses an API that the task is likely to need and is about something similar."""
        return self.shares_api and self.nearness >= _LEAST


def nearest(
    task: str,
    hits: Sequence[Hit],
    own: Iterable[UsageExample],
    kept_examples: Iterable[KeptExample],
    version: str,
) -> list[NearExample]:
    """The examples of a library, nearest first; of equally near ones, kept ones come first.

    Args:
        task: What is to be done, in words.
        hits: The APIs that were found for the task.
        own: The library's own examples.
        kept_examples: The examples kept for the library.
        version: The library's current version.
    """
    query = _Query(frozenset(words(task)), _weights(hits))
    examples = [_of_kept(one, query, version) for one in kept_examples]
    examples += [_of_own(one, query) for one in own]
    return sorted(examples, key=lambda one: -one.nearness)


@dataclass(frozen=True, slots=True)
class _Query:
    """The words of a task, and how much using an API of each name speaks for an example."""

    words: frozenset[str]
    weights: Mapping[str, float]

    def near(self, title: str, code: str, used_names: Iterable[str]) -> NearExample:
        """An example, scored by its words and by the last names of the APIs it uses."""
        stems = set(words(f"{title} {code}"))
        by_words = len(stems & self.words) / (len(self.words) or 1) / (1 + len(stems) / _LENGTH)
        by_apis = min(sum(self.weights.get(name, 0.0) for name in set(used_names)), 1.0)
        nearness = by_words + by_apis
        return NearExample(title, code.strip(), nearness, shares_api=by_apis > 0)


def _of_kept(example: KeptExample, query: _Query, version: str) -> NearExample:
    used_names = [path.rpartition(".")[2] for path in example.apis]
    near = replace(query.near(example.title, example.code, used_names), is_kept=True)
    if not (version and example.version) or example.version == version:
        return near
    title = f"{example.title} (version {example.version})"
    return replace(near, title=title, nearness=_OTHER_VERSION * near.nearness)


def _of_own(example: UsageExample, query: _Query) -> NearExample:
    near = query.near(example.title, example.code, _IDENTIFIER.findall(example.code))
    if not example.missing:
        return near
    title = f"{example.title} (for another version: {', '.join(example.missing)} is not there)"
    return replace(near, title=title.strip(), nearness=_OTHER_VERSION * near.nearness)


def _weights(hits: Sequence[Hit]) -> Mapping[str, float]:
    """The share of each name in the total score of the hits."""
    total = sum(hit.score for hit in hits) or 1.0
    weights: dict[str, float] = {}
    for hit in hits:
        for name in names(hit.doc):
            weights[name] = max(weights.get(name, 0.0), hit.score / total)
    return weights
