"""Queries the user's own kernel from outside, without interrupting it or binding names in it."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from exploracoder_kernel import branch
from exploracoder_kernel.errors import KernelError
from exploracoder_kernel.pickled_variables import (
    PickledVariables,
    PickleReport,
    PickleRequest,
    library_source,
)
from exploracoder_kernel.scratch import Scratch

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

_SCRIPT = Path(branch.__file__).parent / "pickling.py"
_HEARTBEAT_SECONDS = 5.0


@asynccontextmanager
async def attach(connection_file: str) -> AsyncIterator[AsyncKernelClient]:
    """Connect a client to a running kernel.

    Args:
        connection_file: Its path, or the kernel's id or a part of it.

    Raises:
        KernelError: There is no such file, or it is not a connection file.
    """
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from jupyter_client.connect import find_connection_file

    from exploracoder_kernel.kernel.heartbeat import Heartbeat

    client = AsyncKernelClient()
    client.hb_channel_class = Heartbeat
    try:
        client.load_connection_file(find_connection_file(connection_file))
    except OSError as error:
        raise KernelError(
            f"No connection file {connection_file!r}. In the notebook, %connect_info names it."
        ) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise KernelError(f"{connection_file} is not a kernel's connection file.") from error
    client.start_channels()
    try:
        yield client
    finally:
        client.stop_channels()


class UserKernel:
    """Queries a running Python kernel. Nobody else may read the client's shell channel meanwhile.

    Args:
        client: The client of a kernel on this machine, with its channels started.
        busy_seconds: How long to wait for a kernel that is running a cell.
        seconds: How long an answer may take.
    """

    def __init__(
        self, client: AsyncKernelClient, *, busy_seconds: float = 10.0, seconds: float = 120.0
    ) -> None:
        self._client = client
        self._busy_seconds = busy_seconds
        self._seconds = seconds

    async def evaluate(self, expression: str) -> str:
        """The ``repr`` of an expression, which must have no side effects.

        Raises:
            KernelError: The kernel is busy, has ended, speaks another language, or could not
                evaluate it.
        """
        content: Mapping[str, Any] = {"status": "aborted"}
        # If a cell of the user's fails, the requests queued behind it are aborted.
        while content["status"] == "aborted":
            await self._wait_until_idle()
            content = await self._execute(expression)
        value = content.get("user_expressions", {}).get("value", {})
        if value.get("status") != "ok":
            raise KernelError(f"The kernel could not answer: {value.get('evalue', 'nothing')}.")
        return str(value["data"].get("text/plain", ""))

    async def pickle(self, request: PickleRequest) -> PickledVariables:
        """Have the kernel write its variables to a file, which is unlinked on return.

        Raises:
            KernelError: The kernel is busy, has ended, failed, or can't be reached with files.
        """
        # If this process is killed before it removes the folder, the next start does.
        scratch = await asyncio.to_thread(Scratch.create)
        path = scratch.folder / "variables"
        try:
            report = _read_report(await self.evaluate(_pickling(request, path)))
            return PickledVariables(path.open("rb"), report)
        except FileNotFoundError:
            raise KernelError(
                "The kernel wrote nothing that can be read here. Variables can be brought from a"
                " kernel of this machine and this user only."
            ) from None
        finally:
            scratch.remove()

    async def _wait_until_idle(self) -> None:
        request = self._client.kernel_info(reply=True, timeout=self._busy_seconds)
        late = (
            f"The kernel has been busy for {self._busy_seconds:g} s, and is not interrupted. Try"
            " again when its cell has ended."
        )
        info = await self._reply(request, late)
        language = info.get("language_info", {}).get("name", "python")
        if language != "python":
            raise KernelError(
                f"The kernel runs {language}. Only variables of a Python kernel can be brought."
            )

    async def _execute(self, expression: str) -> Mapping[str, Any]:
        request = self._client.execute(
            "",
            silent=True,
            store_history=False,
            allow_stdin=False,
            stop_on_error=False,
            user_expressions={"value": expression},
            reply=True,
            timeout=self._seconds,
        )
        late = (
            f"The kernel did not write its variables within {self._seconds:g} s. Bring fewer of"
            " them."
        )
        return await self._reply(request, late)

    async def _reply(self, request: Awaitable[Any], late: str) -> Mapping[str, Any]:
        """The reply's content. Raises KernelError: ``late`` on a timeout, or if the kernel dies."""
        reply = asyncio.ensure_future(request)
        try:
            while not (await asyncio.wait({reply}, timeout=_HEARTBEAT_SECONDS))[0]:
                if not await self._client.is_alive():
                    raise KernelError("The kernel does not answer. Has it ended?")
            return dict(reply.result()["content"])
        except TimeoutError:
            raise KernelError(late) from None
        finally:
            reply.cancel()
            await asyncio.wait({reply})


def _pickling(request: PickleRequest, path: Path) -> str:
    """An expression that binds no name; it imports builtins, since some may be rebound."""
    text = _SCRIPT.read_text(encoding="utf-8")
    options = request.model_dump() | {"path": str(path), "library": library_source()}
    run = f"__import__('builtins').exec({text!r}, space) or space['answer']({options!r})"
    return f"(lambda space: {run})({{'__name__': '_exploracoder_pickling'}})"


def _read_report(answer: str) -> PickleReport:
    try:
        report = PickleReport.model_validate_json(ast.literal_eval(answer))
    except (ValidationError, ValueError, SyntaxError) as error:
        raise KernelError("The kernel's report could not be understood.") from error
    if report.failure:
        raise KernelError(f"The kernel could not write its variables: {report.failure}")
    return report
