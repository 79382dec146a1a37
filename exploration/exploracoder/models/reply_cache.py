"""Replies kept on disk, so that a run can be repeated without asking the model again."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from exploracoder.errors import ModelError, SetupError
from exploracoder.models.chat import Reply

_BUSY_TIMEOUT_S = 10.0


class ReplyCache:
    """Replies by the SHA-256 of the complete request.

    Processes may share one folder: sqlite serialises the writers, and two that ask the same thing
    at the same time store the same row; if replies are not free, one waits for the other.
    """

    def __init__(self, folder: Path, *, is_free: bool = True, is_closed: bool = False) -> None:
        """Opens, or creates, the cache.

        Args:
            folder: Where ``replies.sqlite`` lies; created if missing.
            is_free: Whether a cached reply costs nothing. In measurements it costs what the
                original request did, so that a resumed run counts like any other; and a repeated
                question is asked again, as it would be without a cache.
            is_closed: Whether a missing reply is an error, so that no model is asked.

        Raises:
            SetupError: The folder cannot be written, or the file is not a cache.
        """
        self._path = folder / "replies.sqlite"
        self._is_free = is_free
        self._is_closed = is_closed
        self._counts: Counter[str] = Counter()
        self.hits = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"Cannot create the reply cache {folder}: {error.strerror}."
            ) from error
        with self._connect() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"
            )

    @staticmethod
    def key(question: Mapping[str, Any]) -> str:
        """The hexadecimal SHA-256 of a JSON-like question, whatever the order of its fields."""
        text = json.dumps(question, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def next_key(self, question: Mapping[str, Any]) -> str:
        """The key for a question that is asked now.

        If replies are not free, each repetition gets its own key: what it costs, and how long it
        takes, cannot be told from the first time.
        """
        key = self.key(question)
        if self._is_free:
            return key
        before = self._counts[key]
        self._counts[key] += 1
        return f"{key}/{before}" if before else key

    @asynccontextmanager
    async def asking(self, key: str) -> AsyncIterator[None]:
        """Locks a question while it is answered, so that others that ask the same wait for that.

        Only if replies are not free: methods under comparison then share one folder. The lock of
        a process that is killed is released.
        """
        if self._is_free:
            yield
            return
        from filelock import AsyncFileLock

        folder = self._path.parent / "asking"
        await asyncio.to_thread(folder.mkdir, exist_ok=True)
        async with AsyncFileLock(folder / key.replace("/", "-")):
            yield

    def get(self, key: str) -> Reply | None:
        """The stored reply, marked ``from_cache`` if replies are free, or None.

        A row that cannot be read (written by another version) counts as missing.

        Raises:
            ModelError: The reply is missing, and the cache is closed.
        """
        reply = self._stored(key)
        if reply is not None:
            self.hits += 1
            return reply.model_copy(update={"from_cache": self._is_free})
        if self._is_closed:
            raise ModelError(
                f"{self._path} has no reply to what is asked now: the prompt is another than when"
                " the replies were kept. Use the code of then, or ask a model."
            )
        return None

    def _stored(self, key: str) -> Reply | None:
        with self._connect() as connection:
            row = connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        try:
            return Reply.model_validate_json(row[0]) if row is not None else None
        except ValidationError:
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Stores a reply, replacing any earlier one with this key."""
        text = reply.model_copy(update={"from_cache": False}).model_dump_json()
        with self._connect() as connection:
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text))

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        # One short connection per call: nothing to close later, and safe from any thread.
        try:
            database = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S)
            with closing(database) as connection, connection:
                yield connection
        except sqlite3.Error as error:
            raise SetupError(
                f"The reply cache {self._path} cannot be used ({error}). Delete it, or run "
                "without a reply cache."
            ) from error
