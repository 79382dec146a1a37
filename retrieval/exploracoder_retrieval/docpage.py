"""The docs of one API split into the parts that a page shows."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Literal

from docstring_parser import ParseError, parse
from docstring_parser.common import (
    Docstring,
    DocstringExample,
    DocstringMeta,
    DocstringParam,
    DocstringRaises,
    DocstringReturns,
)
from pydantic import BaseModel, ConfigDict

from exploracoder_retrieval.harvest.docstrings import without_examples
from exploracoder_retrieval.harvest.signatures import without_signature
from exploracoder_retrieval.prose import as_markdown

MAX_DOC_CHARS = 50_000
PartKind = Literal["parameters", "attributes", "returns", "yields", "raises"]


class DocEntry(BaseModel):
    """A parameter, a result or an exception; ``text`` is Markdown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    type: str = ""
    text: str = ""


class DocPart(BaseModel):
    """The entries of one kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: PartKind
    entries: tuple[DocEntry, ...]


class DocPage(BaseModel):
    """Docs without their examples: ``text`` is Markdown, what has no part of its own included."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    parts: tuple[DocPart, ...] = ()


def doc_page(name: str, doc: str) -> DocPage:
    """Split the docs of the API ``name``: numpy style, Google style, reStructuredText, or prose.

    Code that `find_examples` finds is left out.
    """
    text = inspect.cleandoc(without_signature(name, doc[:MAX_DOC_CHARS]))
    text = without_examples(text)
    try:
        docstring = parse(text)
    except ParseError:
        return DocPage(text=as_markdown(text))
    if not any(_kind(meta) for meta in docstring.meta):
        return DocPage(text=as_markdown(text))
    kinds = dict.fromkeys(kind for meta in docstring.meta if (kind := _kind(meta)))
    parts = (DocPart(kind=kind, entries=_entries(kind, docstring.meta)) for kind in kinds)
    return DocPage(text=as_markdown(_prose(docstring)), parts=tuple(parts))


def _kind(meta: DocstringMeta) -> PartKind | None:
    if isinstance(meta, DocstringParam):
        return "attributes" if meta.args[0] in ("attribute", "ivar", "cvar") else "parameters"
    if isinstance(meta, DocstringReturns):
        return "yields" if meta.is_generator else "returns"
    return "raises" if isinstance(meta, DocstringRaises) else None


def _entries(kind: PartKind, metas: Iterable[DocstringMeta]) -> tuple[DocEntry, ...]:
    return tuple(_entry(meta) for meta in metas if _kind(meta) == kind)


def _entry(meta: DocstringMeta) -> DocEntry:
    text = as_markdown(meta.description or "")
    if isinstance(meta, DocstringParam):
        usual = f"default {meta.default}" if meta.default else "optional" * bool(meta.is_optional)
        type_ = ", ".join(filter(None, [meta.type_name, usual]))
        return DocEntry(name=meta.arg_name, type=type_, text=text)
    if isinstance(meta, DocstringReturns):
        return DocEntry(name=meta.return_name or "", type=meta.type_name or "", text=text)
    name = meta.type_name or "" if isinstance(meta, DocstringRaises) else ""
    return DocEntry(type=name, text=text)


def _prose(docstring: Docstring) -> str:
    gap = "\n\n" if docstring.blank_after_short_description else "\n"
    paragraphs = [gap.join(filter(None, [docstring.short_description, docstring.long_description]))]
    for meta in docstring.meta:
        if not _kind(meta) and not isinstance(meta, DocstringExample) and meta.description:
            title = " ".join(meta.args).replace("_", " ").capitalize()
            paragraphs.append(f"**{title}**\n\n{meta.description}")
    return "\n\n".join(filter(None, paragraphs))
