"""Python code as a tree of syntax: nothing is run."""

from __future__ import annotations

import ast

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)


def parsed(code: str) -> ast.Module | None:
    """The tree of a code; None where it is no Python, or nested too deeply to be read."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def tree(code: str) -> ast.Module:
    """The tree of a code; an empty one where it is no Python."""
    return parsed(code) or ast.Module(body=[], type_ignores=[])


def imports(code: ast.AST) -> dict[str, str]:
    """The names that imports bind, and the paths that they stand for; relative ones have dots."""
    found: dict[str, str] = {}
    for node in ast.walk(code):
        match node:
            case ast.Import(names=aliases):
                for one in aliases:
                    top = one.name.partition(".")[0]
                    found[one.asname or top] = one.name if one.asname else top
            case ast.ImportFrom(module=module, names=aliases, level=level):
                above = "." * level + (module or "")
                found |= {one.asname or one.name: f"{above}.{one.name}" for one in aliases}
    return found


def bound(code: ast.AST) -> set[str]:
    """The names that are assigned, imported, defined, or given to an exception."""
    names = set(imports(code))
    for node in ast.walk(code):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
    return names


def chain_of(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def first_line(node: ast.stmt) -> int:
    """The line that a statement begins at, its decorators included."""
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    return min([node.lineno, *(one.lineno for one in decorators)])


def replaced(code: str, row: int, start: int, end: int, text: str) -> str:
    """The code with another text in a line: places in a tree count lines from 1, and bytes."""
    lines = [line.encode() for line in code.splitlines(keepends=True)]
    line = lines[row - 1]
    lines[row - 1] = line[:start] + text.encode() + line[end:]
    return b"".join(lines).decode()
