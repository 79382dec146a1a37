"""BM25 over the words of one library's APIs, field by field, kept in files beside the index."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.ranking.fields import FIELDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_K1 = 1.2
# How much a long field weighs less: names differ little in length, prose does.
_LENGTH = {"summary": 0.75, "parameters": 0.75, "body": 0.75}
_SHORT = 0.5
_FREQUENCIES = "frequencies.json"
# What an API does not take part in counts of how rare a word is.
_NOT_COUNTED = ("module", "parameters")


class WordIndex:
    """Scores the rows of a library's documents by the words they share with a query."""

    def __init__(self, models: Sequence[Any], frequencies: dict[str, int], rows: int) -> None:
        self._models = models
        self._frequencies = frequencies
        self.rows = rows

    @classmethod
    def build(cls, documents: Sequence[Sequence[list[str]]]) -> WordIndex:
        """From the words of each document's FIELDS, in row order."""
        import bm25s

        models = []
        for column, name in enumerate(FIELDS):
            model = bm25s.BM25(k1=_K1, b=_LENGTH.get(name, _SHORT))
            # bm25s cannot index documents that have no word at all among them.
            corpus = [document[column] or ["_"] for document in documents]
            model.index(corpus, show_progress=False)
            models.append(model)
        counted = [column for column, name in enumerate(FIELDS) if name not in _NOT_COUNTED]
        frequencies = Counter(
            word
            for document in documents
            for word in {word for column in counted for word in document[column]}
        )
        return cls(models, dict(frequencies), len(documents))

    @classmethod
    def load(cls, folder: Path, rows: int) -> WordIndex:
        """From files that `save` wrote.

        Raises:
            IndexCorrupt: they are missing or damaged.
        """
        import bm25s

        try:
            models = [bm25s.BM25.load(folder / name, load_corpus=False) for name in FIELDS]
            frequencies = json.loads((folder / _FREQUENCIES).read_text(encoding="utf-8"))
        except Exception as error:  # noqa: BLE001 - damaged files fail in many ways, all one to us
            raise IndexCorrupt(f"{folder} is damaged ({type(error).__name__}).") from None
        return cls(models, frequencies, rows)

    def save(self, folder: Path) -> None:
        for name, model in zip(FIELDS, self._models, strict=True):
            model.save(folder / name, show_progress=False)
        text = json.dumps(self._frequencies, ensure_ascii=False)
        (folder / _FREQUENCIES).write_text(text, encoding="utf-8")

    def scores(self, query: Iterable[str]) -> NDArray[np.float32]:
        """A row for each of FIELDS, a column for each document; ``query`` are distinct stems."""
        import numpy as np

        wanted = list(query)
        found = np.zeros((len(FIELDS), self.rows), dtype=np.float32)
        for row, model in enumerate(self._models):
            known = [word for word in wanted if word in model.vocab_dict]
            if known:
                found[row] = model.get_scores(known)
        return found

    def rarity(self, word: str) -> float:
        """BM25's inverse document frequency over all fields; above 0."""
        count = self._frequencies.get(word, 0)
        return math.log1p((self.rows - count + 0.5) / (count + 0.5))
