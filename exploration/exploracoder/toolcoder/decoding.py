"""Algorithm 1: stop a model where it opens a search, and let it go on with the answer.

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

# Completes a prompt by at most so many tokens, up to the first of some stop strings.
Ask = Callable[[str, int, Sequence[str]], Awaitable["Reply"]]
# Answers a query, given the text that the answer goes into.
Find = Callable[[str, str], Awaitable[str]]

QUERY_TOKENS = 64
# A server does not say which string it stopped at. So the one that opens a search begins inside
# its word, and the one that closes the query inside the arrow: the text before it tells.
_HEAD, _OPENING = "AP", "ISearch("
_CLOSING = "->"
_CHARS_PER_TOKEN = 4
# OpenAI's API takes no more, and a server that refuses a request for its stops is sent none from
# then on. We cut at the omitted ones ourselves.
_MOST_STOPS = 4


class NotFoundError(Exception):
    """A search found nothing to go on with; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class SearchCall:
    """A search opened at ``offset`` in the text; ``note`` says why it has no answer."""

    offset: int
    query: str
    answer: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """The text as written, searches included, and the searches in order."""

    text: str
    searches: tuple[SearchCall, ...]


@dataclass(slots=True)
class Decoder:
    """Writes one text with searches in it.

    Attributes:
        ask: Asks the model.
        find: Answers a query about what was written so far; raises NotFoundError.
        max_tokens: Longest text, in tokens; of 4 characters each if the server does not count.
        ends: The text ends before the first of these.
        query: The query to use whatever the model asks; None uses the model's own.
        max_calls: How many searches may be opened, including failed ones; with 0 the model
            answers its own.
    """

    ask: Ask
    find: Find
    max_tokens: int
    ends: tuple[str, ...]
    query: str | None = None
    max_calls: int = MAX_CALLS
    _searches: list[SearchCall] = field(default_factory=list)
    _tokens: int = 0

    async def run(self, prompt: str) -> DecodedText:
        """Write what follows ``prompt``.

        A search that is unclosed, nested, empty or far too long, or that finds nothing, is removed
        from the text, and the model goes on without it. Raises what ``ask`` raises.
        """
        text = ""
        while self._tokens < self.max_tokens:
            may_open = len(self._searches) < self.max_calls
            stops = (_OPENING, *self.ends) if may_open else self.ends
            tokens = self.max_tokens - self._tokens
            reply = await self.ask(prompt + text, tokens, stops[:_MOST_STOPS])
            piece, is_open = self._read(reply, may_open)
            self._charge(reply, len(piece))
            text += piece
            if not is_open:
                break
            text = await self._search(prompt, text)
        return DecodedText(text, (*self._searches, *self._left(text)))

    def _charge(self, reply: Reply, kept_chars: int) -> None:
        """Count only what was kept of a reply: a server without stop strings writes to its limit.

        The number of requests is bounded anyway: each but the last opens one of the searches.
        """
        tokens = reply.usage.completion_tokens or len(reply.text) / _CHARS_PER_TOKEN
        share = kept_chars / len(reply.text) if reply.text else 1.0
        self._tokens += max(1, math.ceil(tokens * share))

    def _read(self, reply: Reply, may_open: bool) -> tuple[str, bool]:
        """What a reply adds before it ends or opens a search, and whether it opens one.

        Replies of servers without stop strings are read as if they had stopped there.
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
        """The text with the search just opened and its answer, or without it if that failed."""
        bare = text.rstrip(" ")
        text = bare.removesuffix(calls.OPEN) if bare.endswith(calls.OPEN) else text
        query = ""
        try:
            query = await self._query(prompt + text)
            answer = await self.find(query if self.query is None else self.query, text)
        except NotFoundError as problem:
            self._searches.append(SearchCall(len(text), query, note=str(problem)))
            return text
        self._searches.append(SearchCall(len(text), query or self.query or "", answer))
        return text + calls.written(query, answer)

    async def _query(self, so_far: str) -> str:
        """The model's query; empty if the query is fixed. Raises NotFoundError."""
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

    def _left(self, text: str) -> tuple[SearchCall, ...]:
        """A note on searches that the model wrote when no more were answered."""
        offsets = {one.offset for one in self._searches}
        rest = [call for call in calls.whole_calls(text) if call.start not in offsets]
        if not rest or not self.max_calls:
            return ()
        more = f"{len(rest)} more searches were not made: at most {self.max_calls} are."
        return (SearchCall(rest[0].start, rest[0].query, note=more),)
