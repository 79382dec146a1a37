"""The latest state of every exploration, in Jupyter's data folder, where it survives a crash.

An entry is two lines of JSON, a heading and the exploration, so that listing reads headings only.
Do not call anything here on the event loop's thread: it blocks on the disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from exploracoder import document, trust
from exploracoder.errors import InputError, SetupError
from exploracoder.state import Exploration, State

from exploracoder_jupyter.protocol import CellOrigin

_ID = re.compile(r"[0-9a-f]{32}")
# Older explorations survive only in their notebooks.
_MOST_ENTRIES = 500
_HEADING_BYTES = 200_000


class JournalHeading(State):
    """What a list shows of an exploration, and what else is needed to resume it.

    Paths are relative to the server's folder; that of a server in another folder is given in full
    where this one cannot reach it. ``kernel_name`` is the user's kernelspec; ``source_path`` the
    notebook that it was started from, whose kernel provided the variables; ``origin`` the cell.
    """

    id: str
    path: str
    root: str = ""
    revision: int
    task: str
    status: str
    created: str
    steps: int
    done: int
    libraries: tuple[str, ...] = ()
    kernel_name: str | None = None
    source_path: str = ""
    origin: CellOrigin | None = None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An exploration with its heading."""

    heading: JournalHeading
    exploration: Exploration


def heading_of(exploration: Exploration, path: str, revision: int) -> JournalHeading:
    """The part of a heading that comes from the exploration itself."""
    return JournalHeading(
        id=exploration.id,
        path=path,
        revision=revision,
        task=exploration.task.text,
        status=exploration.status,
        created=exploration.created.isoformat(),
        steps=len(exploration.steps),
        done=sum(step.status == "done" for step in exploration.steps),
        libraries=exploration.task.libraries,
    )


def is_id(text: str) -> bool:
    """Whether a text is a valid exploration id, and so safe as a file name."""
    return _ID.fullmatch(text) is not None


class Journal:
    """Reads and writes entries, each whole or not at all.

    Servers in different folders share it, so an entry says which ``root`` its paths are relative
    to. Those of notebooks outside this server's ``root`` are neither listed nor found.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self._folder = folder
        self._root = str(root.resolve())

    def write(self, entry: JournalEntry) -> None:
        """Replace an exploration's entry, and sign it as the user's own work.

        Raises SetupError when it cannot be written.
        """
        trust.sign(entry.exploration)
        heading = entry.heading.model_copy(update={"root": self._root})
        text = f"{heading.model_dump_json()}\n{entry.exploration.model_dump_json()}\n"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".", suffix=".json", dir=self._folder)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, self._file(entry.heading.id))  # noqa: PTH105
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise SetupError(
                f"The journal in {self._folder} cannot be written: {error.strerror or error}."
                " Make room, or let c.ExploraCoder.journal_folder name another folder."
            ) from error

    def read(self, id_: str) -> JournalEntry | None:
        """An exploration's entry; None if it is missing or unreadable."""
        try:
            text = self._file(id_).read_text(encoding="utf-8")
            heading, _, rest = text.partition("\n")
            exploration = document.from_metadata(json.loads(rest), f"the journal's {id_}")
            return JournalEntry(
                self._seen_from_here(JournalHeading.model_validate_json(heading)), exploration
            )
        except (OSError, ValueError, InputError):
            return None

    def headings(self) -> tuple[JournalHeading, ...]:
        """All headings of notebooks that this server can open, newest first."""
        sorted_headings = sorted(
            self._headings(), key=lambda heading: heading.created, reverse=True
        )
        return tuple(sorted_headings)

    def find(self, path: str) -> JournalEntry | None:
        """The newest exploration whose notebook was at ``path``."""
        for heading in self.headings():
            if heading.path == path:
                return self.read(heading.id)
        return None

    def prune(self) -> None:
        """Delete the oldest entries beyond the limit."""
        file_times = []
        for file in self._files():
            with contextlib.suppress(OSError):
                file_times.append((file.stat().st_mtime, file))
        for _, file in sorted(file_times, reverse=True)[_MOST_ENTRIES:]:
            with contextlib.suppress(OSError):
                file.unlink()

    def _headings(self) -> Iterator[JournalHeading]:
        for file in self._files():
            try:
                with file.open(encoding="utf-8") as lines:
                    heading = JournalHeading.model_validate_json(lines.readline(_HEADING_BYTES))
            except (OSError, ValueError):
                continue
            heading = self._seen_from_here(heading)
            if heading.id == file.stem and not posixpath.isabs(heading.path):
                yield heading

    def _seen_from_here(self, heading: JournalHeading) -> JournalHeading:
        """A heading with its paths relative to this server's folder, as far as they are in it."""
        if heading.root in ("", self._root):
            return heading
        fields = {"path": heading.path, "source_path": heading.source_path}
        for name, path in fields.items():
            whole = Path(heading.root, path).resolve()
            is_here = whole.is_relative_to(self._root)
            here = whole.relative_to(self._root) if is_here else whole
            fields[name] = here.as_posix() if path else ""
        return heading.model_copy(update={**fields, "root": self._root})

    def _files(self) -> list[Path]:
        try:
            return [file for file in self._folder.glob("*.json") if is_id(file.stem)]
        except OSError:
            return []

    def _file(self, id_: str) -> Path:
        if not is_id(id_):
            raise ValueError(f"{id_!r} is no id of an exploration")
        return self._folder / f"{id_}.json"
