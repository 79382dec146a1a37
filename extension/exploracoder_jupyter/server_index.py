"""The server's index, written and searched in threads.

Sessions search one handle, and libraries are added through another: readers never wait for writers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from exploracoder.state import Library, RankedApi
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.errors import (
    EmbeddingError,
    IndexUnavailable,
    LibraryNotFound,
    RetrievalError,
)
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter

from exploracoder_jupyter.errors import UnknownError
from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.protocol import LibraryEvent

OpenIndex = Callable[[], Index]
_TELL_EVERY_SECONDS = 0.2
_STAGES = {"read": "Reading the source", "embed": "Indexing the docs"}


class ServerIndex:
    """Opens the index on first use.

    Args:
        open_index: Opens the index; called in a thread.
        events: Where progress is published.
    """

    def __init__(self, open_index: OpenIndex, events: EventLog) -> None:
        self._open_index = open_index
        self._events = events
        self._open_lock = asyncio.Lock()
        self._reader: Index | None = None
        self._writer: Index | None = None
        self._turns: dict[str, asyncio.Lock] = {}

    async def reader(self) -> Index:
        """The index to search in. Raises SetupError when it cannot be opened."""
        async with self._open_lock:
            if self._reader is None:
                self._writer = await asyncio.to_thread(self._open_index)
                self._reader = await asyncio.to_thread(self._open_index)
            return self._reader

    async def view(self) -> Index:
        """The index for one exploration, which sees its libraries as its kernel has them.

        Raises SetupError when it cannot be opened.
        """
        return (await self.reader()).view()

    async def names(self) -> frozenset[str]:
        """The names of the indexed libraries; empty if the index cannot be read."""
        try:
            return await asyncio.to_thread((await self.reader()).names)
        except (RetrievalError, SetupError):
            return frozenset()

    async def put(
        self, target: str, interpreter: Interpreter, view: Index | None = None
    ) -> Library:
        """Bring the index, and ``view`` if given, up to date for a library; publishes progress.

        Raises InputError for an unusable library, SetupError when the index cannot be written.
        """
        async with self._turns.setdefault(target, asyncio.Lock()):
            try:
                library = await self._put(target, interpreter, view or await self.reader())
            except (InputError, SetupError) as error:
                self._tell(target, "", error=str(error))
                raise
        self._tell(target, f"{library.apis} APIs")
        return library

    async def search(self, query: str, libraries: Sequence[str], k: int) -> tuple[RankedApi, ...]:
        """The best APIs for a query.

        Raises UnknownError when a library is not indexed, SetupError when there are no vectors.
        """
        index = await self.reader()
        try:
            hits = await asyncio.to_thread(index.search, query, list(libraries), k)
        except LibraryNotFound as error:
            raise UnknownError(str(error)) from error
        except RetrievalError as error:
            raise SetupError(str(error)) from error
        return tuple(RankedApi(doc=hit.doc, score=hit.score, is_kept=True) for hit in hits)

    def close(self) -> None:
        """Close the index, if it is open."""
        for index in (self._reader, self._writer):
            if index is not None:
                index.close()
        self._reader = self._writer = None

    async def _put(self, target: str, interpreter: Interpreter, reader: Index) -> Library:
        writer = self._writer
        assert writer is not None, "both are opened together"
        loop = asyncio.get_running_loop()

        def tell(message: str) -> None:
            loop.call_soon_threadsafe(self._tell, target, message, False)

        try:
            return await asyncio.to_thread(_read, reader, writer, target, interpreter, tell)
        except (IndexUnavailable, EmbeddingError) as error:
            raise SetupError(str(error)) from error
        except RetrievalError as error:
            raise InputError(str(error)) from error

    def _tell(self, target: str, message: str, is_done: bool = True, error: str = "") -> None:
        self._events.publish(
            lambda number: LibraryEvent(
                number=number, target=target, message=message, is_done=is_done, error=error
            )
        )


def _read(
    reader: Index,
    writer: Index,
    target: str,
    interpreter: Interpreter,
    tell: Callable[[str], None],
) -> Library:
    if not reader.is_current(target, interpreter):
        ensure(target, interpreter, writer, _Meter(tell))
    info = ensure(target, interpreter, reader)
    # Warm up: the first search loads what searching needs, which takes seconds.
    with suppress(RetrievalError):
        reader.search("first", [info.name], 1)
    return Library(
        name=info.name,
        import_name=info.import_name,
        version=info.version,
        apis=len(reader.docs(info.name)),
    )


class _Meter:
    """Reports the progress of indexing a library, at most a few times a second."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._last_report = 0.0

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        now = time.monotonic()
        if now - self._last_report < _TELL_EVERY_SECONDS:
            return
        self._last_report = now
        self._tell(f"{_STAGES.get(stage, stage)}: {done} of {total}")


def short(target: str) -> str:
    """A library's name, or the last part of its path."""
    return Path(target).name or target
