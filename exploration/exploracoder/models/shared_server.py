"""One model for all users of a machine, each with a key of their own, behind a fair queue.

It forwards completion requests and the model list, and nothing else of the server behind it. A
stream that has to wait begins with comments, ``: queue {"before": 2}``, which clients that do not
know them ignore; the last one, before the reply, has no number.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx
from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler, stream_request_body

from exploracoder.errors import ExploraCoderError, InputError, SetupError
from exploracoder.models.endpoint import MOST_BYTES
from exploracoder.models.fair_queue import FairQueue
from exploracoder.models.local_server import Announcement
from exploracoder.models.shared_keys import SharedKeys
from exploracoder.models.streaming import QUEUE_HEADER, queue_comment

_LONGEST_WAIT_S, _LONGEST_RUN_S = 1800.0, 600.0
_RETRY_AFTER_S = 10
_MOST_READ_BYTES, _BODY_TIMEOUT_S = 16 * MOST_BYTES, 60.0

OpenModel = Callable[[], AbstractAsyncContextManager[Announcement]]


class _RefusalError(HTTPError):
    """A response other than the model's, with a message for the client."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(status)
        self.words = words


class SharedServer:
    """State shared by the handlers; an async context manager that opens the model on entry.

    A model whose server was lost is opened again for the next request.

    Args:
        keys: The keys of the users who may ask.
        queue: Determines the order of their requests.
        open_model: Opens the server behind this one.
        say: Called with a message for whoever runs this.
    """

    def __init__(
        self, keys: SharedKeys, queue: FairQueue, open_model: OpenModel, say: Callable[[str], None]
    ) -> None:
        self.keys = keys
        self.queue = queue
        self.say = say
        self._open_model = open_model
        self._open_lock = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._model: Announcement | None = None
        # A connection per request: one that was kept alive may be closed just as it is reused.
        self._client = httpx.AsyncClient(
            timeout=_LONGEST_RUN_S,
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
        )

    async def __aenter__(self) -> Announcement:
        """Opens the server behind this one. Raises what opening the model raises."""
        return await self._opened()

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()
        await self._stack.aclose()

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> AsyncIterator[httpx.Response]:
        """Yields the model server's response. Raises _RefusalError if it does not answer."""
        try:
            model = await self._opened()
        except ExploraCoderError as error:
            self.say(str(error))
            raise _RefusalError(
                503, "The model cannot be loaded. Ask whoever runs its server."
            ) from None
        headers = {"Authorization": f"Bearer {model.api_key}", "Accept-Encoding": "identity"}
        url = f"{model.base_url}/{path}"
        try:
            async with self._client.stream(method, url, json=body, headers=headers) as response:
                yield response
        except httpx.TransportError:
            await self._lose(model)
            raise _RefusalError(
                502, "The model's server was lost. It starts again: ask again."
            ) from None

    async def _opened(self) -> Announcement:
        async with self._open_lock:
            if self._model is None:
                self._model = await self._stack.enter_async_context(self._open_model())
            return self._model

    async def _lose(self, model: Announcement) -> None:
        async with self._open_lock:
            if self._model is model:
                self._model = None
                self.say("The model's server was lost; the next request starts it again.")
                await self._stack.aclose()


class _Handler(RequestHandler):
    """Common to all handlers: authentication by key, and errors as JSON."""

    user = ""

    def initialize(self, shared_server: SharedServer) -> None:
        self.shared_server = shared_server

    def set_default_headers(self) -> None:
        self.set_header("Server", "exploracoder")
        self.set_header(QUEUE_HEADER, "1")

    def prepare(self) -> None:
        key = self.request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        try:
            user = self.shared_server.keys.user_of(key)
        except InputError as error:
            self.shared_server.say(str(error))
            raise _RefusalError(
                503, "No key can be checked now. Ask whoever runs the server."
            ) from None
        if user is None:
            raise _RefusalError(
                401, "That is no key of this server's. Ask whoever runs it for yours."
            )
        self.user = user

    def write_error(self, status_code: int, **more: Any) -> None:
        error = more.get("exc_info", (None, None))[1]
        if status_code == 429:
            self.set_header("Retry-After", str(_RETRY_AFTER_S))
        self.finish(_error(status_code, getattr(error, "words", self._reason)))

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, HTTPError):
            super().log_exception(kind, error, trace)


class _Nowhere(_Handler):
    def prepare(self) -> None:
        super().prepare()
        raise _RefusalError(404, "Served here: /v1/models, /v1/queue, /v1/[chat/]completions.")


class _Queue(_Handler):
    def get(self) -> None:
        self.finish(self.shared_server.queue.status(self.user).model_dump())


class _Models(_Handler):
    async def get(self) -> None:
        async with self.shared_server.ask("GET", "models") as response:
            self.set_status(response.status_code)
            self.finish(json.loads(await response.aread()))


@stream_request_body
class _Completions(_Handler):
    def initialize(self, shared_server: SharedServer) -> None:
        super().initialize(shared_server)
        self._body = bytearray()
        self._work: asyncio.Future[None] | None = None

    def data_received(self, chunk: bytes) -> None:
        # A body without a key, or beyond the limit, is discarded but still read, since a client
        # that is still sending would not read why it was refused.
        if self.user and len(self._body) <= MOST_BYTES:
            self._body += chunk

    def on_connection_close(self) -> None:
        super().on_connection_close()
        if self._work is not None:
            self._work.cancel()

    async def post(self, path: str) -> None:
        if len(self._body) > MOST_BYTES:
            raise _RefusalError(413, f"A request has at most {MOST_BYTES >> 20} MiB here.")
        request = _checked(self._body)
        # A separate task, cancelled when the connection closes, wherever it waits.
        self._work = asyncio.ensure_future(self._answer(path, request))
        try:
            await asyncio.wait({self._work})
            if not self._work.cancelled():
                self._work.result()
        except _RefusalError as refusal:
            if not self._headers_written:
                raise
            self._end_stream(_error(refusal.status_code, refusal.words))
        finally:
            self._work.cancel()

    async def _answer(self, path: str, request: dict[str, Any]) -> None:
        is_stream = bool(request.get("stream"))
        if self.shared_server.queue.is_full_for(self.user):
            raise _RefusalError(
                429, "As many requests of yours wait as may. Ask again when one is done."
            )

        async def tell(before: int | None) -> None:
            if is_stream:
                self.set_header("Content-Type", "text/event-stream")
                self.write(queue_comment(before))
                await self.flush()

        try:
            with anyio.fail_after(_LONGEST_WAIT_S) as limit:
                async with self.shared_server.queue.turn(self.user, tell):
                    limit.deadline = anyio.current_time() + _LONGEST_RUN_S
                    if self._headers_written:
                        await tell(None)
                    async with self.shared_server.ask("POST", path, request) as response:
                        await self._pass_on(response, is_stream)
        except TimeoutError:
            most = f"{_LONGEST_WAIT_S / 60:g} minutes to wait and {_LONGEST_RUN_S / 60:g} to run"
            raise _RefusalError(504, f"The request took too long: it has {most}.") from None

    async def _pass_on(self, response: httpx.Response, is_stream: bool) -> None:
        """Forwards a stream as it arrives; all else whole, so that a lost connection shows."""
        if not self._headers_written:
            self.set_status(response.status_code)
            self.set_header("Content-Type", response.headers.get("Content-Type", ""))
        if is_stream and response.is_success:
            async for piece in response.aiter_raw():
                self.write(piece)
                await self.flush()
        elif self._headers_written:
            self._end_stream(json.loads(await response.aread()))
        else:
            self.write(await response.aread())

    def _end_stream(self, error: dict[str, Any]) -> None:
        """Ends a stream that has begun with an error; it may be in the middle of a line."""
        self.write(f"\n\ndata: {json.dumps(error)}\n\n")


def _checked(body: bytes | bytearray) -> dict[str, Any]:
    """The request, if it is valid: several in one would bypass the queue."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise _RefusalError(400, "The request is no JSON object.")
    if any(request.get(name) not in (None, 1) for name in ("n", "n_cmpl")):
        raise _RefusalError(400, "Field 'n': a request gets one reply here. Ask again for more.")
    if isinstance(request.get("prompt"), list):
        raise _RefusalError(400, "Field 'prompt': a request has one text here.")
    # Users may not choose which of the server's slots answers.
    request.pop("id_slot", None)
    return request


def _error(status: int, words: str) -> dict[str, Any]:
    return {"error": {"message": words, "type": "shared_server", "code": status}}


@asynccontextmanager
async def listening(shared_server: SharedServer, address: str, port: int) -> AsyncIterator[str]:
    """Serves as long as the block lasts, and yields the base URL.

    Args:
        shared_server: A server that has been entered.
        address: The address to listen on.
        port: The port to listen on; 0 picks any free one.

    Raises:
        SetupError: Nothing can listen there.
    """
    arguments = {"shared_server": shared_server}
    application = Application(
        [
            (r"/v1/models", _Models, arguments),
            (r"/v1/queue", _Queue, arguments),
            (r"/v1/((?:chat/)?completions)", _Completions, arguments),
        ],
        default_handler_class=_Nowhere,
        default_handler_args=arguments,
        log_function=lambda handler: None,
    )
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.create_server((address, port), family=family, backlog=128)
    except OSError as error:
        raise SetupError(
            f"Nothing can listen at {address}, port {port}: {error.strerror}. Choose another one"
            " with --address and --port."
        ) from error
    server = HTTPServer(application, max_body_size=_MOST_READ_BYTES, body_timeout=_BODY_TIMEOUT_S)
    listener.setblocking(False)
    server.add_socket(listener)
    host = f"[{address}]" if ":" in address else address
    try:
        yield f"http://{host}:{listener.getsockname()[1]}/v1"
    finally:
        server.stop()
        await server.close_all_connections()
