"""Lookups in the source of libraries, done in threads; opened libraries are kept for the next one.

Asking again only costs a check of each file's size and time. Changed files are read again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder.repositories import Repositories
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.six_tools import Limits, RepositoryTools
from exploracoder_retrieval.repotools.tool_answers import Answer
from exploracoder_retrieval.repotools.user_lookups import found_in, look_up

from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.protocol import LibraryEvent, LookedUp, Lookup, LookupAnswer

_LIMITS = Limits(results=10, lines=300)
_MOST_OPEN = 4
# The most text of one result and of an answer: somebody reads them in a narrow sidebar.
_MOST_TEXT_CHARS = 20_000
_MOST_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Place:
    """A library as the user named it, what that resolves to, and the Python that has it."""

    name: str
    target: Target
    interpreter: Interpreter


@dataclass(frozen=True, slots=True)
class _OpenSource:
    """The opened source of one library, its progress, and a lock for one question at a time."""

    repositories: Repositories
    progress: _ReadingProgress
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class _ReadingProgress:
    """Tells tabs the progress and the end of reading a library."""

    def __init__(self, name: str, events: EventLog) -> None:
        self._name = name
        self._events = events
        self._loop = asyncio.get_running_loop()
        self._is_told = False

    def __call__(self, message: str) -> None:
        """Publish progress; called in the reading thread."""
        self._loop.call_soon_threadsafe(self._tell, message, False)

    def end(self) -> None:
        """Publish the end, unless the library did not have to be read."""
        if self._is_told:
            self._tell("", True)

    def _tell(self, message: str, is_done: bool) -> None:
        self._is_told = not is_done
        self._events.publish(
            lambda number: LibraryEvent(
                number=number, target=self._name, message=message, is_done=is_done
            )
        )


class Lookups:
    """Answers questions about the source of libraries.

    Args:
        events: Where the progress of reading a library is published.
    """

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._open_sources: OrderedDict[tuple[str, Path], _OpenSource] = OrderedDict()

    async def ask(self, lookup: Lookup, places: Sequence[Place]) -> LookupAnswer:
        """Look up in all the libraries; ``problems`` says why one has no answer."""
        return _joined([await self._ask(lookup, place) for place in places])

    async def _ask(self, lookup: Lookup, place: Place) -> LookupAnswer:
        source = self._open(place)
        async with source.turn:
            try:
                return await asyncio.to_thread(_answer, lookup, place, source.repositories)
            finally:
                source.progress.end()

    def _open(self, place: Place) -> _OpenSource:
        key = (str(place.interpreter.executable), place.target.root)
        if key not in self._open_sources:
            progress = _ReadingProgress(place.name, self._events)
            repositories = Repositories(place.interpreter, progress, _LIMITS)
            self._open_sources[key] = _OpenSource(repositories, progress)
        self._open_sources.move_to_end(key)
        while len(self._open_sources) > _MOST_OPEN:
            self._open_sources.popitem(last=False)
        return self._open_sources[key]


def _answer(lookup: Lookup, place: Place, repositories: Repositories) -> LookupAnswer:
    try:
        tools = repositories.tools(place.target)
        answer = look_up(tools, lookup.kind, lookup.text)
    except (InputError, RetrievalError) as error:
        return LookupAnswer(found=(), problems=(str(error),))
    return LookupAnswer(
        found=tuple(_found(answer, tools, place.target.name)),
        left_out=answer.left_out,
        skipped=len(answer.skipped) + answer.skipped_left_out,
    )


def _found(answer: Answer, tools: RepositoryTools, library: str) -> list[LookedUp]:
    return [
        LookedUp(
            library=library,
            name=one.name,
            text=_cut(one.text),
            place=one.file or "",
            file=_text_of(tools.path(one.file) if one.file else None),
            line=one.line,
        )
        for one in found_in(answer)
    ]


def _cut(text: str) -> str:
    more = len(text) - _MOST_TEXT_CHARS
    return text if more <= 0 else f"{text[:_MOST_TEXT_CHARS]}\n… {more} more characters"


def _text_of(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _joined(answers: Sequence[LookupAnswer]) -> LookupAnswer:
    """Join several answers into one; results beyond the limit are only counted."""
    matches = [one for answer in answers for one in answer.found]
    kept_matches: list[LookedUp] = []
    chars = 0
    for one in matches:
        chars += len(one.text)
        if chars > _MOST_CHARS:
            break
        kept_matches.append(one)
    return LookupAnswer(
        found=tuple(kept_matches),
        left_out=sum(one.left_out for one in answers) + len(matches) - len(kept_matches),
        problems=tuple(problem for one in answers for problem in one.problems),
        skipped=sum(one.skipped for one in answers),
    )
