"""An on-disk cache of pages found earlier, bounded in size and age."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from exploracoder_retrieval.apisearch.web_page import Page

MAX_AGE_S = 7 * 24 * 3600.0
MAX_ROWS = 1_000
_BUSY_TIMEOUT_S = 0.2
_TABLE = "CREATE TABLE IF NOT EXISTS pages (key TEXT PRIMARY KEY, made REAL, pages TEXT)"


class PageCache:
    """Pages by a hash of the query; the queries themselves are not stored.

    The cache only saves time: what cannot be read or written counts as missing, and a damaged file
    is created anew. Processes may share one file.
    """

    def __init__(
        self, file: Path, *, max_age_s: float = MAX_AGE_S, max_rows: int = MAX_ROWS
    ) -> None:
        self._file = file
        self._max_age_s = max_age_s
        self._max_rows = max_rows

    @staticmethod
    def key(provider: str, sites: Sequence[str], query: str) -> str:
        """The SHA-256 of a query, in hexadecimal."""
        question = json.dumps([provider, *sorted(sites), query], ensure_ascii=True)
        return hashlib.sha256(question.encode()).hexdigest()

    def get(self, key: str) -> tuple[Page, ...] | None:
        """The cached pages; None if there are none or they are too old."""
        with suppress(sqlite3.Error, OSError, ValueError), self._connect() as connection:
            oldest = time.time() - self._max_age_s
            row = connection.execute(
                "SELECT pages FROM pages WHERE key = ? AND made > ?", (key, oldest)
            ).fetchone()
            if row is not None:
                return tuple(Page.model_validate(each) for each in json.loads(row[0]))
        return None

    def put(self, key: str, pages: Sequence[Page]) -> None:
        """Store the pages, dropping the oldest rows to make room."""
        text = json.dumps([page.model_dump() for page in pages])
        with suppress(sqlite3.Error, OSError), self._connect() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", (key, time.time(), text)
            )
            connection.execute(
                "DELETE FROM pages WHERE made <= ? OR key NOT IN"
                " (SELECT key FROM pages ORDER BY made DESC LIMIT ?)",
                (time.time() - self._max_age_s, self._max_rows),
            )

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            database = sqlite3.connect(self._file, timeout=_BUSY_TIMEOUT_S)
            with closing(database) as connection, connection:
                connection.execute(_TABLE)
                yield connection
        except sqlite3.OperationalError:
            raise  # busy, or not writable: the file itself is fine
        except sqlite3.DatabaseError:
            self._file.unlink(missing_ok=True)
            raise
