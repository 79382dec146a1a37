"""An exploration being worked on: owns the sidecar and saves each step before the next begins."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sandbox import Sandboxing
from exploracoder_kernel.strategies import StrategyChoice
from exploracoder_retrieval.index import Index

from exploracoder import bringing, document
from exploracoder.bringing import AnySource
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import BudgetError, InputError, ModelError, NoCodeError, SetupError
from exploracoder.methods import Method, find_method
from exploracoder.models.chat import ChatModel
from exploracoder.opening import Opening, local_scratch, open_bench
from exploracoder.state import Brought, Exploration, ExplorationStatus

Listener = Callable[[Exploration, str], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session works: in which interpreter and folder snippets run, and what is saved.

    Without a ``sandboxing`` it is the usual one, if the user need not be asked about it. ``source``
    is where variables come along from.
    """

    python: str
    folder: Path
    output: Path
    strategy: StrategyChoice = "auto"
    sandboxing: Sandboxing | None = None
    source: AnySource | None = None


class Session:
    """Works on one exploration until it has a solution, a limit is reached, or it is cancelled.

    Use it as an async context manager: leaving it ends the sidecar and saves. The model and the
    index belong to the caller, who may share them among sessions.
    """

    def __init__(
        self,
        exploration: Exploration,
        *,
        model: ChatModel,
        index: Index,
        place: Place,
        listener: Listener | None = None,
    ) -> None:
        self._exploration = exploration
        self._model = model
        self._index = index
        self._place = place
        self._listener = listener
        self._bench: Workbench | None = None
        self._stack = AsyncExitStack()

    @property
    def exploration(self) -> Exploration:
        """The exploration as it stands."""
        return self._bench.exploration if self._bench else self._exploration

    async def __aenter__(self) -> Session:
        """Start the sidecar, run the context, and rebuild the state of the steps that are done.

        Raises InputError when the context or the check cannot be used, SetupError when the sidecar
        cannot be started or the notebook cannot be written.
        """
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    async def run(self) -> Exploration:
        """Work to the end. What ends it early is recorded as the status and its reason, and saved.

        Raises ModelError and SetupError after saving; CancelledError passes through, after saving.
        """
        bench = self._bench
        if bench is None:
            raise SetupError("The session is not open; use it in `async with`.")
        method: Method = find_method(bench.exploration.method)
        started = f"Started. Sandbox: {bench.exploration.sandbox}"
        await bench.update(_with_status(bench.exploration, "running"), started)
        if bench.exploration.brought != Brought():
            await bench.update(bench.exploration, bringing.in_words(bench.exploration.brought))
        try:
            await method.run(bench)
        except asyncio.CancelledError:
            self._save_now(_with_status(bench.exploration, "cancelled", "It was interrupted."))
            raise
        except (BudgetError, NoCodeError) as error:
            await bench.update(_with_status(bench.exploration, "failed", str(error)), str(error))
        except SidecarError as error:
            self._save_now(_with_status(bench.exploration, "failed", str(error)))
            raise SetupError(f"The scratch kernel failed: {error}") from error
        except (ModelError, SetupError) as error:
            self._save_now(_with_status(bench.exploration, "failed", str(error)))
            raise
        else:
            status = outcome(bench.exploration)
            await bench.update(_with_status(bench.exploration, status), "Finished")
        return bench.exploration

    async def _open(self) -> None:
        place = self._place
        scratch = local_scratch(
            place.python, place.folder, strategy=place.strategy, sandboxing=place.sandboxing
        )
        opened = open_bench(
            self._exploration,
            model=self._model,
            index=self._index,
            opening=Opening(place.python, scratch, place.source),
            record=self._record,
        )
        self._bench = await self._stack.enter_async_context(opened)

    async def _record(self, exploration: Exploration, message: str) -> None:
        self._save(exploration)
        if self._listener is not None:
            self._listener(exploration, message)

    def _save_now(self, exploration: Exploration) -> None:
        if self._bench is not None:
            self._bench.exploration = exploration
        self._save(exploration)

    def _save(self, exploration: Exploration) -> None:
        document.save(self._place.output, exploration)


def outcome(exploration: Exploration) -> ExplorationStatus:
    """How an exploration whose work is done came out."""
    if exploration.solution is None or not exploration.solution.final.is_good:
        return "failed"
    return "solved" if exploration.solution.final.checks == "passed" else "unverified"


def _with_status(
    exploration: Exploration, status: ExplorationStatus, reason: str = ""
) -> Exploration:
    return exploration.model_copy(update={"status": status, "reason": reason})


def check_writable(output: Path) -> None:
    """Raise InputError now rather than after an hour's work when ``output`` cannot be written."""
    folder = output.parent
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder} to save {output.name} in.")
    if output.is_dir():
        raise InputError(f"{output} is a folder; give a file name that ends in .ipynb.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from error
