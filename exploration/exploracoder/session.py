"""Work on an exploration: own the sidecar, and save each step before the next begins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from exploracoder_kernel.errors import SidecarError
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index

from exploracoder import user_variables
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import BudgetError, ExploraCoderError, NoCodeError, SetupError, raised_as
from exploracoder.methods import find_method
from exploracoder.models.chat import ChatModel
from exploracoder.opening import Opening, open_bench
from exploracoder.state import Brought, Exploration, ExplorationStatus, Outcome

if TYPE_CHECKING:
    from typing_extensions import Self

Save = Callable[[Exploration], Awaitable[None]]


class Session:
    """Works on one exploration until it has a solution, a limit is reached, or it is cancelled.

    Use it as an async context manager: leaving it ends the sidecar. The model and the index belong
    to the caller, who may share them among sessions.

    Args:
        exploration: A new one, or one to continue.
        model: The model to ask.
        index: Holds the exploration's libraries.
        opening: Where snippets run.
        save: Called with each state that must not be lost, before the work goes on.
        listener: Called with each saved state, and a line on what happened.
        on_wait: Called with the place of a request that waits in a shared model's queue.
    """

    def __init__(
        self,
        exploration: Exploration,
        *,
        model: ChatModel,
        index: Index,
        opening: Opening,
        save: Save,
        listener: Callable[[Exploration, str], None] = lambda state, message: None,
        on_wait: Callable[[str], None] | None = None,
    ) -> None:
        self._exploration = exploration
        self._model = model
        self._index = index
        self._opening = opening
        self._save = save
        self._listener = listener
        self._on_wait = on_wait
        self._bench: Workbench | None = None
        self._stack = AsyncExitStack()

    @property
    def exploration(self) -> Exploration:
        """The exploration as it stands."""
        return self._bench.exploration if self._bench else self._exploration

    @property
    def bench(self) -> Workbench:
        """The workbench. Raises SetupError if the session is not open."""
        if self._bench is None:
            raise SetupError("The session is not open; use it in `async with`.")
        return self._bench

    async def __aenter__(self) -> Self:
        """Start the sidecar, run the context, and rebuild the state of the steps that are done.

        Raises InputError if the context or the check cannot be used, SetupError if the sidecar
        cannot be started or the chain no longer runs.
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
        """Work to the end. If it ends early, that is saved as the status and its reason.

        Raises ModelError and SetupError after saving; all others pass through, after saving.
        """
        bench = self.bench
        message = f"Started. Sandbox: {bench.exploration.sandbox}"
        await bench.update(message, status="running", reason="")
        if bench.exploration.brought != Brought():
            await bench.update(user_variables.in_words(bench.exploration.brought))
        try:
            await find_method(bench.exploration.method).run(bench)
        except asyncio.CancelledError:
            await self._end("cancelled", "It was interrupted.")
            raise
        except (BudgetError, NoCodeError) as error:
            await bench.update(str(error), status=_outcome(bench.exploration), reason=str(error))
        except SidecarError as error:
            await self._end("failed", str(error))
            raise SetupError(f"The scratch kernel failed: {error}") from error
        except RetrievalError as error:
            await self._end("failed", str(error))
            raise SetupError(str(error)) from error
        except ExploraCoderError as error:
            await self._end(_outcome(bench.exploration), str(error))
            raise
        except Exception as error:
            await self._end("failed", f"Something unexpected went wrong: {error!r}")
            raise
        else:
            await bench.update("Finished", status=_outcome(bench.exploration), reason="")
        return bench.exploration

    async def _open(self) -> None:
        manager = open_bench(
            self._exploration,
            model=self._model,
            index=self._index,
            opening=self._opening,
            record=self._record,
        )
        with raised_as(SetupError, RetrievalError):
            self._bench = await self._stack.enter_async_context(manager)
        if (on_wait := self._on_wait) is not None:
            self._bench.wait = lambda part, message: on_wait(message)

    async def _record(self, exploration: Exploration, message: str) -> None:
        await self._save(exploration)
        self._listener(exploration, message)

    async def _end(self, status: ExplorationStatus, reason: str) -> None:
        bench = self.bench
        bench.limits.count_time()
        bench.change(status=status, reason=reason)
        await self._save(bench.exploration)


def _outcome(exploration: Exploration) -> Outcome:
    """The outcome of work that has ended: a solution that is there counts, whatever ended it."""
    return exploration.solution.outcome if exploration.solution is not None else "failed"
