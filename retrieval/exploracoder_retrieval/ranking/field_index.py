"""BM25 over the words of one library's APIs, field by field."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_retrieval.bm25 import WordIndex
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


class FieldIndex:
    """Scores the rows of a library's documents by the words they share with a query."""

    def __init__(self, fields: Sequence[WordIndex], frequencies: dict[str, int], rows: int) -> None:
        self._fields = fields
        self._frequencies = frequencies
        self.rows = rows

    @classmethod
    def build(cls, documents: Sequence[Sequence[list[str]]]) -> FieldIndex:
        """From the words of each document's FIELDS, in row order."""
        fields = [
            WordIndex.build(
                (document[column] for document in documents), k1=_K1, b=_LENGTH.get(name, _SHORT)
            )
            for column, name in enumerate(FIELDS)
        ]
        counted = [column for column, name in enumerate(FIELDS) if name not in _NOT_COUNTED]
        frequencies = Counter(
            word
            for document in documents
            for word in {word for column in counted for word in document[column]}
        )
        return cls(fields, dict(frequencies), len(documents))

    @classmethod
    def load(cls, folder: Path, rows: int) -> FieldIndex:
        """From files that `save` wrote.

        Raises:
            IndexCorrupt: they are missing or damaged.
        """
        fields = [WordIndex.load(folder / name, rows) for name in FIELDS]
        try:
            frequencies = json.loads((folder / _FREQUENCIES).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise IndexCorrupt(f"{folder} is damaged ({type(error).__name__}).") from None
        return cls(fields, frequencies, rows)

    def save(self, folder: Path) -> None:
        for name, field in zip(FIELDS, self._fields, strict=True):
            field.save(folder / name)
        text = json.dumps(self._frequencies, ensure_ascii=False)
        (folder / _FREQUENCIES).write_text(text, encoding="utf-8")

    def scores(self, query: Collection[str]) -> NDArray[np.float32]:
        """A row for each of FIELDS, a column for each document; ``query`` are distinct stems."""
        import numpy as np

        return np.stack([field.scores(query) for field in self._fields])

    def rarity(self, word: str) -> float:
        """BM25's inverse document frequency over all fields; above 0."""
        count = self._frequencies.get(word, 0)
        return math.log1p((self.rows - count + 0.5) / (count + 0.5))
