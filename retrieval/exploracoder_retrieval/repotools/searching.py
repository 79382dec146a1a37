"""``get_related_snippets`` and ``get_relevant_code``: finds pieces of the repository by words.

Source: RepoClassBench, table 1 and appendix D. The paper ranks by the similarity of embeddings;
BM25 over split identifiers needs no model, so a repository is indexed in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from exploracoder_retrieval.bm25 import WordIndex
from exploracoder_retrieval.facts.fact_types import Snippet
from exploracoder_retrieval.repotools.repository import Repository, is_test
from exploracoder_retrieval.repotools.tool_answers import SnippetAnswer

# How many of the best pieces are considered when selecting ones that do not overlap.
_LOOKED_AT = 60
_TEST_WEIGHT = 0.5
Lines = Callable[[str], list[str] | None]


class SnippetSearch:
    """Ranks the pieces of a repository's files."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def find(self, query: str, k: int) -> list[tuple[str, Snippet, float]]:
        """The best ``k`` pieces, each with its file and score; none overlaps another."""
        pieces = self._repository.snippets
        if not pieces or not query.strip():
            return []
        ranking = []
        for row, score in self._words.search(query, len(pieces)):
            file, piece = pieces[row]
            weight = _TEST_WEIGHT if is_test(file.removesuffix(".py").replace("/", ".")) else 1
            ranking.append((file, piece, score * weight))
        ranking.sort(key=lambda one: -one[2])
        return _apart(ranking[:_LOOKED_AT], k)

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex.build([piece.words.split() for _, piece in self._repository.snippets])


def snippet_answer(
    file: str, piece: Snippet, score: float, lines: list[str] | None, limit: int
) -> SnippetAnswer:
    """A piece with at most ``limit`` lines of its source."""
    whole = (lines or [])[piece.line - 1 : piece.end_line]
    return SnippetAnswer(
        kind=piece.kind,
        name=piece.name,
        file=file,
        start_line=piece.line,
        end_line=piece.end_line,
        score=round(score, 3),
        source="\n".join(whole[:limit]),
        left_out=max(0, len(whole) - limit),
    )


def _apart(ranking: list[tuple[str, Snippet, float]], k: int) -> list[tuple[str, Snippet, float]]:
    selection: list[tuple[str, Snippet, float]] = []
    for file, piece, score in ranking:
        if len(selection) == k:
            break
        if not any(file == other and _overlap(piece, one) for other, one, _ in selection):
            selection.append((file, piece, score))
    return selection


def _overlap(one: Snippet, other: Snippet) -> bool:
    return one.line <= other.end_line and other.line <= one.end_line
