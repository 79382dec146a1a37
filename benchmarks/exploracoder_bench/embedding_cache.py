"""An on-disk cache of text embeddings: no text is embedded twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_retrieval.embeddings import Embedder

if TYPE_CHECKING:
    from exploracoder_retrieval.arrays import Vectors

_BATCH = 256


class CachedEmbedder:
    """Another embedder's vectors, keyed by a hash of its name and the text."""

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
        # Searches may come from several threads, but one at a time.
        self._store = sqlite3.connect(folder / "vectors.sqlite3", check_same_thread=False)
        self._store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB)")

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; only those not cached yet go to the wrapped embedder."""
        import numpy as np

        keys = [self._key(text) for text in texts]
        blobs = {key: self._read(key) for key in keys}
        missing = [n for n, key in enumerate(keys) if blobs[key] is None]
        # Batching texts of similar length needs the least padding.
        missing.sort(key=lambda n: len(texts[n]))
        for start in range(0, len(missing), _BATCH):
            part = missing[start : start + _BATCH]
            rows = self._embedder.embed([texts[n] for n in part])
            pairs = [(keys[n], row.tobytes()) for n, row in zip(part, rows, strict=True)]
            with self._store:
                self._store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", pairs)
            blobs.update(pairs)
            if len(missing) > _BATCH:
                self._on_progress(f"embedded {start + len(part):,} of {len(missing):,}")
        buffer = b"".join(blobs[key] or b"" for key in keys)
        return np.frombuffer(buffer, dtype=np.float32).reshape(len(texts), self.dimensions)

    def close(self) -> None:
        self._store.close()

    def _key(self, text: str) -> bytes:
        content = f"{self._embedder.name}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).digest()

    def _read(self, key: bytes) -> bytes | None:
        row = self._store.execute("SELECT row FROM vectors WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None
