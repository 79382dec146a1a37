"""The words by which an API is found: the text that is embedded, and the stems BM25 counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc

_IDENTIFIER = re.compile(r"[^\W_]\w*", re.UNICODE)
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
# Between aB, and before the last capital of ABc.
_HUMP = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])")
_STOP = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "i", "in", "into", "is"}
    | {"it", "its", "of", "on", "or", "that", "the", "their", "then", "there", "these", "this"}
    | {"to", "was", "we", "what", "which", "will", "with"}
)


def index_text(doc: ApiDoc) -> str:
    """The text to embed: import path and first sentence, with the names a decorator registered.

    If the API has no docs, the words of its name and its signature replace the sentence.

    Source: ExploraCoder, appendix A.7, table 10 (Path + Desc*).
    """
    registered_names = " ".join(alias.lstrip(".") for alias in doc.aliases if alias.startswith("."))
    summary = doc.summary or " ".join(split_identifier(doc.path.rpartition(".")[2]))
    parts = (doc.path, registered_names, summary if doc.summary else f"{summary} {doc.signature}")
    return " ".join(part for part in parts if part)


def words(text: str) -> list[str]:
    """Lower-cased stems: each identifier whole and, if it has several pieces, each piece.

    >>> words("KnowledgeFrame.read_csv2")
    ['knowledgefram', 'knowledg', 'frame', 'read_csv2', 'read', 'csv', '2']
    """
    tokens: list[str] = []
    for match in _IDENTIFIER.finditer(text):
        identifier = match[0]
        pieces = split_identifier(identifier)
        if len(pieces) > 1:
            tokens.append(identifier.lower())
        tokens += pieces
    return _stems(word for word in tokens if word not in _STOP)


@lru_cache(maxsize=65_536)
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Lower-cased pieces of camelCase, snake_case, digits; ``HTTPServer2``: http, server, 2."""
    runs = _LETTERS_OR_DIGITS.findall(identifier)
    return tuple(piece.lower() for run in runs for piece in _HUMP.split(run))


def _stems(tokens: Iterable[str]) -> list[str]:
    return list(_stemmer().stemWords(list(tokens)))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
