"""What was found out about endpoints, kept for later clients, of this process or any other."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder import __version__

LearntT = TypeVar("LearntT", bound=BaseModel)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    since: float
    learnt: dict[str, Any]


class EndpointMemory(Generic[LearntT]):
    """What was learnt of one server and model, in a JSON file that all processes of a user share.

    Nothing depends on it: a file that is damaged, or cannot be read or written, is as good as none,
    and of two that write at the same time one may have to learn again. Servers and models stand in
    it as digests, so that no address and no secret does.
    """

    def __init__(self, file: Path, kind: type[LearntT], *server: str, kept_s: float) -> None:
        """Names the place; nothing is read yet.

        Args:
            file: The JSON file; written, with its folder, only when something was learnt.
            kind: What is kept of each endpoint.
            server: What tells this server and model from others; no credentials.
            kept_s: How long it is believed, in seconds.
        """
        self._file = file
        self._kind = kind
        self._kept_s = kept_s
        self._key = hashlib.sha256(json.dumps(server).encode()).hexdigest()

    def recall(self) -> LearntT | None:
        """What is kept, if it is not too old."""
        entry = self._entries().get(self._key)
        return None if entry is None else self._kind.model_validate(entry.learnt)

    def keep(self, learnt: LearntT, *, is_measured_anew: bool) -> None:
        """Writes it; the time it is believed begins now where all of it was measured anew."""
        entries = self._entries()
        entry = entries.get(self._key)
        since = time.time() if entry is None or is_measured_anew else entry.since
        data = learnt.model_dump(mode="json", exclude_defaults=True)
        entries[self._key] = _Entry(version=__version__, since=since, learnt=data)
        self._write(entries)

    def _entries(self) -> dict[str, _Entry]:
        """What this version wrote of late."""
        try:
            # Opening a pipe of that name would wait for somebody who writes.
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
            with tempfile.TemporaryDirectory(dir=self._file.parent) as folder:
                draft = Path(folder) / self._file.name
                draft.write_text(json.dumps(content, indent=1), encoding="utf-8")
                draft.replace(self._file)
