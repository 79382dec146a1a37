"""The sidecar of one exploration, as a kernel of the Jupyter server's own manager."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from exploracoder.errors import SetupError
from exploracoder.opening import Scratch
from exploracoder.texts import Text
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.remote import RemoteSidecar
from exploracoder_kernel.kernel.start_options import VARIABLE, StartOptions
from exploracoder_kernel.observation import CellRun
from exploracoder_kernel.run_limits import Limits
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from exploracoder_jupyter.services import Services

KERNEL_NAME = "exploracoder"
# A manager checks every three seconds whether a kernel has died, and restarts it.
_BACK_SECONDS = 8.0
_LOOK_SECONDS = 0.2
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Ears:
    """Callbacks for what happens in a kernel.

    Attributes:
        on_cell_run: Called when a person has run a subtask's cell by hand.
        on_lost: Called with a message when the kernel has ended or was restarted.
    """

    on_cell_run: Callable[[CellRun], None]
    on_lost: Callable[[str], None]


class SidecarKernel:
    """Starts and ends the kernel, and opens it for the engine.

    Args:
        services: The server's managers.
        wishes: Which Python and sandbox to use, and how to make branches.
        ears: Callbacks for what happens; None for a kernel that nobody else uses.
    """

    def __init__(self, services: Services, wishes: StartOptions, ears: Ears | None = None) -> None:
        self._services = services
        self._wishes = wishes
        self._ears = ears
        self.id = ""

    @property
    def is_busy(self) -> bool:
        """Whether it is running something, as far as the server knows."""
        kernels = self._services.kernels
        kernel = kernels.get_kernel(self.id) if self.id in kernels else None
        return getattr(kernel, "execution_state", "idle") == "busy"

    @property
    def is_there(self) -> bool:
        """Whether the server's manager knows it, so that it has not been shut down."""
        return bool(self.id) and self.id in self._services.kernels

    async def start(self, path: str, *, is_shown: bool = True) -> None:
        """Start it unless it exists; if ``is_shown``, bind it to the notebook at ``path``.

        Raises SetupError when it does not start.
        """
        if not self.is_there:
            text = self._wishes.model_dump_json(exclude_unset=True)
            self.id = await self._services.start_kernel(KERNEL_NAME, path, {VARIABLE: text})
        if is_shown:
            await self._services.bind(path, self.id)

    async def stop(self) -> None:
        """Shut it down, with the sessions that use it."""
        if self.id:
            await self._services.unbind(self.id)

    @asynccontextmanager
    async def opened(self, limits: Limits) -> AsyncIterator[Scratch]:
        """Connect to the kernel in a clean state, as the engine needs it.

        Raises SidecarError when it cannot be reached.
        """
        sidecar = await self._fresh(limits)
        try:
            about = sidecar.sandbox
            is_off = about.get("mechanism", "none") == "none"
            words = about.get("level", "off")
            yield Scratch(sidecar, words if is_off else f"{words} ({about['mechanism']})")
        finally:
            await sidecar.__aexit__(None, None, None)

    async def _fresh(self, limits: Limits) -> RemoteSidecar:
        """Connect to the kernel; one that has already run cells is restarted first."""
        failure: SidecarError | None = None
        for _ in range(_TRIES):
            await self._wait_until_alive()
            sidecar = self._sidecar(limits)
            try:
                await sidecar.__aenter__()
            except SidecarError as error:
                failure = error
                continue
            try:
                tree = await sidecar.tree()
                if len(tree) == 1 and tree[0].cells == 0:
                    return sidecar
            except SidecarError as error:
                failure = error
            except BaseException:
                await sidecar.__aexit__(None, None, None)
                raise
            await sidecar.__aexit__(None, None, None)
            await self._restart()
        raise failure or SidecarError("The scratch kernel is in use by somebody else. Close it.")

    def _sidecar(self, limits: Limits) -> RemoteSidecar:
        client = self._services.kernels.get_kernel(self.id).client()
        ears = self._ears
        if ears is None:
            return RemoteSidecar(client=client, limits=limits)
        return RemoteSidecar(
            client=client, limits=limits, on_cell_run=ears.on_cell_run, on_lost=ears.on_lost
        )

    async def _wait_until_alive(self) -> None:
        """Wait until it lives; the server's manager restarts one that has died within seconds."""
        deadline = asyncio.get_running_loop().time() + _BACK_SECONDS
        while self.is_there:
            try:
                if await ensure_async(self._services.kernels.is_alive(self.id)):
                    return
            except (HTTPError, KeyError):
                break
            if asyncio.get_running_loop().time() > deadline:
                await self._restart()
                return
            await asyncio.sleep(_LOOK_SECONDS)
        raise SidecarError("The scratch kernel was shut down.")

    async def _restart(self) -> None:
        try:
            await ensure_async(self._services.kernels.restart_kernel(self.id))
        except (HTTPError, KeyError, OSError, RuntimeError) as error:
            raise SetupError(
                Text("The scratch kernel could not be restarted: %1", error)
            ) from error
