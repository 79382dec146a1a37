"""Saving one exploration: in the journal at every step, in its notebook unless a tab does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from exploracoder.errors import SetupError
from exploracoder.state import Exploration

from exploracoder_jupyter.journal import Entry, Heading, Journal
from exploracoder_jupyter.leases import Lease, Tab
from exploracoder_jupyter.notebook_file import NotebookFile
from exploracoder_jupyter.protocol import Held
from exploracoder_jupyter.services import Services

# A tab that is told that the exploration closes ends the save that is under way, and says so.
_PATIENCE_SECONDS = 2.0

MakeHeading = Callable[[Exploration, str, int], Heading]


class Keeper:
    """Saves the states of an exploration in their order, one at a time.

    What cannot be written is no reason to stop the work: ``trouble`` says it, and the next step is
    written again.

    Args:
        services: The server's managers.
        journal: Where every state goes.
        path: The notebook's.
        exploration: Its id.
        heading: Makes the journal's heading of an exploration, its path and its revision.
        moved_to: Where the notebook may be now that it is not at its path.
    """

    def __init__(
        self,
        services: Services,
        journal: Journal,
        path: str,
        exploration: str,
        *,
        heading: MakeHeading,
        moved_to: Callable[[], Awaitable[str | None]],
    ) -> None:
        self._services = services
        self._journal = journal
        self._file = NotebookFile(services, path)
        self._heading = heading
        self._moved_to = moved_to
        self._id = exploration
        self._lease = Lease(exploration, self._take_over)
        self._writing = asyncio.Lock()
        self._latest: tuple[Exploration, int] | None = None
        self._in_journal = -1
        self._tasks: set[asyncio.Future[None]] = set()
        self._is_closed = False
        self.trouble = ""

    @property
    def path(self) -> str:
        """The notebook's path."""
        return self._file.path

    @property
    def revision(self) -> int:
        """The revision on disk, as far as the server knows."""
        return self._file.revision

    @property
    def is_written(self) -> bool:
        """Whether the notebook was ever written, or found."""
        return self._file.revision > 0

    async def save(self, exploration: Exploration, revision: int) -> None:
        """Write a state; a cancelled caller does not leave it half-written."""
        self._latest = exploration, revision
        await asyncio.shield(self._write_soon())

    async def hold(self, tab: Tab) -> Held:
        """Let a tab save the notebook, once what is being written is there."""
        async with self._writing:
            is_held = not self._is_closed and self._lease.take(tab)
        return Held(id=self._id, is_held=is_held, revision=self._file.revision)

    def expect_tab(self) -> None:
        """A tab is about to say that it holds the notebook."""
        self._lease.expect()

    def release(self, tab: Tab) -> None:
        """A tab saves the notebook no more."""
        self._lease.release(tab)

    def lose(self, tab: Tab) -> None:
        """A tab's connection is gone."""
        self._lease.lose(tab)

    async def close(self, exploration: Exploration, revision: int) -> None:
        """Take the notebook back and write the last state; nothing is written after that."""
        await self._lease.close(_PATIENCE_SECONDS)
        await self.save(exploration, revision)
        self._is_closed = True

    def _take_over(self) -> None:
        """No tab saves the notebook any more."""
        self._write_soon()

    def _write_soon(self) -> asyncio.Future[None]:
        task = asyncio.ensure_future(self._write())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _write(self) -> None:
        async with self._writing:
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
        entry = Entry(self._heading(exploration, self.path, revision), exploration)
        await asyncio.to_thread(self._journal.write, entry)
        self._in_journal = revision

    async def _write_notebook(self, exploration: Exploration, revision: int) -> None:
        if self._lease.is_held or self._file.revision == revision:
            return
        await self._file.write(exploration, revision)

    async def _follow(self) -> None:
        """The user may have renamed the notebook, or moved it."""
        if self._in_journal < 0 or await self._services.is_file(self.path):
            return
        moved = await self._moved_to()
        if moved is not None and moved != self.path and await self._services.is_file(moved):
            self._file.path = moved
