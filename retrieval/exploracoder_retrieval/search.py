"""Finds and ranks the APIs of libraries for queries: embedding, candidates, ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from exploracoder_retrieval.apidoc import ApiDoc, Hit
from exploracoder_retrieval.arrays import Floats, Matrix, RowNumbers, Vectors, np
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.meaning import EmbeddingSearch
from exploracoder_retrieval.ranking.candidates import (
    DEPTH,
    FEATURES,
    Corpus,
    Query,
    features,
    gather,
    learned_weights,
)
from exploracoder_retrieval.ranking.clauses import clauses
from exploracoder_retrieval.search_filter import Filter
from exploracoder_retrieval.shelf import Shelf

# Embedding takes most of a query's time, in proportion to its length. For a longer text with few
# clauses, the mean of their vectors finds the same as its own; with more clauses it does not.
_WORDS = 25
_CLAUSES = 4


class SelectedDocs(Sequence[ApiDoc]):
    """Selected rows of several libraries' documents, each read on access."""

    def __init__(self, parts: Sequence[tuple[Sequence[ApiDoc], RowNumbers]]) -> None:
        self._places = [(docs, int(row)) for docs, rows in parts for row in rows]

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> ApiDoc: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ApiDoc, ...]: ...
    def __getitem__(self, place: int | slice) -> ApiDoc | tuple[ApiDoc, ...]:
        if isinstance(place, slice):
            return tuple(docs[row] for docs, row in self._places[place])
        docs, row = self._places[place]
        return docs[row]


@dataclass(frozen=True)
class Candidates:
    """The documents to rank for a query, and a row of `FEATURES` for each."""

    docs: Sequence[ApiDoc]
    features: Matrix

    def ranked(self, weights: Floats, k: int) -> tuple[Hit, ...]:
        """The k best hits, best first; scores are relative to the best hit's, which is 1."""
        merit = self.features @ weights
        order = np.argsort(-merit, kind="stable")[:k]
        return tuple(
            Hit(doc=self.docs[row], score=float(np.exp(merit[row] - merit[order[0]])))
            for row in order
        )


def search(
    texts: Sequence[str],
    shelves: Sequence[Shelf],
    meaning: EmbeddingSearch,
    k: int,
    only: Filter | None = None,
) -> list[tuple[Hit, ...]]:
    """The k best APIs of the libraries for each text, among those that pass ``only`` if given."""
    candidates = find_candidates(texts, shelves, meaning, max(DEPTH, k), only)
    return [each.ranked(learned_weights(), k) for each in candidates]


def find_candidates(
    texts: Sequence[str],
    shelves: Sequence[Shelf],
    meaning: EmbeddingSearch,
    depth: int = DEPTH,
    only: Filter | None = None,
) -> list[Candidates]:
    """The candidates for each text; all texts and their clauses are embedded together."""
    if not (shelves and texts):
        return [Candidates(docs=(), features=_nothing()) for _ in texts]
    queries = [Query((text, *clauses(text))) for text in texts]
    vectors = np.concatenate(query_vectors(queries, meaning.embedder))
    near = [meaning.search(shelf, vectors, depth, only) for shelf in shelves]
    corpora = [_narrowed(shelf, meaning, only) for shelf in shelves]
    candidates, start = [], 0
    for query in queries:
        parts = slice(start, start + len(query.parts))
        raw = [
            gather(query, corpus, each[parts], depth, vectors[start])
            for corpus, each in zip(corpora, near, strict=True)
        ]
        docs = SelectedDocs(
            [(shelf.docs, each.rows) for shelf, each in zip(shelves, raw, strict=True)]
        )
        candidates.append(Candidates(docs=docs, features=features(raw) if docs else _nothing()))
        start = parts.stop
    return candidates


def _narrowed(shelf: Shelf, meaning: EmbeddingSearch, only: Filter | None) -> Corpus:
    """A library's corpus, narrowed to the documents that pass the filter, if there is one."""
    return (
        replace(shelf.corpus, allowed_rows=meaning.matching(shelf, only)) if only else shelf.corpus
    )


def _nothing() -> Matrix:
    return np.zeros((0, len(FEATURES)), dtype=np.float32)


def query_vectors(queries: Sequence[Query], embedder: Embedder) -> list[Vectors]:
    """For each query, a row per part; all are embedded together, equal texts only once.

    Raises:
        EmbeddingError: the embedder gave no vectors.
    """
    texts = list(dict.fromkeys(text for query in queries for text in _embedded(query)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    return [
        np.stack(
            [vectors[text] if text in vectors else _mean(query, vectors) for text in query.parts]
        )
        for query in queries
    ]


def _embedded(query: Query) -> tuple[str, ...]:
    return query.parts[1:] if _clauses_say_all(query) else query.parts


def _clauses_say_all(query: Query) -> bool:
    whole, *clauses = query.parts
    return 0 < len(clauses) <= _CLAUSES and len(whole.split()) > _WORDS


def _mean(query: Query, vectors: Mapping[str, Floats]) -> Floats:
    """The mean of the vectors of a query's clauses, weighted by word count; of length one."""
    total = np.sum([len(part.split()) * vectors[part] for part in query.parts[1:]], axis=0)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-12), dtype=np.float32)
