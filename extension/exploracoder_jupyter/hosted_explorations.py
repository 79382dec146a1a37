"""Starts, resumes, lists, replays and closes the explorations of this server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from exploracoder import commands as c
from exploracoder import trust
from exploracoder.errors import CommandError, InputError, SetupError
from exploracoder.installed import version_changes
from exploracoder.merging import difference
from exploracoder.models.model_choice import ModelChoice
from exploracoder.replay import VersionChange, replay
from exploracoder.state import Exploration, Task
from exploracoder.tasks import make_task
from exploracoder.texts import Text
from exploracoder.user_variables import Source, check_source
from exploracoder_kernel.errors import SandboxUnavailable, SidecarError
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import LevelChoice
from exploracoder_kernel.strategies import StrategyChoice

from exploracoder_jupyter import notebook_file, paths
from exploracoder_jupyter.errors import ModelGoneError, UnknownError
from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.hosted_exploration import HostedExploration
from exploracoder_jupyter.journal import Journal, JournalEntry, JournalHeading
from exploracoder_jupyter.kernels import SidecarKernel
from exploracoder_jupyter.notebook_file import WrittenNotebook
from exploracoder_jupyter.origins import Origins
from exploracoder_jupyter.protocol import (
    CellOrigin,
    CellsChange,
    NewExploration,
    NotebookSave,
    OpenRequest,
    Replayed,
    SavedNotebook,
    Summary,
)
from exploracoder_jupyter.pythons import Pythons, absolute
from exploracoder_jupyter.sandboxes import Sandboxes
from exploracoder_jupyter.server_index import ServerIndex
from exploracoder_jupyter.services import services_of
from exploracoder_jupyter.source_lookups import Lookups
from exploracoder_jupyter.weights_download import WeightsDownload
from exploracoder_jupyter.workshop import Choices, Recipe, Workshop, journal_folder

if TYPE_CHECKING:
    from exploracoder_jupyter.app import ExploraCoder

_CLOSE_SECONDS = 20.0
_MOST_NUMBERS = 10_000


class Host:
    """All explorations that live in one server, by id."""

    def __init__(self, workshop: Workshop, sandboxes: Sandboxes) -> None:
        self.workshop = workshop
        self.sandboxes = sandboxes
        self._origins = Origins(workshop)
        self._explorations: dict[str, HostedExploration] = {}
        self._closing_explorations: dict[str, HostedExploration] = {}
        self._taken_paths: set[str] = set()
        self._pending_starts = 0
        self._resume_lock = asyncio.Lock()

    def get(self, id_: str) -> HostedExploration:
        """An open exploration. Raises UnknownError when it is not open."""
        try:
            return self._explorations[id_]
        except KeyError:
            raise UnknownError("No such exploration is open here. Resume it first.") from None

    def use(self, id_: str) -> HostedExploration:
        """Like `get`, but mark it as most recently used, so that it is the last to be parked."""
        hosted_exploration = self.get(id_)
        self._explorations[id_] = self._explorations.pop(id_)
        return hosted_exploration

    async def create(self, new: NewExploration) -> HostedExploration:
        """Start a new exploration and its work.

        Raises InputError for unusable input, CommandError when the limit of open explorations is
        reached and all are at work, SetupError when the model, a sandbox or the kernel is missing.
        """
        workshop = self.workshop
        workshop.services.rooms.check()
        user_path = paths.checked(new.path)
        if not await workshop.services.is_folder(paths.folder_of(user_path)):
            raise InputError(
                Text("There is no folder %1 on this server.", repr(paths.folder_of(user_path)))
            )
        new.model.check()
        settings = workshop.choices.settings(new.profile, new.settings, new.model)
        task = _task(new, workshop)
        source = self._origins.source(new.kernel_id, new.bring)
        python = await workshop.pythons.of_kernel(new.kernel_name)
        exploration = Exploration(task=task, settings=settings, choice=new.model)
        workshop.check_model(new.model)
        recipe = await self._recipe(
            exploration,
            python,
            new.kernel_name,
            source,
            user_path,
            new.origin,
        )
        async with self._room(), self._path_beside(user_path) as path:
            hosted_exploration = HostedExploration(
                exploration, workshop=workshop, recipe=recipe, path=path, mode=new.mode
            )
            await self._start(hosted_exploration)
        hosted_exploration.begin(c.GoOn())
        return hosted_exploration

    async def resume(self, request: OpenRequest) -> tuple[HostedExploration, bool]:
        """Open a notebook's exploration, and say whether it had to be resumed.

        Raises UnknownError when there is none, InputError when it is damaged, UntrustedError when
        it was not made here and the user has not agreed to it, ModelGoneError when its model is
        not available and no other was chosen, and whatever `create` raises.
        """
        path = paths.checked_notebook(request.path)
        self.workshop.services.rooms.check()
        async with self._resume_lock:
            entry, is_kept = await self._latest(path)
            closing_one = self._closing_explorations.get(entry.heading.id)
            if closing_one is not None:
                # Two would write one notebook.
                await closing_one.closed()
                entry, is_kept = await self._latest(path)
            open_one = self._explorations.get(entry.heading.id)
            if open_one is not None:
                await open_one.keeper.follow(path)
                return self.use(open_one.id), False
            exploration = entry.exploration
            python = await self._origins.python_of(entry)
            if not is_kept:
                exploration = await self._trusted(request, exploration, python)
            source = await self._origins.source_of(entry)
            exploration = await self._with_model(exploration, request.model)
            recipe = await self._recipe(
                exploration,
                python,
                entry.heading.kernel_name,
                source,
                entry.heading.source_path,
                entry.heading.origin,
            )
            async with self._room():
                hosted_exploration = HostedExploration(
                    exploration,
                    workshop=self.workshop,
                    recipe=recipe,
                    path=path,
                    mode="review",
                    revision=entry.heading.revision,
                )
                await self._start(hosted_exploration)
        hosted_exploration.begin()
        return hosted_exploration, True

    async def replay(self, request: OpenRequest) -> Replayed:
        """Rerun the accepted cells of a notebook in a kernel of their own.

        Raises like `resume`.
        """
        path = paths.checked_notebook(request.path)
        entry, is_kept = await self._latest(path)
        exploration = entry.exploration
        python = await self._origins.python_of(entry)
        if not is_kept:
            await self._trusted(request, exploration, python)
        check_source(None, exploration.brought)
        recipe = await self._recipe(exploration, python, None, None, "")
        versions = await self._changed_versions(exploration, python)
        kernel = SidecarKernel(self.workshop.services, recipe.wishes)
        limits = Limits(wall_seconds=exploration.settings.run_seconds)
        try:
            await kernel.start(path, is_shown=False)
            async with kernel.opened(limits) as scratch:
                cells = [cell async for cell in replay(scratch.executor, exploration, versions)]
        except SidecarError as error:
            raise SetupError(str(error)) from error
        finally:
            await kernel.stop()
        return Replayed(path=path, versions=versions, cells=tuple(cells))

    async def save_notebook(self, save: NotebookSave) -> SavedNotebook:
        """Save a notebook that a tab has changed, merged with what others have written meanwhile.

        Raises UnknownError when there is no such file, CommandError when it no longer belongs to
        this exploration, SetupError when it cannot be written.
        """
        path = paths.checked_notebook(save.path)
        id_ = notebook_file.id_of(save.content)
        file_state = await self._take(id_, path, save)
        if file_state is None:
            async with self._resume_lock:
                # It may have been opened while this waited.
                file_state = await self._take(id_, path, save) or await self._put(id_, path, save)
        cells, order = difference(save.content.get("cells", ()), file_state.cells)
        model = file_state.model
        return SavedNotebook(
            path=path,
            created=model["created"].isoformat(),
            last_modified=model["last_modified"].isoformat(),
            writable=bool(model["writable"]),
            size=model.get("size"),
            change=CellsChange(cells=tuple(cells), order=order),
        )

    async def _take(self, id_: str, path: str, save: NotebookSave) -> WrittenNotebook | None:
        """Save the notebook of an open exploration; None if it is not open."""
        hosted_exploration = self._explorations.get(id_) or self._closing_explorations.get(id_)
        is_file = self.workshop.services.is_file
        if hosted_exploration is None or (
            hosted_exploration.path != path and await is_file(hosted_exploration.path)
        ):
            return None
        return await hosted_exploration.keeper.take(path, save.content, save.base)

    async def _put(self, id_: str, path: str, save: NotebookSave) -> WrittenNotebook:
        services = self.workshop.services
        notebook = await notebook_file.load(services, path)
        if notebook.exploration.id != id_:
            raise CommandError(
                Text("%1 is another notebook now. Save yours elsewhere.", repr(path))
            )
        file = notebook_file.NotebookFile(services, path)
        return await file.take(save.content, save.base, notebook.exploration, notebook.revision)

    async def close(self, id_: str) -> None:
        """Close an exploration; its notebook stays. Raises UnknownError when it is not open."""
        hosted_exploration = self._closing_explorations[id_] = self.get(id_)
        del self._explorations[id_]
        try:
            await hosted_exploration.close()
        finally:
            del self._closing_explorations[id_]

    async def summaries(self) -> tuple[Summary, ...]:
        """All explorations, open and past, newest first."""
        headings = await asyncio.to_thread(self.workshop.journal.headings)
        by_id = {one.id: _past(one) for one in headings}
        by_id |= {one.id: one.summary() for one in self._explorations.values()}
        return tuple(sorted(by_id.values(), key=lambda one: one.created, reverse=True))

    async def state_of(self, id_: str) -> Exploration:
        """An exploration, open or past. Raises UnknownError when there is none."""
        hosted_exploration = self._explorations.get(id_)
        if hosted_exploration is not None:
            return hosted_exploration.snapshot().exploration
        entry = await asyncio.to_thread(self.workshop.journal.read, id_)
        if entry is None:
            raise UnknownError("There is no such exploration.")
        return entry.exploration

    async def aclose(self) -> None:
        """Close all explorations when the server stops."""
        self.workshop.download.cancel()
        open_ones, self._explorations = list(self._explorations.values()), {}
        tasks = [asyncio.ensure_future(one.close()) for one in open_ones]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self.workshop.journal.prune)
        self.workshop.index.close()

    async def _start(self, hosted_exploration: HostedExploration) -> None:
        try:
            await hosted_exploration.start()
        except BaseException:
            await hosted_exploration.close()
            raise
        self._explorations[hosted_exploration.id] = hosted_exploration

    async def _trusted(
        self, request: OpenRequest, exploration: Exploration, python: str
    ) -> Exploration:
        """Raise UntrustedError if it was not made here, until the user agrees to exactly this.

        The model that such a notebook names is never asked; the configured one takes its place.
        """
        if not await asyncio.to_thread(trust.is_own, exploration):
            exploration = exploration.model_copy(update={"choice": ModelChoice()})
        sandbox, _ = await self.sandboxes.in_words()
        folder = self.workshop.services.root / paths.folder_of(paths.checked(request.path))
        await asyncio.to_thread(
            trust.check,
            exploration,
            request.path,
            python=python,
            sandbox=sandbox,
            reads=(folder,),
            agreed_digest=request.agreed,
        )
        return exploration

    async def _with_model(
        self, exploration: Exploration, instead: ModelChoice | None
    ) -> Exploration:
        """The exploration with an available model: its own, unless another was chosen.

        Raises ModelGoneError when its own is not available.
        """
        workshop = self.workshop
        if instead is not None:
            instead.check()
            workshop.check_model(instead)
            return exploration.model_copy(update={"choice": instead})
        choice = exploration.choice
        try:
            choice.check()
            workshop.check_model(choice)
            if choice.base_url:
                await workshop.choices.look_for(choice)
        except (InputError, SetupError) as error:
            raise ModelGoneError(str(error), choice) from error
        return exploration

    async def _latest(self, path: str) -> tuple[JournalEntry, bool]:
        open_paths = {id_: one.path for id_, one in self._explorations.items()}
        return await self._origins.latest(path, open_paths)

    async def _changed_versions(
        self, exploration: Exploration, python: str
    ) -> tuple[VersionChange, ...]:
        """Libraries whose version differs from the recorded one; none known behind a gateway."""
        if self.workshop.services.is_remote:
            return ()
        targets = await self.workshop.pythons.targets(exploration.task.libraries, python)
        return tuple(version_changes(exploration, targets))

    async def _recipe(
        self,
        exploration: Exploration,
        python: str,
        kernel_name: str | None,
        source: Source | None,
        source_path: str,
        origin: CellOrigin | None = None,
    ) -> Recipe:
        """Raises InputError when a library is not found, SetupError when a sandbox is missing."""
        workshop = self.workshop
        targets = await workshop.pythons.targets(exploration.task.libraries, python)
        try:
            await self.sandboxes.check(python)
        except (SandboxUnavailable, SidecarError) as error:
            raise SetupError(str(error)) from error
        wishes = workshop.wishes(python, targets)
        return Recipe(python, wishes, kernel_name, source, source_path, origin)

    @asynccontextmanager
    async def _room(self) -> AsyncIterator[None]:
        self._pending_starts += 1
        try:
            if len(self._explorations) + self._pending_starts > self.workshop.choices.max_open:
                await self._park()
            yield
        finally:
            self._pending_starts -= 1

    async def _park(self) -> None:
        """Close the least recently used exploration that is at rest; it can be resumed."""
        longest = next((one for one in self._explorations.values() if one.is_resting), None)
        if longest is None:
            raise CommandError(
                Text(
                    "Of the %1 explorations that can be open all are working. Wait for one or"
                    " close one.",
                    self.workshop.choices.max_open,
                )
            )
        await self.close(longest.id)

    @asynccontextmanager
    async def _path_beside(self, user_path: str) -> AsyncIterator[str]:
        """Reserve a path that no file has and no other exploration is about to take."""
        async with AsyncExitStack() as stack:
            for number in range(1, _MOST_NUMBERS):
                path = paths.beside(user_path, number)
                if path in self._taken_paths or any(
                    one.path == path for one in self._explorations.values()
                ):
                    continue
                self._taken_paths.add(path)
                stack.callback(self._taken_paths.discard, path)
                if not await self.workshop.services.is_file(path):
                    break
            yield path


def _task(new: NewExploration, workshop: Workshop) -> Task:
    if not new.task.strip():
        raise InputError("The task is empty. Say in a sentence or two what you want done.")
    if not new.libraries:
        raise InputError("Name at least one library to explore.")
    root = workshop.services.root
    libraries = tuple(dict.fromkeys(absolute(name, root) for name in new.libraries))
    return make_task(new.task, libraries=libraries, context=new.context, check=new.check)


def _past(heading: JournalHeading) -> Summary:
    return Summary(**heading.model_dump(include=set(Summary.model_fields)), is_open=False)


def host_for(app: ExploraCoder) -> Host:
    """Make the host of explorations for the server that ``app`` extends."""
    from exploracoder import prepare

    services = services_of(app.serverapp)
    events = EventLog()
    choices = Choices(
        model=app.model,
        base_url=app.base_url,
        key_variables=dict(app.key_variables),
        local_servers=dict(app.local_servers),
        reasoning_effort=app.reasoning_effort,
        cache=app.cache,
        profile=app.profile,
        sandbox=cast(LevelChoice, app.sandbox),
        strategy=cast(StrategyChoice, app.strategy),
        max_open=app.max_open,
    )

    def open_index() -> Any:
        return prepare.open_index(
            chroma_url=app.chroma_url or None,
            embeddings_url=app.embeddings_url or None,
            embeddings_model=app.embeddings_model,
        )

    workshop = Workshop(
        services=services,
        choices=choices,
        events=events,
        journal=Journal(journal_folder(app.journal_folder), services.root),
        pythons=Pythons(services),
        index=ServerIndex(open_index, events),
        lookups=Lookups(events),
        download=WeightsDownload(services.log),
    )
    return Host(workshop, Sandboxes(services, choices.sandbox))
