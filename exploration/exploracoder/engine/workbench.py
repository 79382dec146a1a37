"""What a method works with: the exploration so far, its libraries, the model, and the sidecar.

Every request (`CountedModel`) and every run (`Branches`) counts against the `Limits` and belongs to
a part of the work. Findings are recorded here, so that they are saved before the next step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from exploracoder_kernel.executor import Executor
from exploracoder_retrieval.index import Index

from exploracoder.engine.branches import Branches
from exploracoder.engine.libraries import Libraries
from exploracoder.engine.limits import Limits
from exploracoder.engine.model_requests import CountedModel
from exploracoder.memory import keep_solution
from exploracoder.models.chat import ChatModel
from exploracoder.settings import Settings
from exploracoder.state import Exploration, Step

if TYPE_CHECKING:
    from exploracoder.engine.writing.cells_request import CellsRequest

Record = Callable[[Exploration, str], Awaitable[None]]


class Workbench:
    """The tools of one exploration.

    ``libraries`` holds what is known; ``model`` is asked, ``branches`` run code, ``limits`` count.
    ``show`` gets a step whose candidates are still being tried, ``tell`` a part of the work and
    what it is doing, and ``stream``, if set, a part and what the model has written for it so far;
    none of this is saved. ``wait``, called like ``tell``, gets the position of a request that waits
    for a model that others use too. In an attended session, ``is_review`` says whether the user
    wants to decide about each step. ``cells_request`` is the common beginning of all questions
    about the cells, once one was asked. ``solution_kept`` is the last solution that was kept for
    later, or was there before.
    """

    def __init__(
        self,
        exploration: Exploration,
        *,
        model: ChatModel,
        index: Index,
        sidecar: Executor,
        root: str,
        branch: str,
        record: Record,
        notebook: str = "",
    ) -> None:
        """Set up the tools; nothing is asked or run yet.

        Args:
            exploration: A new exploration, or one to continue.
            model: Owned by the caller, like the index and the sidecar.
            index: Holds the exploration's libraries.
            sidecar: Where snippets run.
            root: The branch in which the context has run.
            branch: The branch in which the done steps have run as well.
            record: Saves an exploration, and notifies the surfaces with a line on what happened.
            notebook: Where the exploration is saved, if it is.
        """
        self.exploration = exploration
        self.libraries = Libraries(index, exploration)
        self.model = CountedModel(self, model)
        self.sidecar = sidecar
        self.branches = Branches(self, sidecar, root, branch)
        self.limits = Limits(self)
        self.record = record
        self.notebook = notebook
        # A solution that was there before has not passed the check here.
        self.solution_kept = exploration.solution.final.code if exploration.solution else ""
        self.show: Callable[[Step], None] = lambda step: None
        self.tell: Callable[[str, str], None] = lambda part, message: None
        self.wait: Callable[[str, str], None] = lambda part, message: self.tell(part, message)
        self.stream: Callable[[str, str], None] | None = None
        self.is_attended = False
        self.is_review: Callable[[], bool] = lambda: False
        self.cells_request: CellsRequest | None = None

    @property
    def settings(self) -> Settings:
        """The exploration's settings."""
        return self.exploration.settings

    @property
    def is_confined(self) -> bool:
        """Whether code that runs here reaches only a scratch folder and, above all, no network.

        Code that neither a person nor a model wrote is tried only then: ``delete_item`` is a near
        name of ``get_item``.
        """
        return self.exploration.sandbox.startswith("strict")

    def change(self, **fields: object) -> None:
        """Set fields of the exploration."""
        self.exploration = self.exploration.model_copy(update=fields)

    def put(self, step: Step) -> None:
        """Replace the step with the same subtask."""
        self.exploration = self.exploration.with_step(step)

    async def update(self, message: str, **fields: object) -> None:
        """Change these fields of the exploration and save it; keep a solution that was accepted."""
        self.change(**fields)
        self.limits.count_time()
        await self.record(self.exploration, message)
        await keep_solution(self)

    @contextmanager
    def doing(self, words: str) -> Iterator[None]:
        """Prefix every message to ``tell`` with ``words`` meanwhile; empty ones change nothing."""
        tell = self.tell
        if words:
            self.tell = lambda part, message: tell(part, f"{words}: {message}")
        try:
            yield
        finally:
            self.tell = tell
