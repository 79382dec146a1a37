"""Replaces names that the installed library does not have with real ones near them.

No model is asked: a snippet is run with each of the nearest names in turn, which takes milliseconds
in a fork. A small model that is told the right name often writes the wrong one again.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from exploracoder.engine.reading import syntax
from exploracoder.state import NameProblem

# Runs that one failure may cost, and seconds of wall time after which no further one starts.
MOST_TRIES = 12
MOST_SECONDS = 5.0


class TriedSnippet(Protocol):
    """A snippet that was run: a candidate, or an attempt at the solution."""

    @property
    def code(self) -> str: ...

    @property
    def problems(self) -> tuple[NameProblem, ...]: ...


TriedT = TypeVar("TriedT", bound=TriedSnippet)


async def search(
    original: TriedT,
    run: Callable[[str], Awaitable[TriedT]],
    is_good: Callable[[TriedT], bool],
) -> TriedT | None:
    """The first good snippet among those made from ``original`` by putting in near names.

    The search continues from a snippet that fails on another name, so that several wrong names are
    mended one after another.
    """
    queue, seen_codes, tries = [original], {original.code}, 0
    end = time.monotonic() + MOST_SECONDS
    while queue:
        for code in variants(queue.pop(0)):
            if code in seen_codes or tries >= MOST_TRIES or time.monotonic() > end:
                continue
            seen_codes.add(code)
            tries += 1
            snippet = await run(code)
            if is_good(snippet):
                return snippet
            if snippet.problems:
                queue.append(snippet)
    return None


def variants(snippet: TriedSnippet) -> Iterator[str]:
    """The snippet's code with its first wrong name replaced, the nearest name first."""
    for problem in snippet.problems:
        wrong = problem.name.partition(".")[0]
        for name in problem.nearest:
            code = renamed(snippet.code, wrong, name)
            if code is not None:
                yield code
        if problem.nearest:
            return


def renamed(code: str, wrong: str, name: str) -> str | None:
    """``code`` with ``name`` for each attribute or import ``wrong``; None if there is none."""
    places = sorted(_places(syntax.tree(code), wrong), reverse=True)
    for row, end in places:
        code = syntax.replaced(code, row, end - len(wrong.encode()), end, name)
    return code if places else None


def _places(tree: ast.Module, wrong: str) -> set[tuple[int, int]]:
    """Where ``wrong`` ends: the line, counting from 1, and the byte after it."""
    places: set[tuple[int, int]] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=attr, end_lineno=int(row), end_col_offset=int(end)):
                if attr == wrong:
                    places.add((row, end))
            case ast.ImportFrom(names=aliases):
                places |= set(_imported(aliases, wrong))
    return places


def _imported(aliases: Sequence[ast.alias], wrong: str) -> Iterator[tuple[int, int]]:
    for alias in aliases:
        if alias.name == wrong:
            yield alias.lineno, alias.col_offset + len(wrong.encode())
