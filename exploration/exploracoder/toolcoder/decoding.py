"""Algorithm 1: a model writes, is stopped where it opens a search, and goes on with the answer.

Source: ToolCoder, section 3.4, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exploracoder.models.tools import MAX_CALLS
from exploracoder.toolcoder import calls

if TYPE_CHECKING:
    from exploracoder.models.chat import Reply

# What follows the prompt, at most so many tokens of it, up to the first of some strings.
Ask = Callable[[str, int, Sequence[str]], Awaitable["Reply"]]
Find = Callable[[str], Awaitable[str]]

QUERY_TOKENS = 64
# A server does not say which string a text was stopped at. So the one that opens a search begins
# inside its word, and the one that closes the query inside the arrow: what stands before tells.
_HEAD, _OPENING = "AP", "ISearch("
_CLOSING = "->"
_CHARS_PER_TOKEN = 4


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
        find: Answers a query; raises NotFoundError.
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
            reply = await self._asked(prompt + text, self.max_tokens - self._used, stops)
            piece, is_open = self._read(reply, may_open)
            text += piece
            if not is_open:
                break
            text = await self._search(prompt, text)
        return Decoded(text, (*self._searches, *self._left(text)))

    async def _asked(self, prompt: str, tokens: int, stops: Sequence[str]) -> Reply:
        reply = await self.ask(prompt, tokens, stops)
        spent = reply.usage.completion_tokens or len(reply.text) // _CHARS_PER_TOKEN
        # Each request counts as something, so that the loop ends whatever a server says.
        self._used += max(1, spent)
        return reply

    def _read(self, reply: Reply, may_open: bool) -> tuple[str, bool]:
        """What a reply adds before it ends or opens a search, and whether it opens one.

        Servers that know no stop strings are read as if they did.
        """
        text = reply.text
        ends = [place for end in self.ends if (place := text.find(end)) >= 0]
        end = min(ends, default=len(text))
        opened = text.find(calls.NAME) if may_open else -1
        if 0 <= opened < end:
            return text[:opened], True
        is_stopped = reply.finish_reasons[:1] == ("stop",) and not ends
        if may_open and is_stopped and text.endswith(_HEAD):
            return text.removesuffix(_HEAD), True
        return text[:end], False

    async def _search(self, prompt: str, text: str) -> str:
        """The text with the search that was just opened and its answer, or without it."""
        text = text.rstrip(" ").removesuffix(calls.OPEN) if _ends_in_mark(text) else text
        query = ""
        try:
            query = await self._query(prompt + text)
            answer = await self.find(query if self.query is None else self.query)
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
        reply = await self._asked(so_far + calls.OPEN + calls.NAME, QUERY_TOKENS, stops)
        places = [place for stop in stops if (place := reply.text.find(stop)) >= 0]
        said = reply.text[: min(places, default=len(reply.text))].strip()
        query = " ".join(said.removesuffix(")").split()).strip("'\" ")
        if not said.endswith(")"):
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
        made = {one.offset for one in self._searches}
        left = [call for call in calls.whole_calls(text) if call.start not in made]
        if not left or not self.max_calls:
            return ()
        more = f"{len(left)} more searches were not made: at most {self.max_calls} are."
        return (Made(left[0].start, left[0].query, note=more),)


def _ends_in_mark(text: str) -> bool:
    return text.rstrip(" ").endswith(calls.OPEN)
