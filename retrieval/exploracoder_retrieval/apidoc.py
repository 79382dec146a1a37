"""What is known of one API, and where it was read."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

ApiKind = Literal["module", "class", "function", "method", "property", "attribute"]


class ApiDoc(BaseModel):
    """One public API of a library.

    ``path`` is the import path under which the library publishes it, a method's being that of its
    class and its name. ``aliases`` are other names for the same thing: a functional form that a
    decorator registers (``.batch``), or another public import path.
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
    file: str | None = None
    line: int | None = None
    url: str | None = None


class Hit(BaseModel):
    """An ApiDoc that a query found; ``score`` is relative to the best of its query, which has 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    doc: ApiDoc
    score: float
