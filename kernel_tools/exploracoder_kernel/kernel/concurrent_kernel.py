"""ipykernel's base class, made to answer several requests at the same time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import zmq
from ipykernel.kernelbase import Kernel
from zmq.eventloop.zmqstream import ZMQStream

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.request_contents import BadRequest, Content, Message, Request
from exploracoder_kernel.kernel.sockets import Sockets

_log = logging.getLogger("exploracoder.kernel")
_PARTS = ("header", "parent_header", "metadata", "content")


class ConcurrentKernel(Kernel):
    """Answers the requests of all front ends until one of them shuts the kernel down.

    ipykernel itself answers one request after the other, with a thread for each channel. Here each
    request is a task of one event loop, and ``turn`` says which of them wait for each other.
    Handlers, the base class's and those added to ``shell_handlers``, are called as in ipykernel;
    an exception from a request's handler becomes an error reply.
    """

    def __init__(self, sockets: Sockets) -> None:
        super().__init__(session=sockets.session, log=_log)  # type: ignore[no-untyped-call]
        self._session = sockets.session
        self.shell = sockets.stream("shell")
        self._control, self._stdin, self._iopub = map(sockets.stream, ("control", "stdin", "iopub"))
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop_event = asyncio.Event()
        self._prompt_lock = asyncio.Lock()
        self._prompt: tuple[list[bytes], str, asyncio.Future[str]] | None = None

    def turn(self, stream: ZMQStream, message: Message) -> AbstractAsyncContextManager[Any]:
        """The lock to hold while a request is answered; waiting requests get it in order."""
        raise NotImplementedError

    async def serve(self) -> None:
        """Answer requests until ``stop`` is called or a shutdown is requested."""
        for stream in (self.shell, self._control):
            stream.on_recv(partial(self._take, partial(self._answer_soon, stream)))
        self._stdin.on_recv(partial(self._take, self._take_line))
        self._iopub.on_recv(self._greet)
        self._iopub.flush(zmq.POLLIN)  # greet early subscribers before all else
        self.publish("status", {"execution_state": "starting"})
        try:
            await self._stop_event.wait()
        finally:
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def stop(self) -> None:
        """End ``serve``; requests in progress are cancelled."""
        self._stop_event.set()

    def close(self) -> None:
        """Tell all front ends that the kernel is ending, and flush the outgoing messages."""
        self.publish("shutdown_reply", {"status": "ok", "restart": False})
        for stream in (self.shell, self._control, self._stdin, self._iopub):
            stream.stop_on_recv()
            stream.flush(zmq.POLLOUT)

    def publish(
        self,
        kind: str,
        content: Content,
        parent: Message | None = None,
        *,
        metadata: Content | None = None,
        buffers: Sequence[Any] = (),
    ) -> None:
        """Publish to all front ends; ``parent`` is the request that the message belongs to."""
        session, topic = self._session, self._topic(kind)
        stream, binary = self._iopub, [*buffers]
        session.send(stream, kind, content, parent, topic, binary, metadata=metadata)

    def reply(
        self,
        stream: ZMQStream,
        ident: list[bytes],
        parent: Message,
        content: Content,
        metadata: Content | None = None,
    ) -> None:
        """Answer a request on the channel that it came from."""
        kind = parent["msg_type"].removesuffix("_request") + "_reply"
        self._session.send(stream, kind, content, parent, ident, metadata=metadata)

    async def ask_user(self, request: Request, prompt: str, *, is_password: bool) -> str:
        """Ask the user of the front end that sent ``request`` for a line, one question at a time.

        ipykernel's own implementation blocks the whole kernel until somebody answers.
        """
        content = {"prompt": prompt, "password": is_password}
        async with self._prompt_lock:
            answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            message: Any = self._session.send(
                self._stdin, "input_request", content, request.message, request.ident
            )
            self._prompt = request.ident, message["msg_id"], answer
            try:
                return await answer
            finally:
                self._prompt = None

    def start_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the background; it is cancelled when the kernel ends."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def shutdown_request(
        self, stream: ZMQStream, ident: list[bytes], parent: Message
    ) -> None:
        """Reply, and shut the kernel down."""
        is_restart = bool(parent["content"].get("restart"))
        self.reply(stream, ident, parent, {"status": "ok", "restart": is_restart})
        self.stop()

    def _greet(self, frames: list[bytes]) -> None:
        """Tell a new subscriber that it misses nothing published from now on."""
        is_new, topic = frames[0][:1] == b"\x01", frames[0][1:]
        if is_new:
            content = {"subscription": topic.decode("utf-8", "replace")}
            session, iopub = self._session, self._iopub
            session.send(iopub, "iopub_welcome", content, ident=topic or None)

    def _take(self, place: Callable[[Request], None], frames: list[bytes]) -> None:
        """Read a message and pass it on; one that is not signed with our key is dropped."""
        try:
            ident, parts = self._session.feed_identities(frames)
            message = self._session.deserialize(parts)
            if not all(isinstance(message[part], dict) for part in _PARTS):
                raise TypeError("one of its parts is no object")
        except Exception as error:  # noqa: BLE001  # bytes from outside may be anything
            _log.warning("A message was left out: %s", error)
            return
        place(Request(message, ident))

    def _take_line(self, request: Request) -> None:
        """Take what a user typed; a line that nobody asked for is dropped."""
        value = request.message["content"].get("value")
        if self._prompt is None or not isinstance(value, str):
            return
        asker, question_id, answer = self._prompt
        # Not every client says which question it answers.
        is_meant = request.message["parent_header"].get("msg_id", question_id) == question_id
        if asker == request.ident and is_meant and not answer.done():
            answer.set_result(value)

    def _answer_soon(self, stream: ZMQStream, request: Request) -> None:
        self.start_task(self._answer(stream, request.ident, request.message))

    async def _answer(self, stream: ZMQStream, ident: list[bytes], parent: Message) -> None:
        self.set_parent(ident, parent)
        kind = parent["msg_type"]
        async with self.turn(stream, parent):
            self.publish("status", {"execution_state": "busy"}, parent)
            try:
                handler = self.shell_handlers.get(kind)
                if handler is None:
                    raise BadRequest(f"This kernel does not know what a {kind!r} is.")
                await handler(stream, ident, parent)
            except Exception as error:  # noqa: BLE001  # the outermost frame of a request
                self._answer_error(stream, ident, parent, error)
            finally:
                self.publish("status", {"execution_state": "idle"}, parent)

    def _answer_error(
        self, stream: ZMQStream, ident: list[bytes], parent: Message, error: Exception
    ) -> None:
        kind = parent["msg_type"]
        if not isinstance(error, BadRequest | SidecarError):
            _log.exception("A %s could not be answered.", kind, exc_info=error)
        if not kind.endswith("_request"):
            _log.warning("A %s was left out: %s", kind, error)
            return
        self.reply(stream, ident, parent, {"status": "error", **error_content(error)})


def error_content(error: Exception) -> Content:
    """An error's fields in the Jupyter protocol."""
    name = type(error).__name__
    return {"ename": name, "evalue": str(error), "traceback": [f"{name}: {error}"]}
