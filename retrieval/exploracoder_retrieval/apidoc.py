"""What is known about one API, and where it was read."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

ApiKind = Literal["module", "class", "function", "method", "property", "attribute", "operation"]
MentionKind = Literal["example", "test", "text"]
DEPRECATED = "Deprecated"
# Only at the margin: an indented directive is about a parameter. reStructuredText, Markdown.
_DIRECTIVE = re.compile(
    r"^(?:\.\. deprecated::|!!! \w+ \"?deprecated)", re.MULTILINE | re.IGNORECASE
)


class Mention(BaseModel):
    """What is said about an API outside its own docs, or how it is used there.

    ``text`` is prose, or code from the library's examples or tests; it is found in ``file`` at
    ``line``, or on the page ``url``. ``missing`` are the names in it that the library does not
    publish: it was written for another version.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: MentionKind
    text: str
    title: str = ""
    file: str | None = None
    line: int | None = None
    url: str | None = None
    missing: tuple[str, ...] = ()


class ApiDoc(BaseModel):
    """One public API of a library.

    ``path`` is the import path under which the library publishes it; a method's is its class's path
    and its name. ``aliases`` are other names for the same thing: a functional form that a decorator
    registers (``.batch``), or another public import path. An ``operation`` is requested from a
    server: its path names it but cannot be imported. ``notes`` are what the source says beyond the
    docs: attributes, permitted parameter values, exceptions, what a result has. ``uses`` counts the
    examples and tests in which it occurs; ``mentions`` holds a few of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    kind: ApiKind
    library: str
    signature: str = ""
    summary: str = ""
    doc: str = ""
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    url: str | None = None
    mentions: tuple[Mention, ...] = ()
    uses: int = 0

    @property
    def is_deprecated(self) -> bool:
        """Whether a decorator or a directive in its documentation says so."""
        has_note = any(note.startswith(DEPRECATED) for note in self.notes)
        return has_note or bool(_DIRECTIVE.search(self.doc))


class Hit(BaseModel):
    """An ApiDoc that a query found; ``score`` is relative to the query's best hit, which has 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    doc: ApiDoc
    score: float
