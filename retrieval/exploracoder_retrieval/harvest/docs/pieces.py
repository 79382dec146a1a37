"""The pieces that a reader finds in one file of documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind, MentionKind

DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
MAX_TEXT_CHARS = 100_000
# Sphinx's names for the kinds of objects.
KINDS: dict[str, ApiKind] = {
    "class": "class",
    "exception": "class",
    "function": "function",
    "decorator": "function",
    "method": "method",
    "classmethod": "method",
    "staticmethod": "method",
    "property": "property",
    "attribute": "attribute",
    "data": "attribute",
}


class UnreadableDocs(ValueError):  # noqa: N818 - named for what the person has
    """A file that is not what its name says, or is too large; the message says which."""


class Place(TypedDict, total=False):
    """The fields of an ApiDoc or a Mention that say where it was read."""

    file: str | None
    line: int | None
    url: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """One file to read: ``library`` is the name of what it documents, ``import_name`` its module.

    ``url`` is where a fetched page came from, or can be opened; it takes precedence over ``path``.
    """

    path: Path
    library: str
    import_name: str
    url: str | None = None

    def place(self, line: int | None = None, anchor: str = "") -> Place:
        """The location of something on the page: file and line, or address and anchor."""
        if self.url is not None:
            return {"url": f"{self.url}#{anchor}" if anchor else self.url}
        return {"file": str(self.path), "line": line}

    def api(self, path: str, kind: ApiKind, place: Place, **fields: object) -> ApiDoc:
        """An ApiDoc of the library that the page documents."""
        values = {"path": path, "kind": kind, "library": self.library, **place, **fields}
        return ApiDoc.model_validate(values)


@dataclass(frozen=True, slots=True)
class Passage:
    """Code or prose that may refer to APIs; ``context`` is what its page imported before it."""

    kind: MentionKind
    text: str
    title: str
    place: Place
    context: str = ""


@dataclass(frozen=True, slots=True)
class About:
    """What a file says about the library as a whole."""

    name: str = ""
    version: str = ""
    overview: str = ""


Piece = ApiDoc | Passage | About


def split_call(text: str) -> tuple[str, str] | None:
    """``(path, signature)`` of ``lib.f(a, b)`` or ``lib.f``; None if it is neither."""
    match = DOTTED.match(text.strip())
    if match is None:
        return None
    rest = text.strip()[match.end() :]
    if rest and not rest.startswith("("):
        return None
    name = match[0].rpartition(".")[2]
    return match[0], f"{name}{rest}" if rest else ""


def guess_kind(path: str, *, is_call: bool = True) -> ApiKind:
    """The kind of an API known only by name, guessed from naming conventions."""
    owner, _, name = path.rpartition(".")
    in_class = owner.rpartition(".")[2][:1].isupper()
    if name[:1].isupper() and not name.isupper():
        return "class"
    if not is_call:
        return "attribute"
    return "method" if in_class else "function"


def clean(text: str) -> str:
    """Text of bounded length without terminal control characters."""
    characters = "".join(char for char in text[:MAX_TEXT_CHARS] if char >= " " or char in "\n\t")
    return characters.replace("\x7f", "").strip()
