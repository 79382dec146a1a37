"""Other APIs in the places of those that a snippet uses, tried one after another.

A small model gets the form of a program right more often than its names: it takes the API that it
knows from elsewhere, or the first of those it was shown. No model is asked here: a snippet is run
with each of the other APIs that were retrieved, which takes milliseconds in a fork. A name that
does not exist says what was meant: it is the best query for the one that does.
"""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.known import KnownApis
from exploracoder.state import NameProblem


class Tried(Protocol):
    """A snippet that was run: a candidate, or an attempt at the solution."""

    @property
    def code(self) -> str: ...

    @property
    def problems(self) -> tuple[NameProblem, ...]: ...


TriedT = TypeVar("TriedT", bound=Tried)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a snippet names an API: the name's line, counting from 1, its bytes, and its call."""

    name: str
    row: int
    start: int
    end: int
    is_member: bool
    call: ast.Call | None


async def search(
    failed: TriedT,
    known: KnownApis,
    docs_for: Callable[[Collection[str]], Awaitable[Sequence[ApiDoc]]],
    run: Callable[[str], Awaitable[TriedT]],
    is_good: Callable[[TriedT], bool],
    most: int,
    seen: set[str],
) -> TriedT | None:
    """The first snippet that is good, of at most ``most`` with another API in one's place.

    ``docs_for`` gives the APIs to try, given the names that are wrong. A snippet that fails at
    another wrong name than before is gone on from. What is ``seen`` is not run again; what is run
    is added.
    """
    waiting, tries = [failed], 0
    while waiting:
        base = waiting.pop(0)
        wrong = wrong_names(base)
        for code in substitutes(base.code, known, await docs_for(wrong), wrong):
            if tries >= most:
                return None
            if code in seen:
                continue
            seen.add(code)
            tries += 1
            tried = await run(code)
            if is_good(tried):
                return tried
            if wrong and tried.problems and not wrong & wrong_names(tried):
                waiting.append(tried)
    return None


def wrong_names(tried: Tried) -> frozenset[str]:
    """The names of a snippet that the library does not have."""
    return frozenset(problem.name.partition(".")[0] for problem in tried.problems)


def substitutes(
    code: str, known: KnownApis, docs: Sequence[ApiDoc], wrong: Collection[str] = ()
) -> Iterator[str]:
    """``code`` with one of ``docs`` in the place of one API that it names, the best docs first.

    Names that are ``wrong`` are replaced before those that the library has; an API takes a place
    only if it can be called as that place does.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return
    places = [one for one in _places(tree) if one.name in wrong or known.named(one.name)]
    # What comes last is what the result hangs on.
    places.sort(key=lambda one: (one.name in wrong, one.row, one.start), reverse=True)
    seen = {code}
    for is_wrong in (True, False):
        for doc in docs:
            for place in places:
                if (place.name in wrong) != is_wrong:
                    continue
                for text in _forms(doc, place):
                    made = _put(code, place, text)
                    if text.removesuffix("()") != place.name and made not in seen:
                        seen.add(made)
                        yield made


def _places(tree: ast.Module) -> Iterator[_Place]:
    """The attributes and names that are read, with the calls that they are the functions of."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, end_lineno=int(row), end_col_offset=int(end)):
                start = end - len(name.encode())
                yield _Place(name, row, start, end, True, calls.get(id(node)))
            case ast.Name(id=name, lineno=row, col_offset=start, end_col_offset=int(end)):
                yield _Place(name, row, start, end, False, calls.get(id(node)))


def _forms(doc: ApiDoc, place: _Place) -> Iterator[str]:
    """How ``doc`` is written at a place: by its name, or as the member that stands for it."""
    name = doc.path.rpartition(".")[2]
    if doc.kind in ("property", "attribute"):
        if place.is_member and place.call is None:
            yield name
        return
    accepts = _Parameters.read(doc.signature)
    called = "" if place.call is not None else "()"
    members = [alias[1:] for alias in doc.aliases if alias.startswith(".")]
    if place.is_member and members:
        # What is before the dot is its first value.
        yield from (name + called for name in members if accepts.takes(place.call, given=1))
    elif (place.is_member or doc.kind in ("class", "function")) and accepts.takes(place.call, 0):
        yield name + called


@dataclass(frozen=True, slots=True)
class _Parameters:
    """What a signature takes; one that cannot be read takes anything."""

    names: frozenset[str] = frozenset()
    least: int = 0
    most: float = float("inf")
    has_keywords: bool = True

    @classmethod
    def read(cls, signature: str) -> _Parameters:
        _, bracket, rest = signature.partition("(")
        if not bracket:
            return cls()
        try:
            (function,) = ast.parse(f"def _({rest}: ...").body
        except (SyntaxError, ValueError):
            return cls()
        assert isinstance(function, ast.FunctionDef)
        given = function.args
        positional = [one.arg for one in (*given.posonlyargs, *given.args)]
        if positional[:1] in (["self"], ["cls"]):
            positional = positional[1:]
        optional = len(given.defaults)
        return cls(
            names=frozenset(positional) | {one.arg for one in given.kwonlyargs},
            least=max(0, len(positional) - optional),
            most=float("inf") if given.vararg else len(positional),
            has_keywords=given.kwarg is not None,
        )

    def takes(self, call: ast.Call | None, given: int) -> bool:
        """Whether it can be called so; ``given`` values come besides those in the brackets."""
        if call is None:
            return self.least <= given
        if any(isinstance(one, ast.Starred) for one in call.args):
            return True
        named = {one.arg for one in call.keywords}
        if None not in named and len(call.args) + len(named) + given < self.least:
            return False
        if len(call.args) + given > self.most:
            return False
        return self.has_keywords or named - {None} <= self.names


def _put(code: str, place: _Place, text: str) -> str:
    # Positions in the tree count bytes.
    lines = [line.encode() for line in code.splitlines(keepends=True)]
    line = lines[place.row - 1]
    lines[place.row - 1] = line[: place.start] + text.encode() + line[place.end :]
    return b"".join(lines).decode()
