"""BM25 over the words of one library's APIs, field by field."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from exploracoder_retrieval.arrays import Matrix, np
from exploracoder_retrieval.bm25 import WordIndex
from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.ranking.searched_fields import FIELD_WEIGHTS, FIELDS

_FREQUENCIES = "frequencies.json"


class FieldIndex:
    """Scores the rows of a library's documents by the words they share with a query."""

    def __init__(self, fields: Sequence[WordIndex], frequencies: dict[str, int], rows: int) -> None:
        self._fields = fields
        self._frequencies = frequencies
        self.rows = rows

    @classmethod
    def build(cls, documents: Sequence[Sequence[list[str]]]) -> FieldIndex:
        """Build from the words of each document's FIELDS, in row order."""
        fields = [
            WordIndex.build(document[column] for document in documents)
            for column in range(len(FIELDS))
        ]
        frequencies = Counter(word for document in documents for word in set(chain(*document)))
        return cls(fields, dict(frequencies), len(documents))

    @classmethod
    def load(cls, folder: Path, rows: int) -> FieldIndex:
        """Load from files that `save` wrote.

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

    def scores(self, parts: Sequence[Sequence[str]]) -> tuple[Matrix, Matrix]:
        """How well a query's words fit each document, one column per document.

        ``parts`` are the stems of the query and of its clauses. First come the scores of the whole
        query in each of FIELDS, repeated stems counting repeatedly; then the weighted scores of
        each part over all fields, each stem once.
        """
        by_field = np.zeros((len(FIELDS), self.rows), dtype=np.float32)
        by_part = np.zeros((len(parts), self.rows), dtype=np.float32)
        counts = Counter(parts[0])
        stems = {
            word: [n for n, part in enumerate(parts) if word in part] for word in chain(*parts)
        }
        for field, own, weight in zip(self._fields, by_field, FIELD_WEIGHTS, strict=True):
            for word, where in stems.items():
                rows, scores = field.postings(word)
                if not len(rows):
                    continue
                own[rows] += counts[word] * scores
                for part in where:
                    by_part[part][rows] += weight * scores
        return by_field, by_part

    def rarity(self, word: str) -> float:
        """BM25's inverse document frequency over all fields; above 0."""
        count = self._frequencies.get(word, 0)
        return math.log1p((self.rows - count + 0.5) / (count + 0.5))
