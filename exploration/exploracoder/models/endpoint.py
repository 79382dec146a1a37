"""HTTP to a model server, within bounds: few requests, so many bytes, no redirects."""

from __future__ import annotations

import asyncio
import json
import random
import zlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from exploracoder import __version__
from exploracoder.models.streaming import StreamReader

if TYPE_CHECKING:
    import httpx

# A reply has some thousands of tokens; the longest lists of models have about a megabyte.
MOST_BYTES = 4 << 20
# In a stream each token comes in an envelope, many times its size, which is not kept.
_MOST_STREAMED_BYTES = 16 * MOST_BYTES
_CONNECT_TIMEOUT_S = 10.0
_PASSING = (408, 409, 429)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 8.0
_LONGEST_ASKED_PAUSE_S = 60.0
# zlib's sign for "gzip or zlib, whichever it is".
_ANY_HEADER = 32 + zlib.MAX_WBITS


# Called when more of a reply has come, with what gives its text so far.
OnMore = Callable[[Callable[[], str]], None]


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server answered; ``text`` is the body, cut at `MOST_BYTES`.

    ``is_stream`` says that it came in pieces, which were put together.
    """

    status: int
    text: str
    retry_after: str = ""
    is_stream: bool = False

    @property
    def may_pass(self) -> bool:
        """Whether the same request may be answered a little later."""
        return self.status in _PASSING or self.status >= 500


class Endpoint:
    """A server's address, with connections that stay open until `aclose`.

    Redirects are not followed: they would take the conversation to a place that nobody named, or
    round in circles. The caller sets the deadline.
    """

    def __init__(self, base_url: str, api_key: str, *, timeout_s: float, max_retries: int) -> None:
        """Prepares connections; nothing is sent yet.

        Args:
            base_url: Its query goes along with each request.
            api_key: Sent as a bearer token unless empty.
            timeout_s: The longest silence of the server, in seconds.
            max_retries: How often a request is sent again after a failure that may pass.
        """
        import httpx

        headers = {"Accept-Encoding": "identity", "User-Agent": f"exploracoder/{__version__}"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        # A proxy set for the outside world cannot reach this machine's loopback.
        is_local = urlsplit(base_url).hostname in ("127.0.0.1", "localhost", "::1")
        self._base = httpx.URL(base_url)
        self._max_retries = max_retries
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(timeout_s, connect=_CONNECT_TIMEOUT_S),
            trust_env=not is_local,
            follow_redirects=False,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def get(self, path: str) -> HttpReply:
        """What the server says at ``path``, counted from the base URL; raises httpx.HTTPError."""
        return await self._insist("GET", path, None)

    async def post(
        self, path: str, body: Mapping[str, Any], on_more: OnMore | None = None
    ) -> HttpReply:
        """The same for a request with a JSON body.

        ``on_more`` reads along what answers a request for a stream, from the start again when that
        is sent again; the reply is what would have come whole.
        """
        return await self._insist("POST", path, json.dumps(body).encode(), on_more)

    async def _insist(
        self, method: str, path: str, content: bytes | None, on_more: OnMore | None = None
    ) -> HttpReply:
        import httpx

        for number in range(self._max_retries):
            try:
                reply = await self._send(method, path, content, on_more)
            except httpx.TransportError:
                await asyncio.sleep(_pause_s("", number))
                continue
            if not reply.may_pass:
                return reply
            await asyncio.sleep(_pause_s(reply.retry_after, number))
        return await self._send(method, path, content, on_more)

    async def _send(
        self, method: str, path: str, content: bytes | None, on_more: OnMore | None
    ) -> HttpReply:
        url = self._base.copy_with(path=f"{self._base.path.rstrip('/')}/{path}")
        headers = {"Content-Type": "application/json"} if content is not None else {}
        async with self._client.stream(method, url, content=content, headers=headers) as response:
            if on_more is not None and response.status_code < 300:
                return await _read_along(response, on_more)
            body = await _read(response)
            retry_after = response.headers.get("Retry-After", "")
        return HttpReply(response.status_code, body.decode("utf-8-sig", "replace"), retry_after)


async def _read(response: httpx.Response) -> bytes:
    """The body, of which no more than `MOST_BYTES` are ever held.

    Empty where it is packed in a way that nobody asked for and zlib does not know.
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
    """The reply that comes in pieces; raises httpx.TransportError where its end is missing."""
    import httpx

    reader, left = StreamReader(MOST_BYTES), _MOST_STREAMED_BYTES
    try:
        async with aclosing(_unpacked(response)) as pieces:
            async for piece in pieces:
                reader.take(piece)
                on_more(reader.text)
                left -= len(piece)
                if reader.is_over or left <= 0:
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
    """The body as it comes in, unpacked in pieces of at most `MOST_BYTES`; raises zlib.error."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        return
    unpacker = zlib.decompressobj(_ANY_HEADER) if coding not in ("", "identity") else None
    async for piece in response.aiter_raw():
        while unpacker and piece:
            yield unpacker.decompress(piece, MOST_BYTES)
            piece = unpacker.unconsumed_tail
        if piece:
            yield piece


def _pause_s(asked: str, number: int) -> float:
    """How long to wait before a request is sent again, in seconds."""
    try:
        seconds = float(asked)
    except ValueError:
        seconds = -1.0
    if 0.0 <= seconds <= _LONGEST_ASKED_PAUSE_S:
        return seconds
    # Clients that failed together are not to come back together.
    return min(_FIRST_PAUSE_S * 2.0**number, _LONGEST_PAUSE_S) * random.uniform(0.75, 1.0)
