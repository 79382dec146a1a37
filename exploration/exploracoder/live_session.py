"""An exploration that a user steers: commands in, progress and changes out.

One piece of work is done at a time, in a task of the session; `LiveSession.do` returns as soon as
a command is taken. Whatever is accepted is saved before the next step begins. The magics and the
JupyterLab server build on this.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, runtime_checkable

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Observation
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index

from exploracoder import commands as c
from exploracoder.abilities import abilities_of, check
from exploracoder.engine.running import steering
from exploracoder.engine.running.plan_edits import edit_plan, restore
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import CommandError, ExploraCoderError, InputError, SetupError
from exploracoder.events import Abilities, Activity, Progress
from exploracoder.methods import find_method
from exploracoder.models.chat import ChatModel
from exploracoder.opening import Opening
from exploracoder.session import Save, Session
from exploracoder.state import Exploration, ExplorationStatus, Step
from exploracoder.steps import Worker
from exploracoder.texts import Text, words_of

Work = Callable[[], Coroutine[Any, Any, None]]
# A cell that the user ran by hand: its subtask, code, branch, and what came out.
OwnRun = tuple[str, str, str, Observation]
_log = logging.getLogger("exploracoder.live_session")

OnProgress = Callable[[Exploration, Progress], None]


@runtime_checkable
class SharedExecutor(Protocol):
    """An executor that a person shares with the engine, such as a notebook's kernel."""

    async def bind(self, cells: Mapping[str, str]) -> None:
        """Let the cell of each subtask run in a fork of the branch given for it."""
        ...

    async def go_to(self, branch_id: str) -> str:
        """Let the person's other cells run in a fresh fork of a branch."""
        ...


class LiveSession(Session):
    """Works on an exploration command by command; for other arguments see `Session`.

    Args:
        mode: ``review`` stops at the plan and at each subtask whose candidates have run.
        on_progress: Called with every change and all progress, in order.
        on_text: Called with a part of the work and the text written for it so far, at most 20
            times a second, while the model writes a reply.

    Attributes:
        progress: What it is doing, or waits for.
        failure: What ended the last piece of work early, if that is known.
    """

    def __init__(
        self,
        exploration: Exploration,
        *,
        model: ChatModel,
        index: Index,
        opening: Opening,
        save: Save,
        mode: c.Mode = "auto",
        on_progress: OnProgress = lambda state, progress: None,
        on_text: Callable[[str, str], None] | None = None,
    ) -> None:
        super().__init__(exploration, model=model, index=index, opening=opening, save=save)
        self._on_progress = on_progress
        self._on_text = on_text
        self._task: asyncio.Task[None] | None = None
        # What saves and reports after a piece of work; cancelling the work does not stop it.
        self._settling: asyncio.Task[None] | None = None
        self._is_unsaved = False
        self._runs: list[OwnRun] = []
        self._preview: Step | None = None
        # Deleted steps by subtask id, oldest first, as ids are reused; each with the ids of the
        # subtasks that followed it.
        self._deleted_steps: dict[str, list[tuple[Step, list[str]]]] = {}
        # The branch that the user's other cells start from, and the fork of it that they run in.
        self._desk = ("", "")
        self.progress = Progress(mode=mode)
        self.failure: Exception | None = None

    @property
    def exploration(self) -> Exploration:
        """The exploration as it stands, with the candidates that are being tried."""
        exploration, preview = super().exploration, self._preview
        if preview is None:
            return exploration
        step = steering.find_in(exploration, preview.subtask.id)
        # A retry of an accepted step is not shown until it replaces that step.
        is_open = step is not None and step.is_open
        return exploration.with_step(preview) if is_open else exploration

    @property
    def abilities(self) -> Abilities:
        """The actions possible now, by subtask or candidate id, with "" for the exploration."""
        return abilities_of(self.exploration, self.progress)

    @property
    def is_working(self) -> bool:
        """Whether a command is being worked on."""
        return self._task is not None and not self._task.done()

    async def __aexit__(self, *exc: object) -> None:
        """Stop what is being worked on, save, and end the sidecar, even if this is cancelled.

        Raises SetupError when what could not be saved before still cannot be.
        """
        stopping = asyncio.ensure_future(self._stop())
        cancellation: asyncio.CancelledError | None = None
        while not stopping.done():
            try:
                await asyncio.wait({stopping})
            except asyncio.CancelledError as error:
                cancellation = error
        try:
            stopping.result()
        finally:
            await super().__aexit__(*exc)
        if cancellation is not None:
            raise cancellation

    async def _stop(self) -> None:
        await self._cancel()
        await self.save()

    async def save(self) -> None:
        """Save what could not be saved before. Raises SetupError when it still cannot be."""
        if self._is_unsaved:
            await self._saved(self.bench.exploration)

    def count_as_saved(self, exploration: Exploration) -> None:
        """This has been saved elsewhere, so nothing is lost at the end, unless it has changed."""
        if exploration is self.exploration:
            self._is_unsaved = False

    async def idle(self) -> None:
        """Wait until no work is in progress."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    async def do(self, command: c.Command) -> None:
        """Take a command; its work continues after this returns.

        Raises:
            CommandError: It cannot be taken now: another one is in progress, or the subtask's
                state does not allow it.
            InputError: It names a subtask or candidate that does not exist.
            SetupError: The session is not open.
        """
        bench = self.bench
        match command:
            case c.Cancel():
                await self._cancel()
            case c.SetMode():
                self._say(mode=command.mode)
            case c.AddSubtask() | c.RenameSubtask() | c.DeleteSubtask() | c.MoveSubtask():
                await self._check(command)
                exploration = edit_plan(bench.exploration, command)
                if isinstance(command, c.DeleteSubtask):
                    self._keep_deleted(command.subtask)
                await self._edited(exploration)
            case c.RestoreSubtask():
                deleted_steps = self._deleted_steps.get(command.subtask)
                if not deleted_steps:
                    raise InputError(Text("%1 was not deleted in this session.", command.subtask))
                at_work = self.progress.part if self.is_working else ""
                exploration = restore(bench.exploration, *deleted_steps[-1], at_work)
                deleted_steps.pop()
                await self._edited(exploration)
            case _:
                await self._check(command)
                self._start(self._work_for(command))

    async def _edited(self, exploration: Exploration) -> None:
        if not self.is_working:
            self.bench.limits.start_clock()
        self.bench.exploration = exploration
        await self.bench.update("The plan was edited")
        if not self.is_working:
            await self._attend()

    def _keep_deleted(self, subtask: str) -> None:
        """Remember a step that is about to be deleted, and what comes after it."""
        steps = list(self.bench.exploration.steps)
        position = next(n for n, one in enumerate(steps) if one.subtask.id == subtask)
        after = [one.subtask.id for one in steps[position + 1 :]]
        self._deleted_steps.setdefault(subtask, []).append((steps[position], after))

    async def take_run(
        self, subtask: str, code: str, branch: str, observation: Observation
    ) -> None:
        """Accept a subtask's cell that the user ran by hand, if it ran, after any work in progress.

        If the subtask no longer exists, the cell's branch is dropped.
        """
        self._runs.append((subtask, code, branch, observation))
        if not self.is_working:
            self._start(self._take_next)

    async def _take_next(self) -> None:
        """Adopt the first of the cells that the user ran by hand, and accept it if it ran."""
        run, worker = self._runs[0], Worker(self.bench)
        candidate = await worker.add_own(*run)
        # Only now, so that one that is cancelled before is not lost.
        del self._runs[0]
        if candidate is not None:
            await self._then_go_on(worker.accept_own(run[0], candidate))

    async def _keep_runs(self) -> None:
        """Make the cells that the user ran by hand candidates, and no more."""
        while self._runs:
            try:
                await Worker(self.bench).add_own(*self._runs[0])
            except Exception:  # noqa: BLE001  # the others are kept all the same
                _log.exception("A cell that was run by hand could not be kept.")
            del self._runs[0]

    async def _open(self) -> None:
        await super()._open()
        bench = self.bench
        bench.is_attended, bench.is_review = True, lambda: self.progress.mode == "review"
        bench.show, bench.tell, bench.stream = self._show, self._tell, self._on_text
        if bench.exploration.status == "running":
            bench.change(status="paused", reason="")
        await self._settle(reason=bench.exploration.reason)
        if self._is_unsaved:
            raise SetupError(self.progress.error)

    def _work_for(self, command: c.Command) -> Work:
        """The work that a command asks for."""
        worker, exploration = Worker(self.bench), self.bench.exploration
        subtask_id = getattr(command, "subtask", None)
        step = None if subtask_id is None else steering.find_step(exploration, subtask_id)
        match command:
            case c.GoOn():
                return self._go_on
            case c.Synthesize():
                return worker.synthesize
            case c.Accept() if step is not None:
                candidate = steering.find_candidate(step, command.candidate)
                return lambda: self._then_go_on(worker.accept(step, candidate))
            case c.TryCode() if step is not None:
                return lambda: self._then_go_on(worker.try_code(step, command.code))
            case c.Skip() if step is not None:
                return lambda: self._then_go_on(worker.skip(step))
            case c.Debug() if step is not None:
                candidate = steering.find_candidate(step, command.candidate)
                return lambda: worker.debug(step, candidate, command.hint)
            case c.Draft() if step is not None:
                return lambda: worker.draft(step, command.hint)
            case c.GoBack() if step is not None:
                return lambda: worker.go_back(step)
            case c.Replan() if step is not None:
                return lambda: worker.replan(step)
        raise CommandError(Text("This session knows no command %1.", repr(command.kind)))

    async def _go_on(self) -> None:
        await find_method(self.bench.exploration.method).run(self.bench)

    async def _then_go_on(self, work: Coroutine[Any, Any, bool]) -> None:
        """Apply a decision of the user's, then explore the next open subtask; the solution is
        written unasked only outside ``review`` mode."""
        before = self.bench.exploration
        if not await work:
            return
        is_review = self.progress.mode == "review"
        if steering.next_open(self.bench.exploration) is None and is_review:
            return
        if before.solution is None or not is_review:
            await self._go_on()

    def _start(self, work: Work) -> None:
        # Busy from here on: a second command may arrive before the task starts to run.
        self._task = asyncio.ensure_future(self._guard(work))

    async def _guard(self, work: Work) -> None:
        """Run a piece of work; report whatever stops it, and keep what was found."""
        bench, error, is_done = self.bench, "", False
        self.failure = None
        bench.limits.start_clock()
        bench.change(status="running", reason="")
        self._say(activity="working", error="", message="")
        try:
            await work()
            is_done = True
        except asyncio.CancelledError:
            self._say(message="Cancelled")
            raise
        except (ExploraCoderError, SidecarError, RetrievalError) as failure:
            self.failure, error = failure, words_of(failure)
        except Exception:  # noqa: BLE001  # the outermost frame: nobody else would hear of it
            _log.exception("A command could not be worked on.")
            error = "Something unexpected went wrong; the log has the details. Try again."
        finally:
            if self._preview is not None:
                bench.exploration = self.exploration
                self._preview = None
            await self._settled(error, keeps_runs=not is_done)
        if self._runs and is_done:
            # A cell that the user ran in the meantime is a decision like any other.
            await self._guard(self._take_next)
        elif self._runs:
            await self._settled(error, keeps_runs=True)

    async def _cancel(self) -> None:
        """Stop the work and wait until that is saved, which a second cancellation does not stop."""
        task = self._task
        if task is None or task.done():
            return
        if self._settling is not None:
            await asyncio.wait({self._settling})
        task.cancel()
        await asyncio.wait({task})
        if self._settling is not None:
            await asyncio.wait({self._settling})
        if self._runs and not self.is_working:
            self._start(self._keep_runs)
            await self.idle()

    async def _settled(self, error: str, *, keeps_runs: bool) -> None:
        self._settling = asyncio.ensure_future(self._settle(error, keeps_runs=keeps_runs))
        await asyncio.shield(self._settling)

    async def _settle(self, error: str = "", *, reason: str = "", keeps_runs: bool = False) -> None:
        """Save the exploration after work has stopped, and report what it waits for.

        What ended the work is its ``error``, or the ``reason`` that was saved before. After a
        failure it ``keeps_runs``, the cells that the user ran meanwhile.
        """
        bench = self.bench
        if keeps_runs:
            await self._keep_runs()
        status, activity, part = _resting(bench.exploration)
        bench.limits.count_time()
        bench.change(status=status, reason=error or reason)
        try:
            await self._saved(bench.exploration)
        except ExploraCoderError as failure:
            error = error or words_of(failure)
        except Exception:  # noqa: BLE001  # the work must be reported as over in any case
            _log.exception("The exploration could not be saved.")
            error = error or "It could not be saved; the log has the details."
        await self._attend()
        # Report last, since a listener may send the next command at once.
        self._say(activity=activity, part=part, error=error)

    async def _saved(self, exploration: Exploration) -> None:
        """Save, and remember whether that must be tried again."""
        self._is_unsaved = True
        await self._save(exploration)
        self._is_unsaved = False

    async def _attend(self) -> None:
        """Make cells that the user runs by hand start from their subtask's state."""
        bench = self.bench
        if not isinstance(bench.sidecar, SharedExecutor):
            return
        cells = {
            step.subtask.id: base
            for step in bench.exploration.steps
            if not step.is_open and (base := bench.branches.known_base(step)) is not None
        }
        first = steering.next_open(bench.exploration)
        if first is not None:
            cells[first.subtask.id] = bench.branches.current
        # A dead kernel is reported elsewhere, and restarted on the next command.
        with contextlib.suppress(SidecarError):
            await bench.sidecar.bind(cells)
            await self._move_desk(bench.sidecar, bench)

    async def _move_desk(self, executor: SharedExecutor, bench: Workbench) -> None:
        """Run the user's other cells in a fork of the chain's end, which they cannot harm."""
        came_from, desk = self._desk
        if came_from == bench.branches.current:
            return
        self._desk = (bench.branches.current, await executor.go_to(bench.branches.current))
        if desk:
            await bench.sidecar.drop(desk)

    async def _record(self, exploration: Exploration, message: str) -> None:
        if self._preview is not None:
            step = steering.find_in(exploration, self._preview.subtask.id)
            if step is None or step.candidates:
                self._preview = None
        try:
            await self._saved(exploration)
        finally:
            self._say(message=message)

    def _show(self, step: Step) -> None:
        self._preview = step
        self._say()

    def _tell(self, part: str, message: str) -> None:
        self._say(part=part, message=message)

    def _say(self, **changes: Any) -> None:
        """Update the named fields of the progress, and notify the listener."""
        self.progress = self.progress.model_copy(update=changes)
        self._on_progress(self.exploration, self.progress)

    async def _check(self, command: c.Command) -> None:
        """Raise what `abilities.check` raises, after a task that has reported its end is over."""
        if self.is_working and self.progress.activity != "working":
            # It has reported that it is done, and ends in the next iteration of the loop.
            await asyncio.sleep(0)
        activity = "working" if self.is_working else self.progress.activity
        now = self.progress.model_copy(update={"activity": activity})
        check(command, self.bench.exploration, now)


def _resting(exploration: Exploration) -> tuple[ExplorationStatus, Activity, str]:
    """Status, activity and part of an exploration while no work is in progress."""
    if exploration.solution is not None:
        return exploration.solution.outcome, "idle", "solution"
    first = steering.next_open(exploration)
    if first is not None and first.status == "review":
        return "waiting", "review", first.subtask.id
    if exploration.is_planned and exploration.status != "paused":
        looked_at = _failed_before(exploration, first) or first
        return "waiting", "review", looked_at.subtask.id if looked_at else "solution"
    return "paused", "idle", ""


def _failed_before(exploration: Exploration, step: Step | None) -> Step | None:
    """The preceding step, if no candidate ran: that is what the user should look at."""
    steps = list(exploration.steps)
    position = len(steps) if step is None else steps.index(step)
    before = steps[position - 1] if position else None
    return before if before is not None and before.status == "failed" else None
