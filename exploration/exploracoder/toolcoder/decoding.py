"""Algorithm 1: a model writes, is stopped where it opens a search, and goes on with the answer.

Source: ToolCoder, section 3.4, algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exploracoder.models.model_functions import MAX_CALLS
from exploracoder.toolcoder import calls

if TYPE_CHECKING:
    from exploracoder.models.chat import Reply

# What follows the prompt, at most so many tokens of it, up to the first of some strings.
Ask = Callable[[str, int, Sequence[str]], Awaitable["Reply"]]
# The answer to a query, and the text that it goes into.
Find = Callable[[str, str], Awaitable[str]]

QUERY_TOKENS = 64
# A server does not say which string a text was stopped at. So the one that opens a search begins
# inside its word, and the one that closes the query inside the arrow: what stands before tells.
_HEAD, _OPENING = "AP", "ISearch("
_CLOSING = "->"
_CHARS_PER_TOKEN = 4
# OpenAI's API takes no more, and a server that refuses a request for its stops gets none from then
# on. What is left out is cut here.
_MOST_STOPS = 4


class NotFoundError(Exception):
    """A search that gave nothing to go on with; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Made:
    """A search that was opened at an ``offset`` of the text; ``note`` says why it has no answer."""

    offset: int
    query: str
    answer: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What was written, searches included, and the searches in order."""

    text: str
    searches: tuple[Made, ...]


@dataclass(slots=True)
class Decoder:
    """One text with searches in it.

    Attributes:
        ask: Asks the model.
        find: Answers a query about what was written so far; raises NotFoundError.
        max_tokens: Longest text, in tokens; where servers do not count, 4 characters each.
        ends: The text ends before the first of these.
        query: What is searched for whatever the model asks; None searches for what it asks.
        max_calls: How many searches may be opened, those that come to nothing included; with 0 the
            model answers its own.
    """

    ask: Ask
    find: Find
    max_tokens: int
    ends: tuple[str, ...]
    query: str | None = None
    max_calls: int = MAX_CALLS
    _searches: list[Made] = field(default_factory=list)
    _used: int = 0

    async def run(self, prompt: str) -> Decoded:
        """Write what follows ``prompt``.

        A search that is never closed, lies in another, asks for nothing or far too much, or finds
        nothing is taken out of the text, and the model goes on without. Raises what ``ask`` raises.
        """
        text = ""
        while self._used < self.max_tokens:
            may_open = len(self._searches) < self.max_calls
            stops = (_OPENING, *self.ends) if may_open else self.ends
            tokens = self.max_tokens - self._used
            reply = await self.ask(prompt + text, tokens, stops[:_MOST_STOPS])
            piece, is_open = self._read(reply, may_open)
            self._charge(reply, len(piece))
            text += piece
            if not is_open:
                break
            text = await self._search(prompt, text)
        return Decoded(text, (*self._searches, *self._left(text)))

    def _charge(self, reply: Reply, kept_chars: int) -> None:
        """Counts what was kept of a reply: a server that knows no stops writes to its limit.

        The requests are bounded all the same: each but the last opens one of the searches.
        """
        tokens = reply.usage.completion_tokens or len(reply.text) / _CHARS_PER_TOKEN
        share = kept_chars / len(reply.text) if reply.text else 1.0
        self._used += max(1, math.ceil(tokens * share))

    def _read(self, reply: Reply, may_open: bool) -> tuple[str, bool]:
        """What a reply adds before it ends or opens a search, and whether it opens one.

        Servers that know no stop strings are read as if they did.
        """
        text = reply.text
        ends = [place for end in self.ends if (place := text.find(end)) >= 0]
        end = min(ends, default=len(text))
        start = text.find(calls.NAME) if may_open else -1
        if 0 <= start < end:
            return text[:start], True
        is_stopped = reply.finish_reasons[:1] == ("stop",) and not ends
        if may_open and is_stopped and text.endswith(_HEAD):
            return text.removesuffix(_HEAD), True
        return text[:end], False

    async def _search(self, prompt: str, text: str) -> str:
        """The text with the search that was just opened and its answer, or without it."""
        bare = text.rstrip(" ")
        text = bare.removesuffix(calls.OPEN) if bare.endswith(calls.OPEN) else text
        query = ""
        try:
            query = await self._query(prompt + text)
            answer = await self.find(query if self.query is None else self.query, text)
        except NotFoundError as problem:
            self._searches.append(Made(len(text), query, note=str(problem)))
            return text
        self._searches.append(Made(len(text), query or self.query or "", answer))
        return text + calls.written(query, answer)

    async def _query(self, so_far: str) -> str:
        """What the model asks; nothing where the query is fixed. Raises NotFoundError."""
        if self.query is not None:
            return ""
        stops = (_CLOSING, "\n", calls.OPEN, calls.CLOSE, calls.NAME)
        reply = await self.ask(so_far + calls.OPEN + calls.NAME, QUERY_TOKENS, stops[:_MOST_STOPS])
        places = [place for stop in stops if (place := reply.text.find(stop)) >= 0]
        end = min(places, default=len(reply.text))
        self._charge(reply, end)
        text = reply.text[:end].strip()
        query = " ".join(text.removesuffix(")").split()).strip("'\" ")
        if not text.endswith(")"):
            raise NotFoundError("The search was never closed, or another was opened in it.")
        if len(query) > calls.MAX_QUERY_CHARS:
            raise NotFoundError(
                f"The query has {len(query):,} characters; at most {calls.MAX_QUERY_CHARS} are"
                " searched for."
            )
        if not query:
            raise NotFoundError("The query was empty.")
        return query

    def _left(self, text: str) -> tuple[Made, ...]:
        """A word on searches that the model wrote when no more were answered."""
        offsets = {one.offset for one in self._searches}
        rest = [call for call in calls.whole_calls(text) if call.start not in offsets]
        if not rest or not self.max_calls:
            return ()
        more = f"{len(rest)} more searches were not made: at most {self.max_calls} are."
        return (Made(rest[0].start, rest[0].query, note=more),)
