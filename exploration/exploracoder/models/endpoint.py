"""Requests to a model server within limits: few retries, bounded size, no redirects, a deadline.

Failures are raised as errors with our own messages.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import json
import random
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from exploracoder_retrieval.web_access import (
    below,
    is_loopback,
    unusable_proxy,
    without_credentials,
)

from exploracoder import __version__
from exploracoder.errors import AnswerTimeoutError, ModelError, SetupError
from exploracoder.models.certificates import certificate_fault, trusted
from exploracoder.models.redaction import Redactor, secrets_of
from exploracoder.models.server_answer import parse, read_cards
from exploracoder.models.server_failures import (
    FailureReport,
    HttpReply,
    checked_api_key,
    checked_base_url,
)
from exploracoder.models.streaming import QUEUE_HEADER, StreamReader

if TYPE_CHECKING:
    import httpx

# A reply has some thousands of tokens; the longest lists of models have about a megabyte.
MOST_BYTES = 4 << 20
# In a stream each token comes in an envelope, many times its size, which is not kept.
_MOST_STREAMED_BYTES = 16 * MOST_BYTES
_CONNECT_TIMEOUT_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 8.0
# Whoever waits should know what for: after a longer one, the user may try again.
_LONGEST_ASKED_PAUSE_S = 60.0
# Quotas are usually counted by the minute.
_RATE_LIMIT_FACTOR = 4.0
# The longest wait at our shared server; it also bounds servers that only claim to be one.
_LONGEST_WAIT_S = 1800.0
# In a notebook the module's own generator is the user's.
_chance = random.Random()
# zlib's window bits for detecting a gzip or zlib header automatically.
_ANY_HEADER = 32 + zlib.MAX_WBITS

ValueT = TypeVar("ValueT")
# Called when more of a reply has arrived, with the reader that has taken all of it so far.
OnMore = Callable[[StreamReader], None]


class Endpoint:
    """A model server: its address and key, and connections between `open` and `aclose`.

    Redirects are not followed: they could take the conversation to a host that nobody named, or
    never end.
    """

    def __init__(
        self, base_url: str, api_key: str, model: str, *, timeout_s: float, max_retries: int
    ) -> None:
        """Describes the server; the arguments are those of `OpenAIChatModel`. Nothing is sent yet.

        The base URL's query is sent with each request; error messages name the ``model``. Raises
        InputError if the base URL or the key is invalid.
        """
        self._base_url = checked_base_url(base_url)
        self._api_key = checked_api_key(api_key)
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self.url = without_credentials(self._base_url)
        self.redactor = Redactor(*secrets_of(self._base_url, self._api_key))
        self.report = FailureReport(
            self._base_url, model, self.redactor, has_key=bool(self._api_key)
        )
        self._open_client: httpx.AsyncClient | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.report!r})"

    async def open(self) -> None:
        """Opens the HTTP client. Raises SetupError if a proxy or certificates cannot be used."""
        # These take a moment: other tasks go on meanwhile.
        httpx = await asyncio.to_thread(importlib.import_module, "httpx")
        certificates = await asyncio.to_thread(trusted)
        headers = {"Accept-Encoding": "identity", "User-Agent": f"exploracoder/{__version__}"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        try:
            self._open_client = httpx.AsyncClient(
                headers=headers,
                timeout=httpx.Timeout(self._timeout_s, connect=_CONNECT_TIMEOUT_S),
                trust_env=not is_loopback(self._base_url),
                follow_redirects=False,
                verify=certificates,
            )
        except (ImportError, ValueError, httpx.InvalidURL) as error:
            raise SetupError(unusable_proxy(error)) from None

    async def aclose(self) -> None:
        """Closes the connections."""
        client, self._open_client = self._open_client, None
        if client is not None:
            await client.aclose()

    @property
    def _client(self) -> httpx.AsyncClient:
        if self._open_client is None:
            raise RuntimeError("Use the model inside `async with`.")
        return self._open_client

    async def post(
        self, path: str, body: Mapping[str, Any], on_more: OnMore | None = None
    ) -> HttpReply:
        """Posts ``body`` to ``path`` below the base URL; raises httpx.HTTPError.

        ``on_more`` is called while the response to a streaming request arrives, from the start
        again if the request is retried; the reply is the one that would have come whole.
        """
        return await self._insist(path, json.dumps(body).encode(), on_more)

    async def _insist(
        self, path: str, content: bytes | None = None, on_more: OnMore | None = None
    ) -> HttpReply:
        import httpx

        for number in range(self._max_retries):
            pause_s = _pause_s(number)
            try:
                reply = await self._send(path, content, on_more)
            except httpx.TransportError as error:
                if certificate_fault(error):
                    raise
            else:
                if not reply.may_pass or reply.lacks_tools:
                    return reply
                if reply.status == 429:
                    pause_s *= _RATE_LIMIT_FACTOR
                if reply.asked_pause_s is not None:
                    pause_s = reply.asked_pause_s
                if pause_s > _LONGEST_ASKED_PAUSE_S:
                    return reply
            await asyncio.sleep(pause_s)
        return await self._send(path, content, on_more)

    async def _send(
        self, path: str, content: bytes | None = None, on_more: OnMore | None = None
    ) -> HttpReply:
        url = below(self._base_url, path)
        method = "GET" if content is None else "POST"
        headers = {} if content is None else {"Content-Type": "application/json"}
        async with self._client.stream(method, url, content=content, headers=headers) as response:
            is_shared = QUEUE_HEADER in response.headers
            if on_more is not None and response.status_code < 300:
                reply = await _read_along(response, on_more)
                return dataclasses.replace(reply, is_shared=is_shared)
            text = (await _read(response)).decode("utf-8-sig", "replace")
            retry_after = response.headers.get("Retry-After", "")
        return HttpReply(response.status_code, text, retry_after, is_shared=is_shared)

    @asynccontextmanager
    async def within_deadline(self) -> AsyncIterator[Callable[[], None]]:
        """Enforces the deadline, and turns HTTP failures into our own errors.

        Yields a function that restarts the deadline, to be called while the request is queued
        behind others; it works for half an hour at most.
        """
        import httpx

        last_start = anyio.current_time() + _LONGEST_WAIT_S
        try:
            with anyio.fail_after(self._timeout_s) as limit:

                def begin_anew() -> None:
                    limit.deadline = min(anyio.current_time(), last_start) + self._timeout_s

                yield begin_anew
        except (
            httpx.ConnectError,
            httpx.ConnectTimeout,
            httpx.ProxyError,
            httpx.InvalidURL,
        ) as error:
            if fault := certificate_fault(error):
                raise self.report.untrusted(fault) from None
            raise self.report.unreachable() from None
        except (TimeoutError, httpx.TimeoutException):
            raise self.report.timed_out(self._timeout_s) from None
        except httpx.HTTPError:
            raise self.report.connection_lost() from None

    def read(self, reply: HttpReply, read: Callable[[object], ValueT]) -> ValueT:
        """Parses a reply with ``read``. Raises ModelError if it does not have the expected form."""
        try:
            return read(parse(reply.text, self.redactor.clean))
        except (ValueError, RecursionError):
            raise self.report.not_a_completion(reply) from None

    async def cards(self) -> Sequence[Mapping[str, Any]]:
        """The entries of the server's model list; empty if it lists none.

        Some servers have no such page, or deny it to keys that may chat. An unreachable server is
        no error here, since the reply cache may have all the answers.

        Raises:
            ModelError: The server did not answer in time, or failed.
        """
        try:
            async with self.within_deadline():
                reply = await self._insist("models")
            if reply.status < 500:
                return self.read(reply, read_cards)
        except AnswerTimeoutError:
            raise
        except ModelError:
            return []
        raise self.report.refused(reply)

    async def beside(self, path: str) -> object:
        """The JSON at ``path`` below the server's root, outside the API; None if there is none."""
        try:
            async with self.within_deadline():
                reply = await self._send(f"../{path}")
            return self.read(reply, lambda content: content) if reply.status == 200 else None
        except ModelError:
            return None

    async def refusal(self, reply: HttpReply) -> ModelError:
        """The error for a refused request; it lists the available models where that helps."""
        models: tuple[str, ...] = ()
        if reply.status == 404:
            with suppress(ModelError):
                models = tuple(card["id"] for card in await self.cards())
        return self.report.refused(reply, models)


async def _read(response: httpx.Response) -> bytes:
    """The body, of which at most `MOST_BYTES` are ever held.

    Empty if it has a content encoding that nobody asked for and zlib cannot decode.
    """
    body = bytearray()
    try:
        async with aclosing(_unpacked(response)) as pieces:
            async for piece in pieces:
                body += piece[: MOST_BYTES - len(body)]
                if len(body) >= MOST_BYTES:
                    break
    except zlib.error:
        return b""
    return bytes(body)


async def _read_along(response: httpx.Response, on_more: OnMore) -> HttpReply:
    """Reads a streamed reply; raises httpx.TransportError if its end is missing."""
    import httpx

    reader, room = StreamReader(MOST_BYTES), _MOST_STREAMED_BYTES
    try:
        async with aclosing(_unpacked(response)) as pieces:
            async for piece in pieces:
                reader.take(piece)
                on_more(reader)
                room -= len(piece)
                if reader.is_over or room <= 0:
                    break
    except httpx.TransportError:
        if not reader.is_whole:
            raise
    except zlib.error:
        pass  # What has come is all that there is.
    reader.close()
    if reader.is_lost:
        raise httpx.RemoteProtocolError("The stream has no end.")
    status, text = reader.reply()
    return HttpReply(status, text, is_stream=reader.is_stream)


async def _unpacked(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it arrives, decompressed in pieces of up to `MOST_BYTES`; raises zlib.error."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        return
    unpacker = zlib.decompressobj(_ANY_HEADER) if encoding not in ("", "identity") else None
    async for piece in response.aiter_raw():
        while unpacker and piece:
            yield unpacker.decompress(piece, MOST_BYTES)
            piece = unpacker.unconsumed_tail
        if piece:
            yield piece


def _pause_s(number: int) -> float:
    """How long to wait before a request is sent again, in seconds, if the server does not say."""
    # Add jitter, so that clients that failed together do not retry together.
    return min(_FIRST_PAUSE_S * 2.0**number, _LONGEST_PAUSE_S) * _chance.uniform(0.75, 1.0)
