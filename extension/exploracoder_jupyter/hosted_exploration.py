"""One exploration that lives in the server, with its session and kernel opened on demand."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from exploracoder import commands as c
from exploracoder.abilities import abilities_of, check
from exploracoder.errors import CommandError, ExploraCoderError, SetupError
from exploracoder.events import Abilities, Progress
from exploracoder.live_session import LiveSession
from exploracoder.opening import Opening, Scratch
from exploracoder.state import Exploration, Library
from exploracoder.texts import Text, words_of
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import CellRun
from exploracoder_kernel.run_limits import Limits
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index

from exploracoder_jupyter.exploration_saving import NotebookKeeper
from exploracoder_jupyter.journal import JournalHeading, heading_of
from exploracoder_jupyter.kernels import Ears, SidecarKernel
from exploracoder_jupyter.protocol import OpenExploration, Summary
from exploracoder_jupyter.server_index import short
from exploracoder_jupyter.tab_updates import Teller
from exploracoder_jupyter.workshop import Recipe, Workshop

# How long a manager takes to forget a kernel that is being shut down on purpose.
_SETTLE_SECONDS = 1.0
_STOP_SECONDS = 10.0


class HostedExploration:
    """Opens the session on demand, and reopens it when its kernel is lost.

    Args:
        exploration: A new exploration, or one to resume.
        workshop: What all explorations of the server share.
        recipe: What this one is made with.
        path: The path of its notebook.
        mode: Whether the user reviews each step.
        revision: The revision of ``exploration``; 0 for a new one.
    """

    def __init__(
        self,
        exploration: Exploration,
        *,
        workshop: Workshop,
        recipe: Recipe,
        path: str,
        mode: c.Mode,
        revision: int = 0,
    ) -> None:
        self.id = exploration.id
        self._workshop = workshop
        self._recipe = recipe
        self._live: LiveSession | None = None
        self._model = workshop.model(exploration.choice)
        ears = Ears(self._take_run, self._lose_kernel)
        self._kernel = SidecarKernel(workshop.services, recipe.wishes, ears)
        self.keeper = NotebookKeeper(
            workshop.services,
            workshop.journal,
            path,
            heading=self._heading,
            moved_to=self._path_of_kernel,
            on_move=self._tell_move,
        )
        self._teller = Teller(
            exploration,
            Progress(mode=mode),
            revision=revision,
            events=workshop.events,
            path=lambda: self.path,
            kernel_id=lambda: self._kernel.id,
            troubles=lambda: (self._trouble, self.keeper.trouble),
            abilities=self._abilities,
        )
        self._open_task: asyncio.Task[None] | None = None
        self._trouble = ""
        self._was_revived = False
        self._is_closed = False
        self._has_ended = asyncio.Event()
        self._tasks: set[asyncio.Future[None]] = set()

    @property
    def path(self) -> str:
        """Its notebook's path."""
        return self.keeper.path

    @property
    def python(self) -> str:
        """The interpreter that its code runs in."""
        return self._recipe.python

    @property
    def exploration(self) -> Exploration:
        """The exploration as last published."""
        return self._teller.exploration

    @property
    def progress(self) -> Progress:
        """The progress of the work as last published."""
        return self._teller.progress

    @property
    def is_resting(self) -> bool:
        """Whether no work is under way and no cell is running in its kernel."""
        return self.progress.activity != "working" and not self._kernel.is_busy

    @property
    def _is_opening(self) -> bool:
        return self._open_task is not None and not self._open_task.done()

    async def start(self) -> None:
        """Write the notebook and start its kernel, so that a tab can open both.

        Raises SetupError when either fails.
        """
        await self._save(self._teller.now)
        if not self.keeper.is_written:
            raise SetupError(self.keeper.trouble)
        await self._kernel.start(self.path)
        self._teller.publish("open")

    def begin(self, command: c.Command | None = None) -> None:
        """Open the session in the background, then do a command; the progress reports errors."""
        self._teller.say(activity="working", message="Starting", error="")
        self._open_task = asyncio.ensure_future(self._open(command))

    async def do(self, command: c.Command, revision: int | None = None) -> int:
        """Take a command, and return the number of the last event so far.

        Args:
            command: What to do.
            revision: The revision that its sender has seen; None for the latest.

        Raises CommandError when it cannot be taken now, or its subtask has changed since
        ``revision``, InputError when it names something that does not exist.
        """
        if self._is_closed:
            raise CommandError("This exploration is closed. Resume it first.")
        if (
            revision is not None
            and self._teller.changed_at(getattr(command, "subtask", "")) > revision
        ):
            raise CommandError("This subtask has changed meanwhile. Look at it again, then decide.")
        if self._live is not None:
            await self._live.do(command)
            # Let the work begin, so that the progress already says so.
            await asyncio.sleep(0)
        else:
            await self._do_unopened(command)
        self._was_revived, self._trouble = False, ""
        self._teller.flush()
        return self._workshop.events.last

    async def idle(self) -> None:
        """Wait until no work is under way."""
        while self._open_task is not None and not self._open_task.done():
            await asyncio.wait({self._open_task})
        if self._live is not None:
            await self._live.idle()

    def snapshot(self, *, was_resumed: bool = False) -> OpenExploration:
        """The exploration as it stands, once pending changes are published."""
        teller, events = self._teller, self._workshop.events
        teller.flush()
        return OpenExploration(
            exploration=teller.exploration,
            path=self.path,
            kernel_id=self._kernel.id,
            revision=teller.revision,
            progress=teller.progress,
            abilities=teller.abilities,
            number=events.last,
            epoch=events.epoch,
            cells=tuple(teller.cells),
            resumed=was_resumed,
            warning=teller.warning,
            source_path=self._recipe.source_path,
            origin=self._recipe.origin,
        )

    def summary(self) -> Summary:
        """The exploration's line in a list."""
        self._teller.flush()
        heading = self._heading(self.exploration, self.path, self._teller.revision)
        fields = heading.model_dump(include=set(Summary.model_fields))
        return Summary(**fields, is_open=True, progress=self.progress)

    async def close(self) -> None:
        """Stop the work, save, and shut down the kernel."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._stop_opening()
            await self._stop_live()
            self._teller.flush()
        finally:
            try:
                self._teller.publish("closed")
                await self._finish()
            finally:
                self._has_ended.set()

    async def closed(self) -> None:
        """Wait until `close`, which was called before, is over."""
        await self._has_ended.wait()

    async def _finish(self) -> None:
        try:
            await self.keeper.close(self._teller.now, self._teller.revise(self._teller.now))
        finally:
            await self._kernel.stop()
            await self._model.aclose()

    async def _do_unopened(self, command: c.Command) -> None:
        if isinstance(command, c.Cancel):
            await self._stop_opening()
        elif isinstance(command, c.SetMode):
            self._teller.say(mode=command.mode)
        elif self._is_opening and self._teller.is_working:
            activity = self.progress.message or "starting"
            raise CommandError(
                Text("It is being opened (%1). Wait, or cancel that first.", activity)
            )
        elif self._is_opening:
            # The opening was cancelled, and that is being saved.
            await self.idle()
            await self.do(command)
        else:
            check(command, self.exploration, self.progress)
            self.begin(command)

    def _abilities(self, exploration: Exploration, progress: Progress) -> Abilities:
        if self._live is None and progress.activity == "working":
            # While the session opens, it can only be cancelled.
            return {"": ("cancel",)}
        return abilities_of(exploration, progress)

    async def _open(self, command: c.Command | None) -> None:
        try:
            await self._open_session(command)
        except asyncio.CancelledError:
            self._teller.rest("", message="Cancelled")
            raise
        except (ExploraCoderError, SidecarError, RetrievalError) as error:
            self._teller.rest(words_of(error))
        except Exception:
            self._workshop.services.log.exception("Exploration %s could not be opened.", self.id)
            self._teller.rest("Something went wrong on the server; its log has the details.")
        finally:
            await self._save(self._teller.now)

    async def _open_session(self, command: c.Command | None) -> None:
        say = self._teller.say
        exploration = self._teller.now
        index = await self._workshop.index.view()
        libraries = await self._libraries(exploration, index)
        say(message="Starting the scratch kernel")
        before = self._kernel.id
        await self._kernel.start(self.path)
        if self._kernel.id != before:
            # Notebooks attach to the new one at once.
            self._teller.publish("changed")
        # Kept examples record it as their origin, by which a resume in a terminal knows them.
        path = self._workshop.services.root / self.path
        notebook = await asyncio.to_thread(os.path.realpath, path)
        live = LiveSession(
            exploration.model_copy(update={"libraries": libraries}),
            model=self._model,
            index=index,
            opening=Opening(self._recipe.python, self._scratch, self._recipe.source, notebook),
            save=self._save,
            mode=self.progress.mode,
            on_progress=self._hear,
            on_text=self._teller.stream,
        )
        await live.__aenter__()
        self._live = live
        # A lost or saved exploration may need the user's decision before it can go on.
        is_asked = isinstance(command, c.GoOn) and "go_on" not in live.abilities.get("", ())
        if command is not None and not is_asked:
            await live.do(command)
            await asyncio.sleep(0)
        self._teller.hear(live.exploration, live.progress)

    def _hear(self, exploration: Exploration, progress: Progress) -> None:
        if self._live is None and self._is_opening:
            # Opening counts as work, whatever the session reports.
            progress = progress.model_copy(update={"activity": "working"})
        self._teller.hear(exploration, progress)

    async def _libraries(self, exploration: Exploration, index: Index) -> tuple[Library, ...]:
        """Index the task's libraries; what prompts say about them stays unchanged."""
        workshop, by_name = self._workshop, {one.name: one for one in exploration.libraries}
        interpreter = await workshop.pythons.interpreter(self._recipe.python)
        libraries = []
        for target in exploration.task.libraries:
            self._teller.say(message=Text("Reading the docs of %1", short(target)))
            library = await workshop.index.put(target, interpreter, index)
            old = by_name.get(library.name)
            old_fields = {"summary": old.summary, "examples": old.examples} if old else {}
            libraries.append(library.model_copy(update=old_fields))
        return tuple(libraries)

    @asynccontextmanager
    async def _scratch(self, limits: Limits, env: dict[str, str]) -> AsyncIterator[Scratch]:
        # ``env`` is unused: the kernel was already started with the environment it needs.
        async with self._kernel.opened(limits) as scratch:
            yield scratch

    async def _stop_opening(self) -> None:
        if self._open_task is not None and self._is_opening:
            self._open_task.cancel()
            await asyncio.wait({self._open_task})

    async def _stop_live(self) -> None:
        live, self._live = self._live, None
        if live is None:
            return
        stopping = asyncio.ensure_future(live.__aexit__(None, None, None))
        await asyncio.wait({stopping}, timeout=_STOP_SECONDS)
        if not stopping.done():
            # Its kernel is stopped next, and with it whatever the session waits for.
            self._workshop.services.log.warning("Exploration %s does not stop.", self.id)
            self._tasks.add(stopping)
            stopping.add_done_callback(self._tasks.discard)
        elif error := stopping.exception():
            self._workshop.services.log.warning("Exploration %s: %s", self.id, error)

    def _take_run(self, run: CellRun) -> None:
        if self._live is not None:
            arguments = run.subtask, run.code, run.branch, run.observation
            self._spawn(self._live.take_run(*arguments))

    def _lose_kernel(self, why: str) -> None:
        if self._live is not None and not self._is_closed:
            self._spawn(self._revive(why))

    async def _revive(self, why: str) -> None:
        """Reopen with a new kernel: automatically just once, and never after a shutdown."""
        was_working = self._live is not None and self._live.is_working
        await self._stop_live()
        self._teller.rest(Text("%1 Go on to start it again.", why))
        await asyncio.sleep(_SETTLE_SECONDS)
        if self._is_closed or self._live is not None or self._is_opening:
            return
        if self._was_revived or not self._kernel.is_there:
            return
        self._was_revived = True
        self._trouble = Text("%1 It was started again, and what was accepted ran again.", why)
        self.begin(c.GoOn() if was_working else None)

    async def _path_of_kernel(self) -> str | None:
        return await self._workshop.services.path_of_kernel(self._kernel.id)

    def _tell_move(self) -> None:
        if not self._is_closed:
            self._teller.publish("changed")

    async def _save(self, exploration: Exploration) -> None:
        before = self.keeper.trouble
        await self.keeper.save(exploration, self._teller.revise(exploration))
        if self.keeper.trouble != before:
            self._teller.say()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _heading(self, exploration: Exploration, path: str, revision: int) -> JournalHeading:
        recipe = self._recipe
        origin = {
            "kernel_name": recipe.kernel_name,
            "source_path": recipe.source_path,
            "origin": recipe.origin,
        }
        return heading_of(exploration, path, revision).model_copy(update=origin)
