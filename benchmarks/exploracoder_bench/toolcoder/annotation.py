"""Training text: functions with the API searches that a programmer would have made.

Source: ToolCoder, section 3.2 and appendix A. There the model writes the whole function again, with
searches in it; here it only says what would have been searched for, and the searches are inserted
by rule: so the code stays as it was, replies are short, and a search is right before its API.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from exploracoder.errors import ReplyError
from exploracoder.models.chat import ChatModel, Message, Sampling
from exploracoder.models.structured import complete_json
from exploracoder.prompts import render
from exploracoder.state import State
from exploracoder.toolcoder import calls
from pydantic import BaseModel, ConfigDict, Field, create_model

from exploracoder_bench.toolcoder.corpus import Function, Use
from exploracoder_bench.toolcoder.search_rules import query_fault, text_fault

_SHOWN_USES = 8
_REPLY_TOKENS = 300
_EXAMPLE = Function(
    file="weekly.py",
    name="weekly",
    line=1,
    code="def weekly(path):\n    table = pd.read_csv(path)\n    return np.round(table.mean(), 1)",
    uses=(Use("pandas.read_csv", 2, 30, True), Use("numpy.round", 3, 60, True)),
)
_EXAMPLE_ANSWER = json.dumps(
    {
        "searches": [
            {"number": 1, "query": "read a table from a comma separated file"},
            {"number": 2, "query": "round numbers to some decimals"},
        ]
    }
)


class Annotation(State):
    """One inserted search."""

    query: str
    api: str
    is_public: bool


class AnnotatedFunction(State):
    """A function that was examined: a line of the file of training text.

    ``text`` is what to learn from, empty if the filters dropped it; ``reason`` says why they did,
    ``dropped`` what was wrong with individual searches.
    """

    id: str
    file: str
    function: str
    line: int
    code: str
    text: str = ""
    searches: tuple[Annotation, ...] = ()
    reason: str = ""
    dropped: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether it is training text."""
        return bool(self.text)


class _Search(BaseModel):
    model_config = ConfigDict(extra="forbid")

    number: int = Field(description="which call")
    query: str = Field(
        description="what would be typed into the search",
        # Where the server enforces a schema, a small model answers in words and not with the API's
        # name. An answer that violates it is not refused as a whole: the filters look at each
        # query.
        json_schema_extra={"pattern": "^[A-Z]?[a-z]+( [A-Za-z]?[a-z-]+){2,11}$"},
    )


class _Searches(BaseModel):
    """What the model answers."""

    model_config = ConfigDict(extra="forbid")

    searches: list[_Search]


@lru_cache(maxsize=_SHOWN_USES)
def _searches_of(count: int) -> type[_Searches]:
    """The schema of an answer about ``count`` calls; it restricts their numbers and the words."""
    numbers: Any = Field(
        description="which call", json_schema_extra={"enum": list(range(1, count + 1))}
    )
    one = create_model("_Search", __base__=_Search, number=(int, numbers))
    return create_model("_Searches", __base__=_Searches, searches=(list[one], ...))


async def annotate(model: ChatModel, function: Function, seed: int = 0) -> AnnotatedFunction:
    """Ask for the searches of one function, and insert the good ones.

    Raises:
        ModelError: The model could not be asked. A malformed reply only drops the function.
    """
    uses = function.uses[:_SHOWN_USES]
    if not any(use.is_public for use in uses):
        return _looked_at(function, reason="it calls no API of a public library")
    messages = [
        Message("system", render("annotate", "system")),
        Message("user", render("annotate", "function", code=_EXAMPLE.code, uses=_EXAMPLE.uses)),
        Message("assistant", _EXAMPLE_ANSWER),
        Message("user", render("annotate", "function", code=function.code, uses=uses)),
    ]
    sampling = Sampling(max_tokens=_REPLY_TOKENS, seed=seed)
    try:
        reply = await complete_json(model, messages, sampling, _searches_of(len(uses)))
    except ReplyError:
        return _looked_at(function, reason="the model's answer had no form")
    good: dict[Use, str] = {}
    faults = []
    for one in reply.searches:
        fault = _fault(one, uses, good, function)
        if fault:
            faults.append(fault)
        else:
            good[uses[one.number - 1]] = " ".join(one.query.split()).rstrip(".")
    reason = text_fault(list(good))
    if reason:
        return _looked_at(function, reason=reason, faults=faults)
    return _with_searches(function, good, faults)


def _fault(one: _Search, uses: Sequence[Use], good: dict[Use, str], function: Function) -> str:
    if not 1 <= one.number <= len(uses):
        return "a call that is not there"
    use = uses[one.number - 1]
    return "a call named twice" if use in good else query_fault(one.query, use, function)


def _with_searches(
    function: Function, searches: dict[Use, str], faults: Sequence[str]
) -> AnnotatedFunction:
    text = function.code
    pairs = sorted(searches.items(), key=lambda pair: pair[0].offset)
    for use, query in reversed(pairs):
        text = text[: use.offset] + calls.written(query, _answer(use)) + text[use.offset :]
    if calls.without_calls(text) != function.code:
        return _looked_at(function, reason="the code would not be the same", faults=faults)
    annotations = tuple(
        Annotation(query=query, api=_answer(use), is_public=use.is_public) for use, query in pairs
    )
    return _looked_at(function, faults=faults).model_copy(
        update={"text": text, "searches": annotations}
    )


def _answer(use: Use) -> str:
    return use.path.lstrip(".")


def _looked_at(
    function: Function, *, reason: str = "", faults: Sequence[str] = ()
) -> AnnotatedFunction:
    return AnnotatedFunction(
        id=function.id,
        file=function.file,
        function=function.name,
        line=function.line,
        code=function.code,
        reason=reason,
        dropped=tuple(faults),
    )
