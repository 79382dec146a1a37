"""Saving one exploration: in the journal and in its notebook, at every step."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from exploracoder.errors import SetupError
from exploracoder.state import Exploration

from exploracoder_jupyter.journal import Journal, JournalEntry, JournalHeading
from exploracoder_jupyter.notebook_file import NotebookFile, WrittenNotebook
from exploracoder_jupyter.services import Services

_RENAME_SECONDS = 1.0

MakeHeading = Callable[[Exploration, str, int], JournalHeading]


class NotebookKeeper:
    """Saves the states of an exploration in order, one at a time.

    A failed write does not stop the work: ``trouble`` describes it, and the next step is written
    again.

    Args:
        services: The server's managers.
        journal: Where every state goes.
        path: The notebook's path.
        heading: Makes the journal's heading from an exploration, its path and its revision.
        moved_to: Returns the path that the notebook may have moved to.
        on_move: Called once the notebook was found at another path.
    """

    def __init__(
        self,
        services: Services,
        journal: Journal,
        path: str,
        *,
        heading: MakeHeading,
        moved_to: Callable[[], Awaitable[str | None]],
        on_move: Callable[[], None],
    ) -> None:
        self._services = services
        self._journal = journal
        self._file = NotebookFile(services, path)
        self._heading = heading
        self._moved_to = moved_to
        self._on_move = on_move
        self._write_lock = asyncio.Lock()
        self._latest: tuple[Exploration, int] | None = None
        self._in_journal = -1
        self._tasks: set[asyncio.Future[None]] = set()
        self._following: asyncio.Future[None] | None = None
        self._is_closed = False
        self.trouble = ""

    @property
    def path(self) -> str:
        """The notebook's path."""
        return self._file.path

    @property
    def is_written(self) -> bool:
        """Whether the notebook has ever been written or found."""
        return self._file.revision > 0

    async def save(self, exploration: Exploration, revision: int) -> None:
        """Write a state; cancelling the caller does not leave it half-written."""
        self._latest = exploration, revision
        await asyncio.shield(self._write_soon())

    async def follow(self, new_path: str | None = None) -> None:
        """Find the notebook if it was renamed or moved, perhaps to ``new_path``."""
        async with self._write_lock:
            await self._follow_and_note(new_path)

    def follow_soon(self) -> None:
        """`follow` in the background; errors are logged."""
        if self._following is None or self._following.done():
            self._following = self._keep(self._follow_quietly())

    async def take(
        self, path: str, notebook: Mapping[str, Any], base: Mapping[str, str]
    ) -> WrittenNotebook:
        """Save a tab's version of the notebook; see `NotebookFile.take`.

        Raises SetupError when it cannot be written.
        """
        async with self._write_lock:
            await self._follow_and_note(path)
            if self._latest is None:
                raise SetupError("Nothing of this exploration has been saved yet. Try again.")
            return await self._file.take(notebook, base, *self._latest)

    async def close(self, exploration: Exploration, revision: int) -> None:
        """Write the last state; nothing is written after that."""
        await self.save(exploration, revision)
        self._is_closed = True

    def _write_soon(self) -> asyncio.Future[None]:
        return self._keep(self._write())

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _follow_quietly(self) -> None:
        try:
            await self.follow()
        except Exception:
            self._services.log.exception("The notebook %r cannot be looked for.", self.path)

    async def _write(self) -> None:
        async with self._write_lock:
            if self._latest is None or self._is_closed:
                return
            exploration, revision = self._latest
            troubles = [
                await self._tried(self._write_journal(exploration, revision)),
                await self._tried(self._write_notebook(exploration, revision)),
            ]
            self.trouble = " ".join(trouble for trouble in troubles if trouble)

    async def _tried(self, write: Awaitable[None]) -> str:
        try:
            await write
        except SetupError as error:
            self._services.log.warning("%s", error)
            return str(error)
        return ""

    async def _write_journal(self, exploration: Exploration, revision: int) -> None:
        await self._follow()
        if self._in_journal == revision:
            return
        entry = JournalEntry(self._heading(exploration, self.path, revision), exploration)
        await asyncio.to_thread(self._journal.write, entry)
        self._in_journal = revision

    async def _write_notebook(self, exploration: Exploration, revision: int) -> None:
        if self._file.revision != revision:
            await self._file.write(exploration, revision)

    async def _follow_and_note(self, new_path: str | None) -> None:
        old_path = self.path
        await self._follow(new_path)
        if self.path != old_path and self._latest is not None and not self._is_closed:
            await self._tried(self._write_journal(*self._latest))

    async def _follow(self, new_path: str | None = None) -> None:
        """Update the path if the user has renamed or moved the notebook."""
        if self._in_journal < 0 or await self._services.is_file(self.path):
            return
        new_path = new_path or await self._moved_to()
        if new_path in (None, self.path):
            # After a rename, the notebook's session is updated a moment later.
            await asyncio.sleep(_RENAME_SECONDS)
            new_path = await self._moved_to()
        if (
            new_path is not None
            and new_path != self.path
            and await self._services.is_file(new_path)
        ):
            self._file.path = new_path
            # The journal has the old path.
            self._in_journal = 0
            self._on_move()
