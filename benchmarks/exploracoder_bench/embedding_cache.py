"""Vectors of texts, kept on disk: what was embedded once is not embedded again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_retrieval.embeddings import Embedder

if TYPE_CHECKING:
    from exploracoder_retrieval.embeddings import Vectors

_BATCH = 256


class CachedEmbedder:
    """Another embedder's vectors, by the hash of its name and of the text."""

    def __init__(
        self,
        embedder: Embedder,
        folder: Path,
        *,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._on_progress = on_progress
        # Searches may come from several threads; one at a time.
        self._store = sqlite3.connect(folder / "vectors.sqlite3", check_same_thread=False)
        self._store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB)")

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the other embedder; only what is not kept yet is asked of it."""
        return self.embed_parts([(text,) for text in texts])

    def embed_parts(self, queries: Sequence[Sequence[str]]) -> Vectors:
        """As the other embedder; a query of which one string is not kept is asked whole."""
        import numpy as np

        keys = [self._keys(query) for query in queries]
        known = {key: self._read(key) for each in keys for key in each}
        missing = [n for n, each in enumerate(keys) if any(known[key] is None for key in each)]
        # Neighbours in length are padded least.
        missing.sort(key=lambda n: len(queries[n][0]))
        for start in range(0, len(missing), _BATCH):
            part = missing[start : start + _BATCH]
            rows = self._embedder.embed_parts([queries[n] for n in part])
            made = {
                key: row.tobytes()
                for key, row in zip((key for n in part for key in keys[n]), rows, strict=True)
            }
            self._keep(made)
            known.update(made)
            if len(missing) > _BATCH:
                self._on_progress(f"embedded {start + len(part):,} of {len(missing):,}")
        joined = b"".join(known[key] or b"" for each in keys for key in each)
        return np.frombuffer(joined, dtype=np.float32).reshape(-1, self.dimensions)

    def _keep(self, rows: Mapping[bytes, bytes]) -> None:
        with self._store:
            self._store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows.items())

    def close(self) -> None:
        self._store.close()

    def _keys(self, query: Sequence[str]) -> list[bytes]:
        """That of the text, and those of its parts, which another text may hold as well."""
        text, *parts = query
        within = (f"{text}\0{number}\0{part}" for number, part in enumerate(parts))
        return [self._key(text), *map(self._key, within)]

    def _key(self, text: str) -> bytes:
        said = f"{self._embedder.name}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(said).digest()

    def _read(self, key: bytes) -> bytes | None:
        found = self._store.execute("SELECT row FROM vectors WHERE key = ?", (key,)).fetchone()
        return found[0] if found else None
