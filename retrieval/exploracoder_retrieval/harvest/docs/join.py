"""What the documentation says of an API, joined to what is known of it already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc

_TEXTS = ("summary", "doc", "url")


def joined(known: Sequence[ApiDoc], said: Iterable[ApiDoc]) -> list[ApiDoc]:
    """All APIs, each once, ordered by path; who says something first is kept, gaps are filled.

    A name that is another path of a known API, or a member under one, is that API.
    """
    docs = {doc.path: doc for doc in known}
    aliases = {alias: doc.path for doc in known for alias in doc.aliases}
    for doc in said:
        path = _best_path(doc.path, docs, aliases)
        named = doc if doc.path == path else doc.model_copy(update={"path": path})
        docs[path] = _filled(docs[path], doc) if path in docs else named
    return [docs[path] for path in sorted(docs)]


def _best_path(path: str, docs: dict[str, ApiDoc], aliases: dict[str, str]) -> str:
    if path in docs:
        return path
    owner, _, name = path.rpartition(".")
    if path in aliases:
        return aliases[path]
    return f"{aliases[owner]}.{name}" if owner in aliases else path


def _filled(doc: ApiDoc, other: ApiDoc) -> ApiDoc:
    changes: dict[str, Any] = {
        name: getattr(other, name) for name in _TEXTS if not getattr(doc, name)
    }
    name = doc.path.rpartition(".")[2]
    if doc.signature in ("", name) and other.signature:
        changes["signature"] = other.signature
    if doc.file is None:
        changes |= {"file": other.file, "line": other.line}
    elif doc.file == other.file and doc.line is None:
        changes["line"] = other.line
    if not doc.examples:
        changes["examples"] = other.examples
    return doc.model_copy(update=changes)
