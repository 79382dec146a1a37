"""BM25 over the words of one library's APIs, kept in files beside the index."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.wording import words


class WordIndex:
    """Ranks the rows of a library's documents by the words they share with a query."""

    def __init__(self, model: Any, rows: int) -> None:
        self._model = model
        self._rows = rows

    @classmethod
    def build(cls, documents: Iterable[list[str]]) -> WordIndex:
        """From the words of each document, in row order."""
        import bm25s

        # Numbers instead of words: a million documents' words would fill gigabytes.
        vocabulary: dict[str, int] = {}
        numbered = [
            # bm25s cannot index documents that have no word at all among them.
            [vocabulary.setdefault(word, len(vocabulary)) for word in each or ["_"]]
            for each in documents
        ]
        model = bm25s.BM25()
        model.index((numbered, vocabulary), show_progress=False)
        return cls(model, len(numbered))

    @classmethod
    def load(cls, folder: Path, rows: int) -> WordIndex:
        """From files that `save` wrote.

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

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Rows with their scores, best first; rows that share no word are left out."""
        import numpy as np

        known = [word for word in words(query) if word in self._model.vocab_dict]
        if not known:
            return []
        scores = self._model.get_scores(known)
        limit = min(limit, self._rows)
        best = np.argpartition(-scores, limit - 1)[:limit]
        ordered = best[np.lexsort((best, -scores[best]))]
        return [(int(row), float(scores[row])) for row in ordered if scores[row] > 0]
