"""Other APIs in the places of those that a snippet uses, tried one after another.

A small model gets the form of a program right more often than its names: it takes the API that it
knows from elsewhere, or the first of those it was shown. No model is asked here: a snippet is run
with each of the other APIs that were retrieved, which takes milliseconds in a fork.
"""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.known import KnownApis

TriedT = TypeVar("TriedT")


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
    code: str,
    known: KnownApis,
    docs: Sequence[ApiDoc],
    wrong: Collection[str],
    run: Callable[[str], Awaitable[TriedT]],
    is_good: Callable[[TriedT], bool],
    most: int,
) -> TriedT | None:
    """The first of ``most`` snippets with one API in another's place that is good once it ran."""
    for number, substituted in enumerate(substitutes(code, known, docs, wrong)):
        if number >= most:
            return None
        tried = await run(substituted)
        if is_good(tried):
            return tried
    return None


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
