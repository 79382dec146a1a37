"""Replaces the APIs that a snippet uses with others, tried one after another.

A small model gets the form of a program right more often than its names: it takes the API that it
knows from elsewhere, or the first one it was shown. No model is asked here: a snippet is run with
each of the other retrieved APIs, which takes milliseconds in a fork. A name that does not exist
still says what was meant: it is the best query for the one that does.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.reading import syntax
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.running.renaming import MOST_SECONDS, TriedSnippet, TriedT

# Runs for a solution that the user's check rejects; a step gets a quarter of them.
MOST = 40


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a snippet names an API.

    Positions are a line, counting from 1, and bytes in it: the name spans ``start`` to ``end``, and
    a member's owner ``owner_start`` to the dot, if it is on the same line. ``root`` is the first
    name of a chain such as ``lib.Class.name``.
    """

    name: str
    row: int
    start: int
    end: int
    call: ast.Call | None
    is_member: bool = False
    is_read: bool = True
    owner_start: int | None = None
    root: str = ""


@dataclass(frozen=True, slots=True)
class _Change:
    """New text from ``start`` to ``end`` in a line."""

    row: int
    start: int
    end: int
    text: str


async def search(
    original: TriedT,
    apis: KnownApis,
    docs_for: Callable[[Collection[str]], Awaitable[Sequence[ApiDoc]]],
    run: Callable[[str], Awaitable[TriedT]],
    is_good: Callable[[TriedT], bool],
    most: int,
    seen_codes: set[str],
    around: str = "",
    only_wrong: bool = False,
) -> TriedT | None:
    """The first good snippet among at most ``most`` in which one API is replaced by another.

    No run starts after MOST_SECONDS: long computations cannot be tried many times. ``docs_for``
    returns the APIs to try for the names that are wrong. The search continues from a snippet that
    fails on a different wrong name. ``seen_codes`` are not run again, and what is run is added to
    them. ``around`` is code that has run before, for its imports. With ``only_wrong``, no API that
    exists is replaced.
    """

    async def made_from(base: TriedT) -> tuple[frozenset[str], Iterator[str]]:
        wrong = wrong_names(base)
        docs = await docs_for(wrong)
        return wrong, substitutes(base.code, apis, docs, wrong, around, only_wrong)

    # The search continues from the last: it has fewer wrong names than those before it.
    bases, tries = [await made_from(original)], 0
    start = time.monotonic()
    while bases and tries < most and time.monotonic() - start < MOST_SECONDS:
        wrong, codes = bases[-1]
        code = next(codes, None)
        if code is None:
            bases.pop()
            continue
        if code in seen_codes:
            continue
        seen_codes.add(code)
        tries += 1
        snippet = await run(code)
        if is_good(snippet):
            return snippet
        if wrong and snippet.problems and not wrong & wrong_names(snippet):
            bases.append(await made_from(snippet))
    return None


def wrong_names(snippet: TriedSnippet) -> frozenset[str]:
    """The names of a snippet that the library does not have."""
    return frozenset(problem.name.partition(".")[0] for problem in snippet.problems)


def substitutes(
    code: str,
    apis: KnownApis,
    docs: Sequence[ApiDoc],
    wrong: Collection[str] = (),
    around: str = "",
    only_wrong: bool = False,
) -> Iterator[str]:
    """``code`` with one API that it names replaced by one of ``docs``, the likeliest first.

    ``wrong`` names are replaced before those that the library has, and only by an API that accepts
    the same call. A function replaces a method with what is before the dot as its first argument,
    if ``code`` or ``around`` has imported its library.
    """
    tree = syntax.tree(code)
    modules = _modules([tree, syntax.tree(around)])
    places = [one for one in _places(tree) if one.name in wrong or apis.named(one.name)]
    # The result depends most on what comes last.
    places.sort(key=lambda one: (one.row, one.start), reverse=True)
    seen_codes = {code}
    for is_wrong in (True,) if only_wrong else (True, False):
        there = [one for one in places if (one.name in wrong) == is_wrong]
        for doc, place in _likeliest_first(docs, there):
            for change in _changes(doc, place, code, modules):
                variant = syntax.replaced(code, change.row, change.start, change.end, change.text)
                if doc.path.rpartition(".")[2] != place.name and variant not in seen_codes:
                    seen_codes.add(variant)
                    yield variant


# This many docs are tried in a place before the place above it gets its first.
_DOCS_A_PLACE = 3


def _likeliest_first(
    docs: Sequence[ApiDoc], places: Sequence[_Place]
) -> Iterator[tuple[ApiDoc, _Place]]:
    pairs = [(m + _DOCS_A_PLACE * n, n, m) for n in range(len(places)) for m in range(len(docs))]
    return ((docs[m], places[n]) for _, n, m in sorted(pairs))


def _modules(trees: Iterable[ast.Module]) -> dict[str, str]:
    """The local names of modules that are imported whole, by the modules' paths."""
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import))
    return {path: name for node in nodes for name, path in syntax.imports(node).items()}


def _places(tree: ast.Module) -> Iterator[_Place]:
    """Attributes, and names that are read, each with the call that it is the function of."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        call = calls.get(id(node))
        match node:
            case ast.Attribute(value, name, end_lineno=int(row), end_col_offset=int(end)):
                start = end - len(name.encode())
                owner = value.col_offset if value.lineno == row else None
                root = syntax.chain_of(node).partition(".")[0]
                is_read = isinstance(node.ctx, ast.Load)
                yield _Place(name, row, start, end, call, True, is_read, owner, root)
            case ast.Name(name, ast.Load(), lineno=row, col_offset=start, end_col_offset=int(end)):
                yield _Place(name, row, start, end, call)


def _changes(
    doc: ApiDoc, place: _Place, code: str, modules: Mapping[str, str]
) -> Iterator[_Change]:
    """The ways in which ``doc`` can be written at a place."""
    name, own = doc.path.rpartition(".")[2], (place.row, place.start, place.end)
    if doc.kind in ("property", "attribute"):
        if place.is_member and place.call is None:
            yield _Change(*own, name)
        return
    if not place.is_read:
        return
    accepts = _Parameters.read(doc.signature)
    brackets = "" if place.call is not None else "()"
    members = [alias[1:] for alias in doc.aliases if alias.startswith(".")]
    fits, fits_after = accepts.takes(place.call, extra=0), accepts.takes(place.call, extra=1)
    if not place.is_member:
        if doc.kind in ("class", "function") and fits:
            yield _Change(*own, name + brackets)
    elif members or doc.kind == "method":
        # What is before the dot is the first argument of what a member stands for.
        if fits_after if members else fits:
            yield from (_Change(*own, member + brackets) for member in members or [name])
    elif place.owner_start is not None:
        yield from _as_function(doc, place, code, modules, fits, fits_after)


def _as_function(
    doc: ApiDoc,
    place: _Place,
    code: str,
    modules: Mapping[str, str],
    fits: bool,
    fits_after: bool,
) -> Iterator[_Change]:
    """A function in a member's place: of the module, or with the owner as its first argument."""
    library, _, rest = doc.path.partition(".")
    local, start = modules.get(library), place.owner_start
    if local is None or start is None:
        return
    if place.root in modules.values():
        if fits:
            brackets = "" if place.call is not None else "()"
            yield _Change(place.row, start, place.end, f"{local}.{rest}{brackets}")
        return
    line = syntax.lines_of(code)[place.row - 1].encode()
    owner = line[start : place.start].decode().rstrip().removesuffix(".")
    if not fits_after:
        return
    if place.call is None:
        yield _Change(place.row, start, place.end, f"{local}.{rest}({owner})")
    elif line[place.end : place.end + 1] == b"(":
        comma = ", " if place.call.args or place.call.keywords else ""
        yield _Change(place.row, start, place.end + 1, f"{local}.{rest}({owner}{comma}")


@dataclass(frozen=True, slots=True)
class _Parameters:
    """The arguments that a signature accepts; one that cannot be parsed accepts anything."""

    names: frozenset[str] = frozenset()
    least: int = 0
    most: float = float("inf")
    has_keywords: bool = True

    @classmethod
    def read(cls, signature: str) -> _Parameters:
        _, bracket, rest = signature.partition("(")
        if not bracket:
            return cls()
        body = syntax.tree(f"def _({rest}: ...").body
        if not body or not isinstance(body[0], ast.FunctionDef):
            return cls()
        arguments = body[0].args
        positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        if positional[:1] in (["self"], ["cls"]):
            positional = positional[1:]
        optional = len(arguments.defaults)
        return cls(
            names=frozenset(positional) | {one.arg for one in arguments.kwonlyargs},
            least=max(0, len(positional) - optional),
            most=float("inf") if arguments.vararg else len(positional),
            has_keywords=arguments.kwarg is not None,
        )

    def takes(self, call: ast.Call | None, extra: int) -> bool:
        """Whether it accepts the call; ``extra`` arguments come on top of those in brackets."""
        if call is None:
            return self.least <= extra
        if any(isinstance(one, ast.Starred) for one in call.args):
            return True
        keywords = {one.arg for one in call.keywords}
        if None not in keywords and len(call.args) + len(keywords) + extra < self.least:
            return False
        if len(call.args) + extra > self.most:
            return False
        return self.has_keywords or keywords - {None} <= self.names
