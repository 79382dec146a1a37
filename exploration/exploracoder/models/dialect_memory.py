"""What servers were found to want, kept for later clients, of this process or any other."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder import __version__
from exploracoder.models.dialect import Dialect, Learnt

# A server that was upgraded is asked for the full API again after that.
_KEPT_S = 7 * 24 * 3600.0


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    since: float
    learnt: Learnt

    @property
    def is_current(self) -> bool:
        return self.version == __version__ and 0 <= time.time() - self.since < _KEPT_S


class DialectMemory:
    """The dialect of one server and model, in a JSON file that all processes of a user share.

    Nothing depends on it: a file that is damaged, or cannot be read or written, is as good as none,
    and of two that write at the same time one may have to learn again. Servers and models stand in
    it as digests, so that no address and no secret does.
    """

    def __init__(self, file: Path, *server: str) -> None:
        """Names the place; nothing is read yet.

        Args:
            file: The JSON file; written, with its folder, only when something was learnt.
            server: What tells this server and model from others; no credentials.
        """
        self._file = file
        self._key = hashlib.sha256(json.dumps(server).encode()).hexdigest()
        self._learnt = Learnt()

    def recall(self, dialect: Dialect) -> None:
        """Gives ``dialect`` what was learnt within the last seven days."""
        entry = self._entries().get(self._key)
        if entry is not None:
            self._learnt = entry.learnt
            dialect.resume(entry.learnt)

    def keep(self, dialect: Dialect) -> None:
        """Writes what ``dialect`` has learnt, if that is not what was read or written last."""
        learnt = dialect.learnt
        if learnt == self._learnt:
            return
        self._learnt = learnt
        entries = self._entries()
        known = entries.get(self._key)
        # What comes later is forgotten with the first: otherwise some might be kept for ever.
        since = time.time() if known is None else known.since
        entries[self._key] = _Entry(version=__version__, since=since, learnt=learnt)
        self._write(entries)

    def _entries(self) -> dict[str, _Entry]:
        """What this version wrote of late."""
        try:
            # Opening a pipe of that name would wait for somebody who writes.
            text = self._file.read_text(encoding="utf-8") if self._file.is_file() else "{}"
            given = json.loads(text).items()
        except (OSError, ValueError, AttributeError, RecursionError):
            return {}
        entries = dict[str, _Entry]()
        for key, one in given:
            with suppress(ValidationError):
                entries[key] = _Entry.model_validate(one)
        return {key: one for key, one in entries.items() if one.is_current}

    def _write(self, entries: dict[str, _Entry]) -> None:
        content = {
            key: one.model_dump(mode="json", exclude_defaults=True) for key, one in entries.items()
        }
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._file.parent) as folder:
                draft = Path(folder) / self._file.name
                draft.write_text(json.dumps(content, indent=1), encoding="utf-8")
                draft.replace(self._file)
