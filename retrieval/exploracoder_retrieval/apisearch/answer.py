"""The answer to an API search."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from exploracoder_retrieval.apidoc import ApiDoc

AnswerSource = Literal["documentation", "web"]


class FoundApi(BaseModel):
    """One API that was found: ``urls`` are the pages that name it, ``doc`` its indexed docs.

    ``score`` orders the APIs of one source and means nothing else.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    source: AnswerSource
    score: float
    doc: ApiDoc | None = None
    urls: tuple[str, ...] = ()


class Answer(BaseModel):
    """The APIs for a query, best first, with those from the documentation ahead of the web's.

    ``notes`` say in full sentences what was not searched, and why. ``is_complete`` is False if the
    time limit passed or something failed before everything was searched.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str
    apis: tuple[FoundApi, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    is_complete: bool = True
