"""The client of an ``exploracoder`` kernel: the sidecar over the Jupyter protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from pydantic import ValidationError

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import CellRun, Observation, Variable
from exploracoder_kernel.pickled_variables import PickledVariables, UnpickleReport
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar_answers import BranchInfo, Inspection, ResolvedName

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

    from exploracoder_kernel.kernel.kernel_client import Conversation

_START_SECONDS = 60.0
_GRACE_SECONDS = 3.0
_AGAIN_SECONDS = 0.5
_CHUNK_BYTES = 1024 * 1024

_log = logging.getLogger("exploracoder.kernel")


class RemoteSidecar:
    """A sidecar in a Jupyter kernel, started here or elsewhere; use it with ``async with``.

    Args:
        kernel_name: The kernelspec to start a kernel from; that kernel ends on exit.
        connection_file: Attach to the kernel that listens there instead, and leave it running.
        client: Talk through this client instead; its channels must not be open yet. It may come
            from a Jupyter server's kernel manager, including one that uses a gateway.
        cwd: The folder of a kernel that is started.
        arguments: More arguments for a kernel that is started.
        limits: Limits of runs that bring none of their own.
        on_cell_run: Called with each subtask's cell that somebody has run by hand; see ``bind``.
        on_lost: Called once, with a sentence, when the kernel has ended or was restarted. It can't
            be asked any more then, and pending requests have failed.
    """

    def __init__(
        self,
        kernel_name: str = "exploracoder",
        *,
        connection_file: Path | None = None,
        client: AsyncKernelClient | None = None,
        cwd: Path | None = None,
        arguments: Sequence[str] = (),
        limits: Limits | None = None,
        on_cell_run: Callable[[CellRun], None] | None = None,
        on_lost: Callable[[str], None] | None = None,
    ) -> None:
        self.root = ""
        self.strategy = ""
        self.strategy_reason = ""
        self.python_version = ""
        self.sandbox: Mapping[str, str] = {}
        self._kernel_name = kernel_name
        self._connection_file = connection_file
        self._given_client = client
        self._cwd = cwd
        self._arguments = tuple(arguments)
        self._limits = limits or Limits()
        self._on_cell_run = on_cell_run
        self._on_lost = on_lost
        self._exits = contextlib.AsyncExitStack()
        self._kernel: Conversation | None = None

    async def __aenter__(self) -> RemoteSidecar:
        """Start or attach to the kernel.

        Raises:
            SidecarError: There is no such kernel, it does not answer, or it is not ours.
        """
        from exploracoder_kernel.kernel.kernel_client import Conversation

        async with contextlib.AsyncExitStack() as exits:
            client = await self._client(exits)
            talk = Conversation(
                client,
                on_published=None if self._on_cell_run is None else self._take_published,
                on_lost=self._on_lost,
            )
            self._kernel = await exits.enter_async_context(talk)
            try:
                with anyio.fail_after(_START_SECONDS):
                    about = await self._ask("list", measure=False)
            except TimeoutError:
                raise SidecarError(
                    f"The kernel did not answer in {_START_SECONDS:g} s. Is it an ExploraCoder "
                    "kernel? Its log says more."
                ) from None
            self._exits = exits.pop_all()
        self.root = str(about["root"])
        self.strategy, self.strategy_reason = about["strategy"], about["strategy_reason"]
        self.python_version, self.sandbox = about["python_version"], about["sandbox"]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._kernel = None
        await self._exits.aclose()

    async def run(self, branch_id: str, code: str, limits: Limits | None = None) -> Observation:
        """Run a snippet in a branch; a cancelled run is interrupted.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The kernel could not run it, or has ended.
        """
        from exploracoder_kernel.kernel.kernel_client import checked

        limit_values = (limits or self._limits).model_dump(mode="json")
        options = {"branch": branch_id, "limits": limit_values, "observe": True}
        content = {"code": code, "allow_stdin": False, "stop_on_error": False}
        metadata = {"exploracoder": options}
        reply = asyncio.ensure_future(
            self._talk.request("execute_request", content, metadata=metadata, channel="shell")
        )
        try:
            message = await asyncio.shield(reply)
        except asyncio.CancelledError:
            await self._stop(branch_id, reply)
            raise
        observation = message["metadata"].get("exploracoder", {}).get("observation")
        if observation is None:
            checked(message)
            raise SidecarError("The kernel answers as no ExploraCoder kernel does.")
        return Observation.model_validate(observation)

    async def fork(self, branch_id: str, *, goal: str = "") -> str:
        """Create a branch with the current state of ``branch_id``; see ``Sidecar.fork``."""
        return str((await self._ask("fork", branch=branch_id, goal=goal))["branch"])

    async def promote(self, branch_id: str) -> None:
        """Make a branch current, and drop its siblings with all their descendants."""
        await self._ask("promote", branch=branch_id)

    async def go_to(self, branch_id: str) -> str:
        """Make a fresh fork of a branch current, and return its name."""
        return str((await self._ask("go_to", branch=branch_id))["branch"])

    async def drop(self, branch_id: str) -> None:
        """End a branch; its children stay. If it was current, its parent is from then on."""
        await self._ask("drop", branch=branch_id, even_current=True)

    async def bind(self, cells: Mapping[str, str]) -> None:
        """Set the branch from which each subtask's cell starts, replacing earlier bindings.

        A notebook cell whose metadata names one of these subtasks runs in a fresh fork of the
        subtask's branch. ``on_cell_run`` gets the result; the fork stays.

        Raises:
            BranchNotFound: One of the branches does not exist; the earlier bindings stay.
        """
        await self._ask("bind", cells=dict(cells))

    async def unpickle(self, branch_id: str, variables: PickledVariables) -> UnpickleReport:
        """Send variables of the user's kernel to a branch. Call ``carry`` rather than this."""
        name = uuid.uuid4().hex
        with variables.file as file:
            offset = 0
            while data := await asyncio.to_thread(os.pread, file.fileno(), _CHUNK_BYTES, offset):
                text = base64.b64encode(data).decode("ascii")
                await self._ask("upload", upload=name, offset=offset, data=text)
                offset += len(data)
        answer = await self._ask(
            "unpickle",
            branch=branch_id,
            upload=name,
            report=variables.report.model_dump(mode="json"),
        )
        return UnpickleReport.model_validate(answer["unpickled"])

    async def tree(self) -> tuple[BranchInfo, ...]:
        """All branches, oldest first, with memory as last measured."""
        return _branches(await self._ask("list", measure=False))

    async def measure(self) -> tuple[BranchInfo, ...]:
        """All branches, with the memory that they hold now."""
        return _branches(await self._ask("list", measure=True))

    async def current(self) -> str:
        """The branch that cells run in when they name none."""
        return str((await self._ask("list", measure=False))["current"])

    async def variables(self, branch_id: str) -> tuple[Variable, ...]:
        """The user's variables in a branch; see ``Sidecar.variables``."""
        answer = await self._ask("variables", branch=branch_id)
        return tuple(Variable.model_validate(variable) for variable in answer["variables"])

    async def resolve(self, branch_id: str, names: Sequence[str]) -> tuple[ResolvedName, ...]:
        """Whether dotted names exist, as seen from a branch; see ``Sidecar.resolve``."""
        answer = await self._ask("resolve", branch=branch_id, names=list(names))
        return tuple(ResolvedName.model_validate(name) for name in answer["resolved"])

    async def inspect(self, branch_id: str, name: str) -> Inspection:
        """Type, signature, documentation and location of a dotted name."""
        answer = await self._ask("inspect", branch=branch_id, name=name)
        return Inspection.model_validate(answer["inspection"])

    async def interrupt(self, branch_id: str) -> None:
        """Interrupt what runs in a branch; no effect if nothing does."""
        metadata = {"exploracoder": {"branch": branch_id}}
        await self._talk.ask("interrupt_request", metadata=metadata)

    def _take_published(self, message: Mapping[str, Any]) -> None:
        if message["header"]["msg_type"] != "exploracoder_cell_run" or self._on_cell_run is None:
            return
        try:
            run = CellRun.model_validate(message["content"])
        except ValidationError as error:
            _log.warning("What a cell showed could not be understood: %s", error)
            return
        self._on_cell_run(run)

    async def _client(self, exits: contextlib.AsyncExitStack) -> AsyncKernelClient:
        from jupyter_client.asynchronous.client import AsyncKernelClient

        if self._given_client is not None:
            return self._given_client
        if self._connection_file is None:
            return await self._started(exits)
        client = AsyncKernelClient(connection_file=str(self._connection_file))
        try:
            client.load_connection_file()
        except (OSError, ValueError) as error:
            raise SidecarError(
                f"The connection file {self._connection_file} can't be read: {error}. "
                "Name that of a running kernel."
            ) from error
        return client

    async def _started(self, exits: contextlib.AsyncExitStack) -> AsyncKernelClient:
        from jupyter_client.kernelspec import NoSuchKernel
        from jupyter_client.manager import AsyncKernelManager

        manager = AsyncKernelManager(kernel_name=self._kernel_name)
        options: dict[str, Any] = {} if self._cwd is None else {"cwd": str(self._cwd)}
        try:
            await manager.start_kernel(extra_arguments=list(self._arguments), **options)
        except NoSuchKernel:
            raise SidecarError(
                f"Jupyter knows no kernel {self._kernel_name!r}. "
                "Install it: exploracoder sidecar install."
            ) from None
        exits.push_async_callback(manager.shutdown_kernel)
        return manager.client()

    @property
    def _talk(self) -> Conversation:
        if self._kernel is None:
            raise SidecarError("The remote sidecar is not open. Use it with 'async with'.")
        return self._kernel

    async def _ask(self, verb: str, **fields: Any) -> dict[str, Any]:
        return await self._talk.ask(f"exploracoder_{verb}_request", fields)

    async def _stop(self, branch_id: str, reply: asyncio.Future[dict[str, Any]]) -> None:
        """End a cancelled run, so that it does not go on and its branch does not stay busy."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _GRACE_SECONDS
        # A snippet that has not begun yet is not stopped by the first interrupt.
        while not reply.done() and loop.time() < deadline:
            with contextlib.suppress(SidecarError), anyio.move_on_after(_AGAIN_SECONDS):
                await self.interrupt(branch_id)
            await asyncio.wait({reply}, timeout=_AGAIN_SECONDS)
        reply.cancel()
        await asyncio.gather(reply, return_exceptions=True)


def _branches(answer: Mapping[str, Any]) -> tuple[BranchInfo, ...]:
    return tuple(BranchInfo.model_validate(branch) for branch in answer["branches"])
