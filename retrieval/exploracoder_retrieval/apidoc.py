"""What is known of one API, and where it was read."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

ApiKind = Literal["module", "class", "function", "method", "property", "attribute", "operation"]
MentionKind = Literal["example", "test", "text"]
DEPRECATED = "Deprecated"
# At the margin: a directive that is indented speaks of a parameter. reStructuredText, Markdown.
_DIRECTIVE = re.compile(
    r"^(?:\.\. deprecated::|!!! \w+ \"?deprecated)", re.MULTILINE | re.IGNORECASE
)


class Mention(BaseModel):
    """What somebody else than an API's own docs says of it, or how they use it.

    ``text`` is code of the library's examples or of its tests, or prose; it stands in ``file`` at
    ``line``, or on the page ``url``. ``missing`` are names in it that the library does not publish:
    it was written for another version.
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

    ``path`` is the import path under which the library publishes it, a method's being that of its
    class and its name. ``aliases`` are other names for the same thing: a functional form that a
    decorator registers (``.batch``), or another public import path. An ``operation`` is asked of a
    server: its path names it and imports nothing. ``notes`` are what source says beside the text:
    attributes, the values that a parameter may have, exceptions, what a result has. ``uses`` counts
    the examples and tests in which it stands, of which ``mentions`` are a few.
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
        """Whether a decorator says so, or a directive of its documentation."""
        has_note = any(note.startswith(DEPRECATED) for note in self.notes)
        return has_note or bool(_DIRECTIVE.search(self.doc))


class Hit(BaseModel):
    """An ApiDoc that a query found; ``score`` is relative to the best of its query, which has 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    doc: ApiDoc
    score: float
