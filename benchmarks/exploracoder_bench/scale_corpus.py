"""A library of any size, made of real APIs: names and texts recombined, vectors mixed.

The first rows are the real APIs. Every further row combines the name of one of them with the words
of another; its vector is a mix of their real vectors with a little noise, so that a million of them
are made in minutes and are as close together as real ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embedded_words import index_text
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.shelf import digest

from exploracoder_bench.embedding_cache import CachedEmbedder
from exploracoder_bench.retrieval_kit import read_pool

if TYPE_CHECKING:
    from exploracoder_retrieval.arrays import Vectors

LIBRARY = "scale"
_STEP = 7_919
_NAME_SHARE, _TEXT_SHARE, _NOISE_SHARE = 0.5, 0.7, 0.35
_NOISES = 4_096


class Corpus:
    """``size`` ApiDocs and their vectors; the same for the same real APIs."""

    def __init__(self, real: Sequence[ApiDoc], vectors: Vectors, size: int) -> None:
        self.real = real
        self.size = size
        self._vectors = vectors

    def docs(self) -> Iterator[ApiDoc]:
        """All docs, in order of row."""
        return (self.doc(row) for row in range(self.size))

    def doc(self, row: int) -> ApiDoc:
        """The doc of a row; no two rows have one path."""
        name_row, text_row = self._parents(row)
        first, second = self.real[int(name_row)], self.real[int(text_row)]
        if row < len(self.real):
            return first
        name = second.path.rpartition(".")[2]
        path = f"{first.path}.{name}_{row // len(self.real)}"
        return second.model_copy(update={"path": path, "aliases": ()})

    def vectors(self, rows: Any) -> Vectors:
        """The vectors of some rows, given as an array."""
        import numpy as np

        indices = np.asarray(rows, dtype=np.int64)
        count = len(self.real)
        name_rows, text_rows = self._parents(indices)
        mixture = _NAME_SHARE * self._vectors[name_rows] + _TEXT_SHARE * self._vectors[text_rows]
        mixture += _NOISE_SHARE * self._noise(indices)
        mixture[indices < count] = self._vectors[indices[indices < count]]
        return np.asarray(
            mixture / np.linalg.norm(mixture, axis=1, keepdims=True), dtype=np.float32
        )

    def _parents(self, row: Any) -> tuple[Any, Any]:
        count = len(self.real)
        name_row = row % count
        return name_row, (name_row * _STEP + row // count) % count

    def _noise(self, rows: Any) -> Vectors:
        import numpy as np

        width = self._bank.shape[1]
        columns = (np.arange(width)[None, :] + (rows // _NOISES)[:, None]) % width
        return np.asarray(np.take_along_axis(self._bank[rows % _NOISES], columns, axis=1))

    @cached_property
    def _bank(self) -> Vectors:
        import numpy as np

        random = np.random.default_rng(0)
        bank = random.standard_normal((_NOISES, self._vectors.shape[1])).astype(np.float32)
        return np.asarray(bank / np.linalg.norm(bank, axis=1, keepdims=True))


class CorpusEmbedder(MiniLmEmbedder):
    """Embeds queries for real, and looks up the vectors of a corpus's docs by their texts."""

    name = "scale-corpus"

    def __init__(self, corpus: Corpus) -> None:
        super().__init__()
        self._corpus = corpus

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        keys = np.array([_key(text) for text in texts], dtype=np.uint64)
        places = np.searchsorted(self._keys[0], keys)
        is_known = self._keys[0][np.minimum(places, len(self._keys[0]) - 1)] == keys
        if not is_known.all():
            return super().embed(texts)
        return self._corpus.vectors(self._keys[1][places])

    @cached_property
    def _keys(self) -> tuple[Any, Any]:
        import numpy as np

        values = (_key(index_text(doc)) for doc in self._corpus.docs())
        keys = np.fromiter(values, dtype=np.uint64, count=self._corpus.size)
        order = np.argsort(keys, kind="stable")
        return keys[order], order


def real_docs(kit: Path, most: int) -> list[ApiDoc]:
    """Documented APIs of a kit's pools, each path once, at most ``most`` of them."""
    docs: dict[str, ApiDoc] = {}
    for file in sorted((kit / "pools").glob("*.jsonl.gz")):
        for doc in read_pool(kit, file.name.removesuffix(".jsonl.gz")).docs:
            if doc.summary:
                docs.setdefault(doc.path, doc)
    step = max(1, len(docs) // most)
    update = {"library": LIBRARY, "aliases": ()}
    return [doc.model_copy(update=update) for doc in [*docs.values()][::step][:most]]


def embedded(docs: Sequence[ApiDoc], cache: Path) -> Vectors:
    """The real vectors of real docs; kept in a folder, because they take minutes."""
    return CachedEmbedder(cache).embed([index_text(doc) for doc in docs])


def _key(text: str) -> int:
    return int(digest([text])[:16], 16)
