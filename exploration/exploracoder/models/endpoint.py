"""HTTP to a model server, within bounds: few requests, so many bytes, no redirects."""

from __future__ import annotations

import asyncio
import json
import random
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from exploracoder import __version__

if TYPE_CHECKING:
    import httpx

# A reply has some thousands of tokens; the longest lists of models have about a megabyte.
MOST_BYTES = 4 << 20
_CONNECT_TIMEOUT_S = 10.0
_PASSING = (408, 409, 429)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 8.0
_LONGEST_ASKED_PAUSE_S = 60.0
# zlib's sign for "gzip or zlib, whichever it is".
_ANY_HEADER = 32 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server answered; ``text`` is the body, cut at `MOST_BYTES`."""

    status: int
    text: str
    retry_after: str = ""

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

    async def post(self, path: str, body: Mapping[str, Any]) -> HttpReply:
        """The same for a request with a JSON body."""
        return await self._insist("POST", path, json.dumps(body).encode())

    async def _insist(self, method: str, path: str, content: bytes | None) -> HttpReply:
        import httpx

        for number in range(self._max_retries):
            try:
                reply = await self._send(method, path, content)
            except httpx.TransportError:
                await asyncio.sleep(_pause_s("", number))
                continue
            if not reply.may_pass:
                return reply
            await asyncio.sleep(_pause_s(reply.retry_after, number))
        return await self._send(method, path, content)

    async def _send(self, method: str, path: str, content: bytes | None) -> HttpReply:
        url = self._base.copy_with(path=f"{self._base.path.rstrip('/')}/{path}")
        headers = {"Content-Type": "application/json"} if content is not None else {}
        async with self._client.stream(method, url, content=content, headers=headers) as response:
            body = await _read(response)
            retry_after = response.headers.get("Retry-After", "")
        return HttpReply(response.status_code, body.decode("utf-8-sig", "replace"), retry_after)


async def _read(response: httpx.Response) -> bytes:
    """The body, unpacked as it comes in, so that no more than `MOST_BYTES` are ever held.

    Empty where it is packed in a way that nobody asked for and zlib does not know.
    """
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        return b""
    unpacker = zlib.decompressobj(_ANY_HEADER) if coding not in ("", "identity") else None
    body = bytearray()
    try:
        async for piece in response.aiter_raw():
            room = MOST_BYTES - len(body)
            body += unpacker.decompress(piece, room) if unpacker else piece[:room]
            if len(body) >= MOST_BYTES:
                break
    except zlib.error:
        return b""
    return bytes(body)


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
