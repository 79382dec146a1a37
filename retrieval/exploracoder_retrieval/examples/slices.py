"""Cuts code down to its uses of a library: the calls, and the lines that produce their inputs.

Nothing is run. Each name that a call needs is traced back to the nearest earlier line that binds
it; lines for which there is no room are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from exploracoder_retrieval.facts.reading import parse_or_none

MAX_LINES = 30
# A longer definition is left out, such as a table of data or a large helper.
MAX_PART_LINES = 8
MAX_TEXT_CHARS = 160
# How many statements back a name is traced.
MAX_PARTS = 400

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.Module | _Function
_Import = ast.Import | ast.ImportFrom
_BLOCKS = ("body", "orelse", "finalbody")
# Statements that form one part, whatever is inside them.
_WHOLE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Slice:
    """Code that uses the library, the line it started at, and its enclosing function, if any."""

    code: str
    line: int
    function: _Function | None


@dataclass(slots=True)
class _Part:
    """A statement without those nested in it: the names it reads, binds and calls."""

    node: ast.stmt
    parents: tuple[ast.stmt, ...]
    reads: set[str] = field(default_factory=set)
    makes: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    lines: int = 1


def slices(tree: ast.Module, module: str) -> Iterator[Slice]:
    """The uses of a top-level module in a file; uses that depend on one another are one slice."""
    imports = [node for node in ast.walk(tree) if isinstance(node, _Import)]
    of_library = {name for node in imports for name in _bound_by(node, module)}
    if not of_library:
        return
    outer = [part for part in _parts(tree) if not isinstance(part.node, _Import)]
    for scope in _scopes(tree):
        parts = _parts(scope)
        inner = [part for part in parts if not isinstance(part.node, _Import)]
        for group in _groups(inner, of_library):
            around = [] if scope is tree else outer
            yield _cut(scope, inner, group, around, imports)


def standing_alone(code: str, earlier: Sequence[str]) -> str:
    """A cell's code with the lines of earlier cells that it needs, imports included.

    Lines that would make it too long are left out. If it does not parse, it is returned as is.
    """
    own, before = parse_or_none(code), parse_or_none("\n".join(earlier))
    if own is None or before is None:
        return code
    parts = _parts(before)
    needed_names = {name for part in _parts(own) for name in part.reads}
    imports = [node for node in ast.walk(before) if isinstance(node, _Import)]
    others = [part for part in parts if not isinstance(part.node, _Import)]
    room = MAX_LINES - len(code.splitlines())
    numbers = _behind(others, len(others), needed_names, room)
    lines = _import_lines(
        imports, needed_names | {name for one in numbers for name in others[one].reads}
    )
    body = _rendered(before.body, {id(others[one].node) for one in numbers})
    own_lines = set(code.splitlines())
    return "\n".join([*(line for line in lines if line not in own_lines), *body, code.strip()])


def _scopes(tree: ast.Module) -> Iterator[_Scope]:
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, _Function):
            yield node


def _parts(scope: _Scope) -> list[_Part]:
    """The statements of a scope in order, nested ones after the statement around them."""
    parts: list[_Part] = []

    def collect(body: Iterable[ast.stmt], parents: tuple[ast.stmt, ...]) -> None:
        for node in body:
            parts.append(_part(node, parents))
            if not isinstance(node, _WHOLE):
                for inner in _bodies(node):
                    collect(inner, (*parents, node))

    collect(scope.body, ())
    return parts


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in _BLOCKS:
        if body := getattr(node, name, None):
            yield body
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body


def _part(node: ast.stmt, parents: tuple[ast.stmt, ...]) -> _Part:
    part = _Part(node, parents)
    last = node.end_lineno or node.lineno
    if isinstance(node, _WHOLE):
        part.makes.add(node.name)
        part.lines = last - node.lineno + 1
        part.reads = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return part
    bodies = list(_bodies(node))
    part.lines = 1 if bodies else last - node.lineno + 1
    for one in _own_nodes(node):
        if isinstance(one, ast.Name):
            (part.reads if isinstance(one.ctx, ast.Load) else part.makes).add(one.id)
        elif isinstance(one, ast.Call):
            part.calls.add(_root(one.func))
        elif isinstance(one, ast.ExceptHandler) and one.name:
            part.makes.add(one.name)
    if isinstance(node, ast.AugAssign):
        part.reads |= part.makes
    return part


def _own_nodes(node: ast.stmt) -> Iterator[ast.AST]:
    """A statement's nodes, without those of the statements nested in it."""
    stack: list[ast.AST] = [node]
    while stack:
        one = stack.pop()
        yield one
        stack += [each for each in ast.iter_child_nodes(one) if not isinstance(each, ast.stmt)]


def _root(node: ast.expr) -> str:
    """The name that a call begins with: ``tea`` of ``tea.Pot().fill(3)``."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _bound_by(node: _Import, module: str) -> Iterator[str]:
    """The names to which an import binds a module or something from it."""
    for alias in node.names:
        origin = node.module if isinstance(node, ast.ImportFrom) else alias.name
        is_local = isinstance(node, ast.ImportFrom) and node.level
        if not is_local and (origin or "").partition(".")[0] == module:
            yield alias.asname or alias.name.partition(".")[0]


def _groups(parts: Sequence[_Part], of_library: Collection[str]) -> list[set[int]]:
    """The numbers of the parts of each use; uses that share a part are merged unless too long."""
    known_names, groups = set(of_library), list[set[int]]()
    for number, part in enumerate(parts):
        if not part.calls & known_names:
            continue
        known_names |= part.makes
        group = {number, *_behind(parts, number, part.reads, MAX_LINES - part.lines)}
        overlaps = [one for one in groups if one & group]
        union = group.union(*overlaps)
        if sum(parts[one].lines for one in union) <= MAX_LINES:
            groups = [one for one in groups if one not in overlaps]
            group = union
        groups.append(group)
    return groups


def _behind(parts: Sequence[_Part], end: int, reads: Collection[str], room: int) -> set[int]:
    """The parts before ``end`` that bind what is read, nearest first, as long as there is room."""
    numbers, needed_names = set[int](), set(reads)
    for number in reversed(range(max(0, end - MAX_PARTS), end)):
        part = parts[number]
        if not part.makes & needed_names or part.lines > min(room, MAX_PART_LINES):
            continue
        numbers.add(number)
        room -= part.lines
        needed_names = (needed_names - part.makes) | part.reads
    return numbers


def _cut(
    scope: _Scope,
    parts: Sequence[_Part],
    group: Collection[int],
    outer: Sequence[_Part],
    imports: Sequence[_Import],
) -> Slice:
    group_parts = [parts[number] for number in sorted(group)]
    by_node = {id(part.node): part for part in parts}
    heads = [by_node[id(parent)] for part in group_parts for parent in part.parents]
    reads = {name for part in (*group_parts, *heads) for name in part.reads}
    room = MAX_LINES - sum(part.lines for part in group_parts)
    own = {name for part in parts for name in part.makes}
    around = [outer[one] for one in sorted(_behind(outer, len(outer), reads - own, room))]
    reads |= {name for part in around for name in part.reads}
    body = _rendered(scope.body, {id(part.node) for part in group_parts})
    if isinstance(scope, _Function) and _needs_head(scope, group_parts, reads):
        body = [_head(scope), *(f"    {line}" for text in body for line in text.splitlines())]
    before = [_shown(part.node) for part in around]
    code = "\n".join([*_import_lines(imports, reads), *before, *body])
    function = scope if isinstance(scope, _Function) else None
    return Slice(code, group_parts[0].node.lineno, function)


def _needs_head(scope: _Function, parts: Sequence[_Part], reads: Collection[str]) -> bool:
    arguments = scope.args
    names = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    ends = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
    return bool(names & set(reads)) or any(
        isinstance(one, ends) for part in parts for one in ast.walk(part.node)
    )


def _head(scope: _Function) -> str:
    word = "async def" if isinstance(scope, ast.AsyncFunctionDef) else "def"
    return f"{word} {scope.name}({ast.unparse(scope.args)}):"


def _import_lines(imports: Iterable[_Import], reads: Collection[str]) -> list[str]:
    """The imports of the names that are read, one line each, without other names."""
    lines: dict[str, None] = {}
    for node in imports:
        names = [
            alias
            for alias in node.names
            if alias.name == "*" or (alias.asname or alias.name.partition(".")[0]) in reads
        ]
        if names and isinstance(node, ast.ImportFrom):
            lines[ast.unparse(ast.ImportFrom(node.module, names, node.level))] = None
        elif names:
            lines[ast.unparse(ast.Import(names))] = None
    return list(lines)


def _rendered(body: Iterable[ast.stmt], kept_ids: Collection[int]) -> list[str]:
    """The kept statements as text, with the heads of the statements around them."""
    return [_shown(node) for node in _pruned_all(body, kept_ids)]


def _pruned(node: ast.stmt, kept_ids: Collection[int]) -> ast.stmt | None:
    """A copy of a statement with only its kept inner statements; None if nothing is kept."""
    if isinstance(node, _WHOLE) or not any(_bodies(node)):
        return node if id(node) in kept_ids else None
    values = dict(ast.iter_fields(node))
    blocks = {name: _pruned_all(values[name], kept_ids) for name in _BLOCKS if values.get(name)}
    cases = {
        name: [_pruned_case(one, kept_ids) for one in values[name]]
        for name in ("handlers", "cases")
        if values.get(name)
    }
    copy: Any = type(node)(**values | blocks | cases)
    inner = [copy, *(case for some in cases.values() for case in some)]
    if id(node) not in kept_ids and not any([*blocks.values(), *(one.body for one in inner[1:])]):
        return None
    for one in inner:
        if hasattr(one, "body"):
            one.body = one.body or [_nothing()]
    if isinstance(copy, ast.Try) and not copy.handlers:
        copy.finalbody = copy.finalbody or [_nothing()]
    return copy  # type: ignore[no-any-return]


def _pruned_all(body: Iterable[ast.stmt], kept_ids: Collection[int]) -> list[ast.stmt]:
    return [one for one in (_pruned(each, kept_ids) for each in body) if one is not None]


def _pruned_case(node: Any, kept_ids: Collection[int]) -> Any:
    """A copy of a handler or case, likewise; its body may be left empty."""
    return type(node)(**dict(ast.iter_fields(node)) | {"body": _pruned_all(node.body, kept_ids)})


def _nothing() -> ast.stmt:
    return ast.Expr(ast.Constant(...))


class _Shorter(ast.NodeTransformer):
    """Truncates long strings: they are data, not part of the example."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str | bytes) and len(node.value) > MAX_TEXT_CHARS:
            ends = node.value[:MAX_TEXT_CHARS]
            return ast.Constant(ends + (b"..." if isinstance(ends, bytes) else "..."))  # type: ignore[operator]
        return node


def _shown(node: ast.stmt) -> str:
    return ast.unparse(ast.fix_missing_locations(_Shorter().visit(node)))
