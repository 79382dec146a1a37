"""What a method works with: the exploration so far, its libraries, the model, and the sidecar.

Whatever is asked (`CountedModel`) or run (`Branches`) is counted against the `Limits` and belongs
to a part of the work. Whatever is found out is recorded here, so that it is saved before the next
step.
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

    ``libraries`` is what is known, ``model`` what is asked, ``branches`` what is run, ``limits``
    what is counted. ``show`` is given a step whose candidates are still being tried, ``tell`` a
    part of the work and what is being done there, ``stream``, if there is one, a part and what the
    model has written for it so far; none of it is saved. ``wait`` is told, as ``tell`` is, where a
    request stands that waits for a model that others use too. When somebody attends,
    ``is_review`` says whether they want to decide about each step. ``cells_request`` is what each
    question about the cells begins with, once one was asked. ``solution_kept`` is the last that was
    kept for later.
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
        """Lays out the tools; nothing is asked or run yet.

        Args:
            exploration: A new one, or one to go on with.
            model: Belongs to the caller, as the index and the sidecar do.
            index: Holds the exploration's libraries.
            sidecar: Where snippets run.
            root: The branch in which the context has run.
            branch: The one in which the steps that are done have run, too.
            record: Saves an exploration, and tells the surfaces with a line on what happened.
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
        self.solution_kept = ""
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
        """Whether code that runs here reaches nothing but a scratch folder, no network above all.

        What nobody wrote, no person and no model, is tried only then: ``delete_item`` is a near
        name of ``get_item``.
        """
        return self.exploration.sandbox.startswith("strict")

    def change(self, **fields: object) -> None:
        """Give these fields of the exploration other values."""
        self.exploration = self.exploration.model_copy(update=fields)

    def put(self, step: Step) -> None:
        """Put a step in the place of the one with the same subtask."""
        self.exploration = self.exploration.with_step(step)

    async def update(self, message: str, **fields: object) -> None:
        """Change these fields of the exploration and save it; keep a solution that was accepted."""
        self.change(**fields)
        self.limits.count_time()
        await self.record(self.exploration, message)
        await keep_solution(self)

    @contextmanager
    def doing(self, words: str) -> Iterator[None]:
        """While this lasts, all that is told begins with ``words``; empty ones change nothing."""
        tell = self.tell
        if words:
            self.tell = lambda part, message: tell(part, f"{words}: {message}")
        try:
            yield
        finally:
            self.tell = tell
