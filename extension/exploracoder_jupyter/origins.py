"""Where a resumed exploration comes from: which state, which Python, whose variables.

A notebook may come from anyone, and may have been edited: nothing that it names is started or
asked unless the journal or the server knows it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

from exploracoder.errors import InputError
from exploracoder.texts import Text
from exploracoder.user_variables import Source

from exploracoder_jupyter import notebook_file
from exploracoder_jupyter.errors import UnknownError
from exploracoder_jupyter.journal import JournalEntry, heading_of, is_id
from exploracoder_jupyter.workshop import Workshop


class Origins:
    """Finds what is needed to resume an exploration."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def latest(self, path: str, open_paths: dict[str, str]) -> tuple[JournalEntry, bool]:
        """The newer of the states in a notebook and the journal, and whether it is the journal's.

        A copy of a notebook whose original still exists becomes another exploration;
        ``open_paths`` has the paths of the open explorations, by id.

        Raises UnknownError when there is neither, InputError when the notebook is damaged.
        """
        journal, services = self._workshop.journal, self._workshop.services
        if not await services.is_file(path):
            entry = await asyncio.to_thread(journal.find, path)
            if entry is None:
                raise UnknownError(Text("There is no notebook %1.", repr(path)))
            return entry, True
        try:
            notebook = await notebook_file.load(services, path)
        except InputError:
            # A crash may have left it half-written.
            entry = await asyncio.to_thread(journal.find, path)
            if entry is None:
                raise
            return entry, True
        exploration = notebook.exploration
        entry = (
            await asyncio.to_thread(journal.read, exploration.id) if is_id(exploration.id) else None
        )
        home = open_paths.get(exploration.id) or (entry.heading.path if entry else path)
        is_there = await self._is_file(home)
        if not is_id(exploration.id) or (home != path and is_there):
            exploration, entry = exploration.model_copy(update={"id": uuid4().hex}), None
        if entry is None:
            return JournalEntry(
                heading_of(exploration, path, notebook.revision), exploration
            ), False
        revision = max(notebook.revision, entry.heading.revision)
        is_newer = notebook.revision > entry.heading.revision
        heading = entry.heading.model_copy(update={"revision": revision})
        return JournalEntry(heading, exploration if is_newer else entry.exploration), not is_newer

    async def _is_file(self, path: str) -> bool:
        """Whether there is a file at a path; one in full is outside the server's folder."""
        if Path(path).is_absolute():
            return await asyncio.to_thread(Path(path).is_file)
        return await self._workshop.services.is_file(path)

    async def python_of(self, entry: JournalEntry) -> str:
        """The Python that an exploration ran in, if it may be started; otherwise its kernelspec's.

        Raises InputError when there is none.
        """
        pythons = self._workshop.pythons
        journal_entry = await asyncio.to_thread(self._workshop.journal.read, entry.heading.id)
        then = journal_entry.exploration.python if journal_entry is not None else ""
        if not then and entry.exploration.python in await pythons.all():
            then = entry.exploration.python
        if then:
            try:
                await pythons.interpreter(then)
                return then
            except InputError:
                # It has since been removed.
                pass
        return await pythons.of_kernel(entry.heading.kernel_name)

    def source(self, kernel_id: str | None, names: tuple[str, ...]) -> Source | None:
        """The running kernel to bring variables from; None if there are no ``names``.

        Raises InputError when no kernel is named, UnknownError when it is not running.
        """
        if not names:
            return None
        if kernel_id is None:
            raise InputError("Variables were chosen, but no kernel that has them.")
        return Source(self._connection_file(kernel_id), names)

    async def source_of(self, entry: JournalEntry) -> Source | None:
        """The current kernel of the notebook that variables came from; None if there were none.

        Raises InputError when it is not running.
        """
        variables = entry.exploration.brought.variables
        if not variables:
            return None
        path, services = entry.heading.source_path, self._workshop.services
        kernel = await services.kernel_of_path(path) if path else None
        if kernel is not None and kernel in services.kernels:
            return Source(self._connection_file(kernel))
        names = ", ".join(one.name for one in variables)
        where = repr(path) if path else "the notebook that had them"
        raise InputError(
            Text(
                "It started with variables of a running kernel (%1). Open %2, run its cells, and"
                " resume again.",
                names,
                where,
            )
        )

    def _connection_file(self, kernel_id: str) -> str:
        """The connection file of a kernel; raises unless it is one of this server's."""
        services = self._workshop.services
        if kernel_id not in services.kernels:
            raise UnknownError("The kernel that had the variables is not running any more.")
        file = str(getattr(services.kernels.get_kernel(kernel_id), "connection_file", "") or "")
        if services.is_remote or not file:
            raise InputError("Variables can be brought from kernels of this machine only.")
        return file
