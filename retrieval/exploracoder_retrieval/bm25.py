"""BM25 over the words of documents, kept in files beside what they index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from exploracoder_retrieval.arrays import Floats, NDArray, np
from exploracoder_retrieval.embedded_words import words
from exploracoder_retrieval.errors import IndexCorrupt


class WordIndex:
    """Scores the rows of documents by the words they share with a query."""

    def __init__(self, model: Any, rows: int) -> None:
        self._model = model
        self.rows = rows
        # Viewed as plain arrays, which are sliced several times faster than mapped ones.
        self._starts, self._rows, self._scores = (
            model.scores[name].view(np.ndarray) for name in ("indptr", "indices", "data")
        )

    @classmethod
    def build(cls, documents: Iterable[Sequence[str]]) -> WordIndex:
        """Build from the words of each document, in row order."""
        import bm25s

        # Numbers instead of words: a million documents' words would fill gigabytes.
        vocabulary: dict[str, int] = {}
        token_ids = [
            # bm25s cannot index a set of documents that contains no word at all.
            [vocabulary.setdefault(word, len(vocabulary)) for word in each or ("_",)]
            for each in documents
        ]
        model = bm25s.BM25(k1=1.5, b=0.75)
        model.index((token_ids, vocabulary), show_progress=False)
        return cls(model, len(token_ids))

    @classmethod
    def load(cls, folder: Path, rows: int) -> WordIndex:
        """Load from files that `save` wrote.

        Raises:
            IndexCorrupt: they are missing or damaged.
        """
        import bm25s

        try:
            return cls(bm25s.BM25.load(folder, load_corpus=False, mmap=True), rows)
        except Exception as error:  # noqa: BLE001 - damaged files fail in many ways, all one to us
            raise IndexCorrupt(f"{folder} is damaged ({type(error).__name__}).") from None

    def save(self, folder: Path) -> None:
        self._model.save(folder, show_progress=False)

    def postings(self, word: str) -> tuple[NDArray[np.int32], Floats]:
        """The rows that contain a stem, each once, and its score for each."""
        number = self._model.vocab_dict.get(word, -1)
        if not 0 <= number < len(self._starts) - 1:
            return self._rows[:0], self._scores[:0]
        span = slice(self._starts[number], self._starts[number + 1])
        return self._rows[span], self._scores[span]

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Rows with their scores, best first; rows that share no word with it are left out."""
        scores = np.zeros(self.rows, dtype=np.float32)
        for word in words(query):
            rows, shares = self.postings(word)
            scores[rows] += shares
        limit = min(limit, self.rows)
        best = np.argpartition(-scores, limit - 1)[:limit]
        ranking = best[np.lexsort((best, -scores[best]))]
        return [(int(row), float(scores[row])) for row in ranking if scores[row] > 0]
