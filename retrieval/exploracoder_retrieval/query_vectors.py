"""What is embedded of queries: each clause, and the whole unless its clauses say it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exploracoder_retrieval.arrays import Floats, Vectors, np
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.ranking.candidates import Query

# Embedding takes most of a query's time, in proportion to its length. Of a longer text with few
# clauses the mean of theirs finds what its own vector finds; with more of them it does not.
_WORDS = 25
_CLAUSES = 4


def query_vectors(queries: Sequence[Query], embedder: Embedder) -> list[Vectors]:
    """For each query a row for each of its parts; all are embedded together, equal texts once.

    Raises:
        EmbeddingError: there are no vectors.
    """
    texts = list(dict.fromkeys(text for query in queries for text in _embedded(query)))
    known = dict(zip(texts, embedder.embed(texts), strict=True))
    return [
        np.stack([known[text] if text in known else _mean(query, known) for text in query.parts])
        for query in queries
    ]


def _embedded(query: Query) -> tuple[str, ...]:
    return query.parts[1:] if _clauses_say_all(query) else query.parts


def _clauses_say_all(query: Query) -> bool:
    whole, *clauses = query.parts
    return 0 < len(clauses) <= _CLAUSES and len(whole.split()) > _WORDS


def _mean(query: Query, known: Mapping[str, Floats]) -> Floats:
    """Of the vectors of a query's clauses, each counting by its words; of length one."""
    total = np.sum([len(part.split()) * known[part] for part in query.parts[1:]], axis=0)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-12), dtype=np.float32)
