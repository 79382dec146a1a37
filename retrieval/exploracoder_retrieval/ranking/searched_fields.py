"""The fields of an ApiDoc that are searched separately, as a word's weight differs in each."""

from __future__ import annotations

from functools import lru_cache

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embedded_words import index_text, words

# The text that is also embedded, and the rest of the doc.
FIELDS = ("brief", "body")
FIELD_WEIGHTS = (2.0, 1.0)
MAX_BODY_CHARS = 3_000

_MEMBERS = frozenset({"method", "property", "attribute"})


def field_words(doc: ApiDoc) -> list[list[str]]:
    """The stems of each of FIELDS, in order."""
    return [words(index_text(doc)), words(doc.doc.removeprefix(doc.summary)[:MAX_BODY_CHARS])]


def is_member(doc: ApiDoc) -> bool:
    """Whether it is reached through an instance or its class."""
    return doc.kind in _MEMBERS


def owner_name(doc: ApiDoc) -> str:
    """The last name of the class or module that contains an API; empty at the top."""
    return _last(doc.path.rpartition(".")[0])


def names(doc: ApiDoc) -> frozenset[str]:
    """The last names under which an API is written in code."""
    return frozenset({_last(doc.path), *(_last(alias) for alias in doc.aliases)})


@lru_cache(maxsize=65_536)
def name_words(name: str) -> frozenset[str]:
    """The stems of the pieces of a name; the whole name is left out if there are several."""
    stems = words(name)
    return frozenset(stems[1:] if len(stems) > 1 else stems)


def _last(path: str) -> str:
    return path.rpartition(".")[2]
