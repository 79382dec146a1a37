"""The parts of an ApiDoc that are searched apart, because a word weighs differently in each."""

from __future__ import annotations

import re
from functools import lru_cache

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.wording import words

FIELDS = ("name", "alias", "owner", "module", "summary", "parameters", "body")
# A name says what an API is, its parameters and details what it is used with.
FIELD_WEIGHTS = (3.0, 3.0, 1.0, 0.5, 2.0, 0.5, 1.0)
MAX_BODY_CHARS = 3_000

_MEMBERS = frozenset({"method", "property", "attribute"})
_PARAMETER = re.compile(r"\s*\**([^\W\d]\w*)")
_SAY_NOTHING = frozenset({"self", "cls", "args", "kwargs"})


def field_words(doc: ApiDoc) -> list[list[str]]:
    """The stems of each of FIELDS, in their order."""
    parts = doc.path.split(".")
    inner = parts[1:-2] if is_member(doc) else parts[1:-1]
    body = doc.doc.removeprefix(doc.summary)[:MAX_BODY_CHARS]
    texts = (
        parts[-1],
        " ".join(_last(alias) for alias in doc.aliases),
        owner_name(doc) if is_member(doc) else "",
        " ".join(inner),
        doc.summary,
        " ".join(parameter_names(doc.signature)),
        body,
    )
    return [words(text) for text in texts]


def is_member(doc: ApiDoc) -> bool:
    """Whether it is reached through an instance or its class."""
    return doc.kind in _MEMBERS


def owner_name(doc: ApiDoc) -> str:
    """The last name of the class or module that an API lies in; empty at the top."""
    return _last(doc.path.rpartition(".")[0])


def names(doc: ApiDoc) -> frozenset[str]:
    """The last names under which an API is written in code."""
    return frozenset({_last(doc.path), *(_last(alias) for alias in doc.aliases)})


@lru_cache(maxsize=65_536)
def name_words(name: str) -> frozenset[str]:
    """The stems of the pieces of a name; the whole is left out where there are several."""
    found = words(name)
    return frozenset(found[1:] if len(found) > 1 else found)


def parameter_names(signature: str) -> list[str]:
    """The names in a signature's outer brackets, without those that every signature may have."""
    found = (_PARAMETER.match(part) for part in _outer_parts(signature.partition("(")[2]))
    return [match[1] for match in found if match and match[1] not in _SAY_NOTHING]


def _outer_parts(text: str) -> list[str]:
    """What commas part, up to the bracket that closes; commas in inner brackets part nothing."""
    parts: list[str] = []
    start = depth = 0
    for place, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                return [*parts, text[start:place]]
        elif char == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _last(path: str) -> str:
    return path.rpartition(".")[2]
