"""Syntax trees of Python code, and what they say about a snippet; nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
_NEWLINE = re.compile(r"\r\n?|\n")
# In lines: longer ones would be parsed again and again in vain.
_LONGEST_STATEMENT = 400


def lines_of(code: str) -> list[str]:
    """The lines as Python counts them: `str.splitlines` also splits at form feeds, and at
    characters that strings may contain."""
    return _NEWLINE.split(code.removesuffix("\n")) if code else []


def parsed(code: str) -> ast.Module | None:
    """The syntax tree of code; None if it is not Python, or nested too deeply to be parsed."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def tree(code: str) -> ast.Module:
    """The syntax tree of code; an empty one if it cannot be parsed."""
    return parsed(code) or ast.Module(body=[], type_ignores=[])


def without_future(code: str) -> tuple[str, list[str]]:
    """Code without its imports from ``__future__``, and the features that they name."""
    lines, features = lines_of(code), list[str]()
    for node in reversed(tree(code).body):
        if not isinstance(node, ast.ImportFrom) or node.module != "__future__":
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        # Syntax trees count columns in bytes.
        before = lines[first].encode()[: node.col_offset].decode()
        after = lines[last].encode()[node.end_col_offset :].decode().lstrip(" \t;")
        is_alone = not before and after[:1] in ("", "#")
        lines[first : last + 1] = [] if is_alone else [before + after]
        features[:0] = [alias.name for alias in node.names]
    return "\n".join(lines), features


def imports(code: ast.AST) -> dict[str, str]:
    """The names that imports bind, mapped to their paths; relative ones begin with dots."""
    paths: dict[str, str] = {}
    for node in ast.walk(code):
        match node:
            case ast.Import(names=aliases):
                for one in aliases:
                    top = one.name.partition(".")[0]
                    paths[one.asname or top] = one.name if one.asname else top
            case ast.ImportFrom(module=module, names=aliases, level=level):
                above = "." * level + (module or "")
                paths |= {one.asname or one.name: f"{above}.{one.name}" for one in aliases}
    return paths


def assignments(code: ast.AST) -> Iterator[str]:
    """The names that are assigned, defined, captured, or given to an exception, each time."""
    for node in ast.walk(code):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


def assigned(code: ast.AST) -> set[str]:
    """The names that are assigned, defined, captured, or given to an exception."""
    return set(assignments(code))


def bound(code: ast.AST) -> set[str]:
    """The names that are assigned, defined, given to an exception, or imported."""
    return assigned(code) | set(imports(code))


def parameters(code: ast.AST) -> set[str]:
    """The names of all functions' parameters."""
    return {node.arg for node in ast.walk(code) if isinstance(node, ast.arg)}


def chain_of(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, including its decorators."""
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    return min([node.lineno, *(one.lineno for one in decorators)])


def replaced(code: str, row: int, start: int, end: int, text: str) -> str:
    """Replace part of a line; as in a syntax tree, rows count from 1 and columns are bytes."""
    starts = [0, *(match.end() for match in _NEWLINE.finditer(code))]
    head, tail = code[: starts[row - 1]], code[starts[row - 1] :].encode()
    return head + (tail[:start] + text.encode() + tail[end:]).decode()


def called_in(code: str) -> str:
    """The calls that code prints, assigns or makes, without the statements around them.

    The last line if no call can be recognized.
    """
    lines = lines_of(code.strip())
    calls = [ast.unparse(call) for node in tree(code).body for call in _calls(node)]
    return ", ".join(dict.fromkeys(calls)) or (lines[-1] if lines else "")


def only_defines(code: str) -> bool:
    """Whether code only defines functions or classes, imports aside."""
    body = [node for node in tree(code).body if not _is_docstring(node)]
    has_definition = any(isinstance(node, DEFINITIONS) for node in body)
    return has_definition and all(isinstance(node, (*DEFINITIONS, *IMPORTS)) for node in body)


def _calls(node: ast.stmt) -> list[ast.expr]:
    match getattr(node, "value", None):
        case ast.Call(func=ast.Name(id="print"), args=[*arguments]):
            return [one for one in arguments if isinstance(one, ast.Call | ast.Await)]
        case ast.Call() | ast.Await() as call:
            return [call]
    return []


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def without_repetition(code: str, earlier: Sequence[str]) -> str:
    """``code`` without the statements that ran already and would change nothing.

    Models asked for new lines tend to start over: what repeats all that ran before, from its first
    statement to its last, is left out, and so are single imports, definitions and assignments of
    constants that hold still. What any other statement does is not known from its text, so it
    stays. Code that holds nothing new is left as it is.
    """
    body = tree(code).body
    have_run = [node for one in earlier for node in tree(one).body]
    repeated = body[: _restart(body, have_run)]
    new, before = list[ast.stmt](), [(ast.dump(node), node) for node in have_run]
    for node in body[len(repeated) :]:
        text = ast.dump(node)
        if _holds(node, text, before):
            repeated.append(node)
        else:
            new.append(node)
            before.append((text, node))
    if not new:
        return code
    repeated_lines = {line for node in repeated for line in _lines(node)}
    repeated_lines -= {line for node in new for line in _lines(node)}
    lines = [line for n, line in enumerate(lines_of(code), 1) if n not in repeated_lines]
    return "\n".join(lines).strip("\n")


def _restart(body: Sequence[ast.stmt], have_run: Sequence[ast.stmt]) -> int:
    """How many statements at the beginning of ``body`` repeat all that ran, imports and what only
    shows something aside; 0 if they stop before its end."""
    left = [ast.dump(node) for node in have_run if not _only_shows(node)]
    for number, node in enumerate(body if left else (), 1):
        if _only_shows(node):
            continue
        if ast.dump(node) != left.pop(0):
            return 0
        if not left:
            return number
    return 0


def _only_shows(node: ast.stmt) -> bool:
    """Whether a statement is an import, or shows values without calling anything for them."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=arguments)):
            return not any(
                isinstance(one, ast.Call) for part in arguments for one in ast.walk(part)
            )
        case ast.Expr(value=ast.Name() | ast.Constant()):
            return True
    return isinstance(node, IMPORTS)


def _holds(node: ast.stmt, text: str, before: Sequence[tuple[str, ast.stmt]]) -> bool:
    """Whether what a statement defines was defined alike before, and nothing has rebound it.

    Statements come with their dumps.
    """
    names = _defined_for_good(node)
    for dump, one in reversed(before) if names else ():
        if dump == text:
            return True
        if names & _rebound(one):
            return False
    return False


def _defined_for_good(node: ast.stmt) -> set[str]:
    """The names that an import, a definition, or an assignment of a constant binds; or none."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return set(imports(node))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
            return {name}
    return set()


def _rebound(node: ast.stmt) -> set[str]:
    """The names that a statement binds or deletes, or that a function may bind when called."""
    nodes = list(ast.walk(node))
    names = {name for one in nodes if isinstance(one, ast.Global) for name in one.names}
    if isinstance(node, DEFINITIONS):
        return names | {node.name}
    deleted = {
        one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Del)
    }
    return names | bound(node) | deleted


def _lines(node: ast.stmt) -> range:
    """The line numbers of a statement, including its decorators."""
    return range(first_line(node), (node.end_lineno or node.lineno) + 1)


def whole_statements(code: str) -> str:
    """``code`` without an unfinished end, for a reply that was cut off at the token limit."""
    lines = lines_of(code)
    ends = range(len(lines), max(0, len(lines) - _LONGEST_STATEMENT), -1)
    heads = ("\n".join(lines[:end]) for end in ends)
    return next((head for head in heads if parsed(head) is not None), code)
