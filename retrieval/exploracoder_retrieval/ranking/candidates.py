"""The candidate APIs for a query, each with its row of features."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import Floats, Matrix, RowNumbers, np
from exploracoder_retrieval.embedded_words import words
from exploracoder_retrieval.ranking.example_memory import Memory
from exploracoder_retrieval.ranking.field_index import FieldIndex
from exploracoder_retrieval.ranking.name_index import NameIndex
from exploracoder_retrieval.ranking.searched_fields import FIELDS, field_words
from exploracoder_retrieval.ranking.standing import (
    STANDING,
    best_standing,
    figures,
    standing,
)

# For the query and for each clause, the nearest in meaning and in words; the most used APIs; and
# the APIs in examples kept for something similar.
DEPTH = 150
CLAUSE_DEPTH = 80
STANDING_DEPTH = 150
REMEMBERED_DEPTH = 100

FEATURES = (
    "meaning",
    "clause_meaning",
    "words_body",
    "name_covered",
    "name_covered_and_used",
    "near_example",
    *STANDING,
    "hybrid_where_unused",
)


@dataclass(frozen=True)
class Corpus:
    """One library, ready for ranking: documents, their words, and their standing, row by row.

    ``memory`` holds the examples that are kept for it. ``allowed_rows`` are those that may be
    found; None: all.
    """

    docs: Sequence[ApiDoc]
    words: FieldIndex
    names: NameIndex
    figures: Matrix
    memory: Memory | None = None
    allowed_rows: RowNumbers | None = None

    @classmethod
    def build(cls, docs: Sequence[ApiDoc], examples: Iterable[str] = ()) -> Corpus:
        """Build from the docs, and from the code of examples outside the docs."""
        words = FieldIndex.build([field_words(doc) for doc in docs])
        return cls(
            docs=docs,
            words=words,
            names=NameIndex.build(docs, words.rarity),
            figures=figures(docs, examples),
        )

    @cached_property
    def standing(self) -> tuple[Matrix, float]:
        """The query-independent standing of each row, and how much it says for this library."""
        return standing(self.figures, self.memory.counts if self.memory else {})

    @cached_property
    def best(self) -> RowNumbers:
        """The rows that are candidates for every query."""
        rows, _ = self.standing
        if self.allowed_rows is None:
            return best_standing(rows, STANDING_DEPTH)
        return self.allowed_rows[best_standing(rows[self.allowed_rows], STANDING_DEPTH)]


@dataclass(frozen=True)
class Query:
    """A text and its clauses; the first part is the text itself."""

    parts: tuple[str, ...]

    @cached_property
    def stems(self) -> list[list[str]]:
        """The stems of each part, in order."""
        return [words(part) for part in self.parts]


@dataclass(frozen=True)
class Near:
    """The rows nearest to a text in meaning, best first, and how similar they are."""

    rows: RowNumbers
    similarity: Floats


@dataclass(frozen=True)
class Raw:
    """Candidates of one library, before they are compared with those of others.

    ``meaning`` has a row for each part of the query, ``by_field`` one for each of FIELDS;
    ``coverage`` and ``nearness`` are features that need no comparison, ``evidence`` is how much
    standing says. Each has a column per candidate.
    """

    rows: RowNumbers
    meaning: Matrix
    by_field: Matrix
    coverage: Matrix
    nearness: Matrix
    standing: Matrix
    evidence: Matrix


def gather(
    query: Query,
    corpus: Corpus,
    near: Sequence[Near],
    depth: int,
    vector: Floats,
) -> Raw:
    """The candidates of a library; ``near`` is what was found for each part of the query.

    Candidates found only by words get the lowest similarity that was found. ``vector`` is that of
    the whole query.
    """
    by_field, by_part = corpus.words.scores(query.stems)
    nearness = np.zeros((1, len(corpus.docs)), dtype=np.float32)
    if corpus.memory is not None:
        nearness[0] = corpus.memory.nearness(vector, len(corpus.docs))
    if corpus.allowed_rows is not None:
        hidden_rows = np.setdiff1d(np.arange(len(corpus.docs)), corpus.allowed_rows)
        by_part[:, hidden_rows] = nearness[:, hidden_rows] = 0
    is_chosen = np.zeros(len(corpus.docs), dtype=bool)
    is_chosen[corpus.best] = True
    is_chosen[_top(nearness[0], REMEMBERED_DEPTH)] = True
    for part, (neighbours, flat) in enumerate(zip(near, by_part, strict=True)):
        count = depth if part == 0 else CLAUSE_DEPTH
        is_chosen[neighbours.rows[:count]] = True
        is_chosen[_top(flat, count)] = True
    rows = np.flatnonzero(is_chosen)
    coverage = corpus.names.covered(set(query.stems[0]), corpus.words.rarity)
    standings, evidence = corpus.standing
    return Raw(
        rows=rows,
        meaning=np.stack([_similar(neighbours, rows) for neighbours in near]),
        by_field=by_field[:, rows],
        coverage=coverage[None, rows],
        nearness=nearness[:, rows],
        standing=standings[rows].T,
        evidence=np.full((1, len(rows)), evidence, dtype=np.float32),
    )


def features(candidates: Sequence[Raw]) -> Matrix:
    """A row for each candidate of all libraries, a column for each of FEATURES.

    Scores and amounts are compared among the candidates, in standard deviations, because their
    spread differs between queries and libraries. Standing counts as far as it says anything about a
    library; the less it does, the more a plain hybrid of meaning and words counts.
    """

    def joined(pick: Sequence[Matrix]) -> Matrix:
        return np.concatenate(pick, axis=1)

    meaning = _standardised(joined([each.meaning for each in candidates]))
    by_field = _standardised(joined([each.by_field for each in candidates]))
    coverage = joined([each.coverage for each in candidates])
    standings = joined([each.standing for each in candidates])
    evidence = joined([each.evidence for each in candidates])
    clauses = slice(1, None) if len(meaning) > 1 else slice(None)
    of_clauses = meaning[clauses].max(axis=0, keepdims=True)
    hybrid = 0.3 * meaning[:1] + 0.3 * of_clauses + 0.5 * by_field[FIELDS.index("brief")]
    stack = (
        meaning[:1],
        of_clauses,
        by_field[FIELDS.index("body")][None],
        coverage,
        evidence * coverage * standings[STANDING.index("used")],
        joined([each.nearness for each in candidates]),
        evidence * _standardised(standings, least=0.05),
        (1 - evidence) ** 2 * _standardised(hybrid),
    )
    return np.asarray(np.concatenate(stack).T, dtype=np.float32)


def _top(scores: Floats, count: int) -> RowNumbers:
    """The rows with the best scores above zero."""
    rows = np.flatnonzero(scores)
    if len(rows) > count:
        rows = rows[np.argpartition(scores[rows], -count)[-count:]]
    return rows


def _similar(neighbours: Near, rows: RowNumbers) -> Floats:
    """The similarity of each of ``rows``, which are sorted."""
    similar = np.full(len(rows), neighbours.similarity.min(initial=1.0), dtype=np.float32)
    places = np.searchsorted(rows, neighbours.rows).clip(max=len(rows) - 1)
    is_here = rows[places] == neighbours.rows
    similar[places[is_here]] = neighbours.similarity[is_here]
    return similar


def _standardised(scores: Matrix, least: float = 1e-3) -> Matrix:
    """Each row centred on 0, in standard deviations; ``least`` keeps noise from being amplified."""
    spread = scores.std(axis=1, keepdims=True) + least
    return np.asarray((scores - scores.mean(axis=1, keepdims=True)) / spread, dtype=np.float32)


@lru_cache(maxsize=1)
def learned_weights() -> Floats:
    """A weight for each of FEATURES; ``weights.json`` says how they were learned."""
    file = resources.files("exploracoder_retrieval") / "data" / "weights.json"
    by_name = json.loads(file.read_text(encoding="utf-8"))["weights"]
    return np.asarray([by_name[name] for name in FEATURES], dtype=np.float32)
