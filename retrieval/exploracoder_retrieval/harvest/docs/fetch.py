"""Fetches documentation from the web into a folder, once, when a person asks for it.

Fetched files are stored unchanged and only read afterwards. From a site, only the pages that its
inventory lists are fetched, and none outside the inventory's folder.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from exploracoder_retrieval.errors import DocsUnavailable
from exploracoder_retrieval.harvest.docs.inventory import read_inventory
from exploracoder_retrieval.harvest.docs.pieces import UnreadableDocs
from exploracoder_retrieval.harvest.docs.source import (
    ADDRESSES,
    ALONE,
    LEFT_OUT,
    PAGES,
    is_address,
)
from exploracoder_retrieval.progress import Progress

if TYPE_CHECKING:
    import httpx

_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "application/json": ".json",
    "application/yaml": ".yaml",
    "application/x-yaml": ".yaml",
    "text/yaml": ".yaml",
    "application/jsonl": ".jsonl",
    "application/x-ndjson": ".jsonl",
}
_MAX_REDIRECTS = 5
_PIECE_BYTES = 1 << 20
_GONE = (404, 410)
# Before a server that is busy or breaks off is asked again.
_PAUSES_S = (0.5, 2.0)
_MAX_PAUSE_S = 10.0
# A site that still fails after so many pages is not waited for any more.
_MOST_WAITED_FOR = 10


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What a fetch may take: bytes of one file and in total, unpacked; files; seconds in total.

    ``answer_seconds``: how long a server may send nothing.
    """

    file_bytes: int = 64_000_000
    all_bytes: int = 400_000_000
    files: int = 1_500
    seconds: float = 300.0
    answer_seconds: float = 20.0


def fetch(
    url: str, folder: Path, limits: FetchLimits | None = None, progress: Progress | None = None
) -> None:
    """Copy a file, or a Sphinx site by its ``objects.inv``, into an empty folder.

    A page that a site lists but does not have is skipped. How many others could not be fetched is
    written beside the pages, and said when they are read.

    Args:
        url: the address of a file, of an ``objects.inv``, or of the folder that has one.
        folder: where the files go, with a list of where each came from.
        limits: how much may be fetched.
        progress: called as ("fetch", pages fetched, pages listed).

    Raises:
        DocsUnavailable: it cannot be fetched; the message says what happened and what to do.
    """
    limits = limits or FetchLimits()
    try:
        asyncio.run(_fetch(url, folder, limits, progress))
    except TimeoutError:
        raise DocsUnavailable(
            f"{url} took longer than {limits.seconds:.0f} s. Fetch the docs by hand and give their"
            " folder."
        ) from None


async def _fetch(url: str, folder: Path, limits: FetchLimits, progress: Progress | None) -> None:
    import anyio
    import httpx

    from exploracoder_retrieval.harvest.docs.addresses import JudgedTransport

    _check(url)
    try:
        web = httpx.AsyncClient(
            transport=JudgedTransport(httpx.URL(url)),
            timeout=limits.answer_seconds,
            headers={"User-Agent": "exploracoder", "Accept-Encoding": "gzip"},
        )
        with anyio.fail_after(limits.seconds):
            async with web:
                copy = _Copy(web, folder, limits)
                await copy.take(url, progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise DocsUnavailable(f"{url} cannot be fetched: {reason}.") from None
    copy.write_notes()


def _check(url: str) -> None:
    parts = urlsplit(url)
    if not is_address(url) or not parts.hostname:
        raise DocsUnavailable(f"{url} is no address. Give one that begins with http:// or https://")
    if parts.username or parts.password:
        raise DocsUnavailable(
            f"The address of {parts.hostname} has a password in it, which would be kept with every"
            " hit. Fetch the docs by hand and give their folder."
        )


@dataclass(slots=True)
class _Copy:
    """A folder being filled, and how much of the limits is used up."""

    web: httpx.AsyncClient
    folder: Path
    limits: FetchLimits
    size_bytes: int = 0
    addresses: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    async def take(self, url: str, progress: Progress | None) -> None:
        name = PurePosixPath(urlsplit(url).path).name
        if name.lower().endswith((*ALONE, *PAGES)) and not name.endswith((".html", ".htm", ".inv")):
            self._keep(*await self._get(url))
            return
        inventory = url if name.endswith(".inv") else urljoin(_folder_of(url), "objects.inv")
        try:
            where, _, data = await self._get(inventory)
        except DocsUnavailable as error:
            # A folder of a busy site is no page; a page that was named is one in any case.
            is_page = name.endswith((".html", ".htm"))
            if name.endswith(".inv") or (isinstance(error, _Busy) and not is_page):
                raise
            self._keep(*await self._get(url))
            return
        await self._take_site(where, data, progress)

    def write_notes(self) -> None:
        (self.folder / ADDRESSES).write_text(json.dumps(self.addresses), encoding="utf-8")
        if self.left_out:
            note = (
                f"{len(self.left_out)} of its pages could not be fetched, first: {self.left_out[0]}"
            )
            (self.folder / LEFT_OUT).write_text(note, encoding="utf-8")

    async def _take_site(self, where: str, data: bytes, progress: Progress | None) -> None:
        import httpx

        self._keep(where, ".inv", data)
        try:
            pages = read_inventory(self.folder / "0000.inv").pages
        except UnreadableDocs as error:
            raise DocsUnavailable(f"{where} cannot be used: {error}.") from None
        root = urljoin(where, ".")
        urls = dict.fromkeys(urljoin(where, page) for page in pages)
        inside = [url for url in urls if url.startswith(root)][: self.limits.files]
        for number, url in enumerate(inside, start=1):
            try:
                self._keep(*await self._get(url, within=root))
            except _NotThere:
                continue
            except (_NotSent, httpx.TransportError) as error:
                is_dead = len(self.left_out) >= _MOST_WAITED_FOR
                if is_dead and isinstance(error, httpx.TransportError):
                    raise
                self.left_out.append(str(error) or f"{url}: {type(error).__name__}")
            finally:
                if progress is not None:
                    progress("fetch", number, len(inside))
        if self.left_out and len(self.addresses) == 1:
            # Nothing but the inventory: a copy from before is worth more.
            raise DocsUnavailable(f"No page of {root} could be fetched, first: {self.left_out[0]}")

    def _keep(self, url: str, suffix: str, data: bytes) -> None:
        # We choose the name: a site's file names must not lead out of the folder.
        name = f"{len(self.addresses):04}{suffix}"
        (self.folder / name).write_bytes(data)
        self.addresses[name] = url.partition("#")[0]

    async def _get(self, url: str, within: str = "") -> tuple[str, str, bytes]:
        """What `_ask` returns; a server that is busy or breaks off is asked again."""
        import httpx

        for pause_s in _PAUSES_S if len(self.left_out) < _MOST_WAITED_FOR else ():
            try:
                return await self._ask(url, within)
            except (httpx.TimeoutException, httpx.ConnectError):
                raise  # it was waited for long enough, or it is not there
            except httpx.TransportError:
                await asyncio.sleep(pause_s)
            except _Busy as busy:
                await asyncio.sleep(max(pause_s, busy.pause_s))
        return await self._ask(url, within)

    async def _ask(self, url: str, within: str) -> tuple[str, str, bytes]:
        """The final address after redirects, the file's suffix, and its bytes."""
        for _ in range(_MAX_REDIRECTS + 1):
            if within and not url.startswith(within):
                raise _NotThere(f"{url} is outside of {within}.")
            _check(url)
            async with self.web.stream("GET", url) as answer:
                if answer.is_redirect:
                    url = urljoin(url, answer.headers.get("location", ""))
                    continue
                if answer.status_code != 200:
                    raise _failure(url, answer)
                return url, _suffix(url, answer), await self._body(url, answer)
        raise _NotSent(f"{url} redirects in a circle.")

    async def _body(self, url: str, answer: httpx.Response) -> bytes:
        data = bytearray()
        async for piece in _unpacked(url, answer):
            data += piece
            self.size_bytes += len(piece)
            if len(data) > self.limits.file_bytes or self.size_bytes > self.limits.all_bytes:
                most = self.limits.file_bytes // 1_000_000
                raise DocsUnavailable(
                    f"{url} is too much: at most {most} MB a file and"
                    f" {self.limits.all_bytes // 1_000_000} MB in all are fetched."
                )
        return bytes(data)


async def _unpacked(url: str, answer: httpx.Response) -> AsyncIterator[bytes]:
    """The unpacked body in pieces of bounded size, however well it was compressed."""
    encoding = answer.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise DocsUnavailable(f"{url} comes packed as {encoding!r}, which was not asked for.")
    unpacker = zlib.decompressobj(wbits=31) if encoding == "gzip" else None
    try:
        async for chunk in answer.aiter_raw():
            while chunk:
                yield unpacker.decompress(chunk, _PIECE_BYTES) if unpacker else chunk
                chunk = unpacker.unconsumed_tail if unpacker else b""
    except zlib.error:
        raise DocsUnavailable(f"{url} is damaged: it cannot be unpacked.") from None


class _NotThere(DocsUnavailable):
    """A page that a site does not have."""


class _NotSent(DocsUnavailable):
    """A page that a site may have, but does not send."""


class _Busy(_NotSent):
    """A page that a site may send later: after ``pause_s``, if it says so."""

    pause_s = 0.0


def _failure(url: str, answer: httpx.Response) -> DocsUnavailable:
    """What an answer other than the page means."""
    status = answer.status_code
    text = f"{url} answers {status} {answer.reason_phrase}. Check the address."
    if status in _GONE:
        return _NotThere(text)
    if status != 429 and status < 500:
        return _NotSent(text)
    failure = _Busy(text)
    seconds = answer.headers.get("retry-after", "")
    if seconds.isdecimal():
        failure.pause_s = min(float(seconds), _MAX_PAUSE_S)
    return failure


def _folder_of(url: str) -> str:
    path = urlsplit(url).path
    is_file = "." in PurePosixPath(path).name
    return url if is_file or path.endswith("/") else f"{url}/"


def _suffix(url: str, answer: httpx.Response) -> str:
    name = PurePosixPath(urlsplit(url).path).name.lower()
    suffix = next((end for end in (*ALONE, *PAGES) if name.endswith(end)), "")
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return suffix or _SUFFIXES.get(kind, ".html")
