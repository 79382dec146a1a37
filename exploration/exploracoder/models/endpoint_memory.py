"""Keeps what was learnt about endpoints for later clients, in this process or any other."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from exploracoder_retrieval.files import write_atomically
from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder import __version__

LearntT = TypeVar("LearntT", bound=BaseModel)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    since: float
    learnt: dict[str, Any]


class EndpointMemory(Generic[LearntT]):
    """What was learnt about one server and model, in a JSON file shared by a user's processes.

    Nothing depends on it: a file that is damaged, or cannot be read or written, counts as missing,
    and of two concurrent writers one may have to learn again. Servers and models are stored as
    digests, so that the file contains no addresses and no secrets.
    """

    def __init__(self, file: Path, kind: type[LearntT], *server: str, kept_s: float) -> None:
        """Sets the file; nothing is read yet.

        Args:
            file: The JSON file; written, with its folder, only when something was learnt.
            kind: The pydantic model of what is kept for each endpoint.
            server: Identifies the server and model; no credentials.
            kept_s: How long an entry is valid, in seconds.
        """
        self._file = file
        self._kind = kind
        self._kept_s = kept_s
        self._key = hashlib.sha256(json.dumps(server).encode()).hexdigest()

    def recall(self) -> LearntT | None:
        """The stored value, or None if there is none or it is too old."""
        entry = self._entries().get(self._key)
        return None if entry is None else self._kind.model_validate(entry.learnt)

    def keep(self, learnt: LearntT, *, is_measured_anew: bool) -> None:
        """Stores ``learnt``; an existing entry keeps its age unless ``is_measured_anew``."""
        entries = self._entries()
        entry = entries.get(self._key)
        since = time.time() if entry is None or is_measured_anew else entry.since
        data = learnt.model_dump(mode="json", exclude_defaults=True)
        entries[self._key] = _Entry(version=__version__, since=since, learnt=data)
        self._write(entries)

    def _entries(self) -> dict[str, _Entry]:
        """The valid entries: written by this version, and not too old."""
        try:
            # Opening a named pipe would block until somebody writes to it.
            text = self._file.read_text(encoding="utf-8") if self._file.is_file() else "{}"
            items = json.loads(text).items()
        except (OSError, ValueError, AttributeError, RecursionError):
            return {}
        entries = dict[str, _Entry]()
        for key, one in items:
            with suppress(ValidationError):
                entry = _Entry.model_validate(one)
                self._kind.model_validate(entry.learnt)
                entries[key] = entry
        return {key: one for key, one in entries.items() if self._is_current(one)}

    def _is_current(self, entry: _Entry) -> bool:
        return entry.version == __version__ and 0 <= time.time() - entry.since < self._kept_s

    def _write(self, entries: dict[str, _Entry]) -> None:
        content = {key: one.model_dump() for key, one in entries.items()}
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps(content, indent=1), is_synced=False)
