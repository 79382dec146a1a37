"""The baseline rankers that ours is compared with, as the papers and most programs use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embedded_words import index_text, words
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.fusion import fuse
from exploracoder_retrieval.ranking.field_index import FieldIndex
from exploracoder_retrieval.ranking.searched_fields import field_words

if TYPE_CHECKING:
    from exploracoder_retrieval.arrays import Vectors

# The text of an API that is searched: path and first sentence, the best of ExploraCoder's table 10,
# and everything that ours searches.
BEST, FIELDS = "Path+Desc*", "Fields"
NAIVE_CONSTANT = 60.0
DEPTH = 100
Ranking = list[str]


class Bm25Ranker:
    """BM25 over split and stemmed words of each API's path and first sentence."""

    def __init__(self, docs: Sequence[ApiDoc]) -> None:
        import bm25s

        self._paths = [doc.path for doc in docs]
        self._model = bm25s.BM25()
        corpus = [words(index_text(doc)) or ["_"] for doc in docs]
        self._model.index(corpus, show_progress=False)

    def rank(self, queries: Sequence[str]) -> list[Ranking]:
        """The DEPTH best paths for each query that share a word with it."""
        return [self._rank(query) for query in queries]

    def _rank(self, query: str) -> Ranking:
        import numpy as np

        terms = [word for word in words(query) if word in self._model.vocab_dict]
        if not terms:
            return []
        scores = self._model.get_scores(terms)
        order = np.argsort(-scores, kind="stable")[:DEPTH]
        return [self._paths[row] for row in order if scores[row] > 0]


class FieldsRanker:
    """BM25 over the words of each of our fields, weighted and summed."""

    def __init__(self, docs: Sequence[ApiDoc]) -> None:
        self._paths = [doc.path for doc in docs]
        self._words = FieldIndex.build([field_words(doc) for doc in docs])

    def rank(self, queries: Sequence[str]) -> list[Ranking]:
        """The DEPTH best paths for each query that share a word with it."""
        import numpy as np

        rankings = []
        for query in queries:
            _, (scores,) = self._words.scores([words(query)])
            order = np.argsort(-scores, kind="stable")[:DEPTH]
            rankings.append([self._paths[row] for row in order if scores[row] > 0])
        return rankings


class DenseRanker:
    """Exact nearest neighbours by inner product."""

    def __init__(self, docs: Sequence[ApiDoc], which: str, embedder: Embedder) -> None:
        self._paths = [doc.path for doc in docs]
        self._embedder = embedder
        self._vectors: Vectors = embedder.embed([_text(doc, which) for doc in docs])

    def rank(self, queries: Sequence[str]) -> list[Ranking]:
        """The DEPTH nearest paths for each query."""
        import numpy as np

        query_vectors = self._embedder.embed(queries)
        rankings = []
        for query in query_vectors:
            order = np.argsort(-(self._vectors @ query), kind="stable")[:DEPTH]
            rankings.append([self._paths[row] for row in order])
        return rankings


def _text(doc: ApiDoc, which: str) -> str:
    more = (*doc.aliases, doc.signature, doc.doc) if which == FIELDS else ()
    return " ".join(filter(None, (index_text(doc), *more)))


def naive_hybrid(one: Sequence[Ranking], other: Sequence[Ranking]) -> list[Ranking]:
    """Both rankings of each query by reciprocal rank fusion with the usual constant."""
    return [
        [path for path, _ in fuse(pair, constant=NAIVE_CONSTANT)]
        for pair in zip(one, other, strict=True)
    ]
