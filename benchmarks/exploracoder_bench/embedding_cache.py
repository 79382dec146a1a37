"""Embeddings kept in a folder, for what is measured more than once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exploracoder_retrieval.arrays import Vectors, np
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.shelf import digest


class CachedEmbedder(MiniLmEmbedder):
    """MiniLM; texts that were embedded together once are not embedded again."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder / "vectors"
        self._folder.mkdir(parents=True, exist_ok=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        file = self._folder / f"{digest([self.name, *texts])}.npy"
        if not file.is_file():
            # Half a file would be read the next time.
            part = file.with_suffix(".part")
            with part.open("wb") as stream:
                np.save(stream, super().embed(texts))
            part.replace(file)
        vectors: Vectors = np.load(file)
        return vectors
