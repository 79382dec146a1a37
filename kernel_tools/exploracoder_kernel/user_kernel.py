"""A kernel of the user's, asked from outside: never interrupted, and no name is left in it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder_kernel import branch
from exploracoder_kernel.errors import KernelError
from exploracoder_kernel.parcels import library_folder
from exploracoder_kernel.scratch import Scratch

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

_SCRIPT = Path(branch.__file__).parent / "packing.py"
_POLL_SECONDS = 0.01
_ANSWER_SECONDS = 5.0


@asynccontextmanager
async def attach(connection_file: str) -> AsyncIterator[AsyncKernelClient]:
    """A client of a running kernel.

    Args:
        connection_file: Its path, or the kernel's id or a part of it.

    Raises:
        KernelError: There is no such file, or it is not one.
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
    """Asks a running kernel of Python to write variables to a file.

    Nobody else may read the client's shell and control channels meanwhile.

    Args:
        client: With its channels started.
        busy_seconds: How long a kernel that runs a cell is waited for.
        seconds: How long writing may take.
    """

    def __init__(self, client: AsyncKernelClient, *, busy_seconds: float, seconds: float) -> None:
        self._client = client
        self._busy_seconds = busy_seconds
        self._seconds = seconds

    async def check(self) -> None:
        """Refuse what is no kernel of Python.

        A kernel that answers on its control channel does so while it runs a cell, too.

        Raises:
            KernelError: It has ended, or speaks another language.
        """
        info = await self._info()
        language = info.get("language_info", {}).get("name", "python")
        if language != "python":
            raise KernelError(
                f"The kernel runs {language}. Only variables of a Python kernel can be brought."
            )

    async def _info(self) -> Mapping[str, Any]:
        client = self._client
        message = client.session.msg("kernel_info_request")
        client.control_channel.send(message)
        deadline = time.monotonic() + _ANSWER_SECONDS
        while (remaining := deadline - time.monotonic()) > 0:
            try:
                reply = await client.get_control_msg(timeout=remaining)
            except Exception:  # noqa: BLE001  # queue.Empty, and what zmq may say instead
                break
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return dict(reply["content"])
        if not await client.is_alive():
            raise KernelError("The kernel does not answer. Has it ended?")
        return {}

    async def evaluate(self, expression: str) -> str:
        """``repr`` of an expression, which must not change anything.

        Raises:
            KernelError: The kernel is busy, or could not evaluate it.
        """
        content: Mapping[str, Any] = {"status": "aborted"}
        # A cell of the user's that fails takes all with it that waits behind it.
        while content["status"] == "aborted":
            content = await self._expressions({"asked": expression})
        answer = content.get("user_expressions", {}).get("asked", {})
        if answer.get("status") != "ok":
            raise KernelError(f"The kernel could not answer: {answer.get('evalue', 'nothing')}.")
        return str(answer["data"].get("text/plain", ""))

    async def _expressions(self, expressions: Mapping[str, str]) -> Mapping[str, Any]:
        try:
            reply = await self._client.execute(
                "",
                silent=True,
                store_history=False,
                allow_stdin=False,
                user_expressions=dict(expressions),
                reply=True,
                timeout=self._busy_seconds,
            )
        except (TimeoutError, asyncio.TimeoutError):
            raise KernelError(
                f"The kernel has been busy for {self._busy_seconds:g} s. Try again when its cell"
                " has ended."
            ) from None
        return dict(reply["content"])

    @asynccontextmanager
    async def packed(
        self, names: Sequence[str], refused: Mapping[str, str], *, python: str, limit_bytes: int
    ) -> AsyncIterator[tuple[Path, Mapping[str, Any]]]:
        """The file that the kernel wrote, and its report. Both are gone on leaving.

        Raises:
            KernelError: The kernel is busy, has ended, failed, or can't be reached with files.
        """
        # The next start removes it if this process is killed before it can.
        scratch = await asyncio.to_thread(Scratch.create)
        folder = scratch.folder
        try:
            shutil.copytree(
                library_folder(),
                folder / "cloudpickle",
                ignore=shutil.ignore_patterns("__pycache__"),
            )
            request = {
                "folder": str(folder),
                "names": list(names),
                "refused": dict(refused),
                "python": python,
                "limit_bytes": limit_bytes,
            }
            # A cell of the user's that fails takes all with it that waits behind it.
            while (report := await self._ask(request, folder)) is None:
                pass
            yield folder / "variables", report
        finally:
            scratch.remove()

    async def _ask(self, request: Mapping[str, Any], folder: Path) -> Mapping[str, Any] | None:
        """Its report; none if the kernel dropped the request before it began."""
        waiting = self._client.execute(
            _code(request),
            silent=True,
            store_history=False,
            allow_stdin=False,
            stop_on_error=False,
            reply=True,
            timeout=self._busy_seconds + self._seconds,
        )
        reply = asyncio.ensure_future(waiting)
        try:
            await self._wait_for_start(folder / "started.json", reply)
            await self._wait_for_reply(reply)
        finally:
            reply.cancel()
            with contextlib.suppress(BaseException):
                await reply
        return _read_report(folder / "report.json", reply)

    async def _wait_for_start(self, started: Path, reply: asyncio.Future[Any]) -> None:
        deadline = time.monotonic() + self._busy_seconds
        # A file of our own that is a few bytes long: looking does not block.
        while not (started.exists() or reply.done()):  # noqa: ASYNC240
            if time.monotonic() > deadline:
                if not await self._client.is_alive():
                    raise KernelError("The kernel does not answer. Has it ended?")
                raise KernelError(
                    f"The kernel has been busy for {self._busy_seconds:g} s, and is not"
                    " interrupted. Try again when its cell has ended."
                )
            await asyncio.sleep(_POLL_SECONDS)

    async def _wait_for_reply(self, reply: asyncio.Future[Any]) -> None:
        deadline = time.monotonic() + self._seconds
        while not reply.done():
            await asyncio.wait({reply}, timeout=1.0)
            if not reply.done() and not await self._client.is_alive():
                raise KernelError("The kernel ended while it wrote its variables.")
            if time.monotonic() > deadline:
                raise KernelError(
                    f"The kernel did not write its variables within {self._seconds:g} s."
                    " Bring fewer of them."
                )


def _code(request: Mapping[str, Any]) -> str:
    """One statement that binds no name; builtins are fetched anew, for some may be rebound."""
    text = _SCRIPT.read_text(encoding="utf-8")
    space = {"__name__": "_exploracoder_packing", "REQUEST": dict(request)}
    return f"__import__('builtins').exec({text!r}, {space!r})"


def _read_report(path: Path, reply: asyncio.Future[Any]) -> Mapping[str, Any] | None:
    try:
        report: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        content = reply.result()["content"] if reply.done() and not reply.cancelled() else {}
        if content.get("status") == "aborted":
            return None
        if content.get("status") == "error":
            raise KernelError(
                f"The kernel could not write its variables: {content.get('ename')}:"
                f" {content.get('evalue')}"
            ) from None
        raise KernelError(
            "The kernel wrote nothing that can be read here. Variables can be brought from a"
            " kernel of this machine and this user only."
        ) from None
    if "failed" in report:
        raise KernelError(f"The kernel could not write its variables: {report['failed']}")
    return report
