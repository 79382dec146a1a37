"""What a candidate must not contain, found in its syntax before any of it runs.

Such code could learn about an unknown value without asking it, or imports what is not available
everywhere. Anything else it does is its own affair: the answer is not in its process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

# These inspect the object that stands for a value, or run code whose file name does not mark it as
# a candidate's.
_FORBIDDEN = frozenset({"compile", "dir", "eval", "exec", "id", "type", "vars"})
_MODULES = {"__future__", "collections", "collections.abc", "copy", "dataclasses", "functools"}
_MODULES |= {"itertools", "math", "operator", "typing"}
_MOST_CHARACTERS = 100_000
# The file name of a candidate's code in its frames.
FILE = "candidate"


class RefusedError(Exception):
    """The candidate is not run; the message says why, phrased to follow 'it'."""


def parse(source: str, libraries: frozenset[str]) -> ast.Module:
    """Parse a candidate, provided that it may run.

    Args:
        source: The candidate's program.
        libraries: The modules that it may import besides harmless ones of the standard library.

    Raises:
        RefusedError: It is not Python, or does what no answer needs.
    """
    if len(source) > _MOST_CHARACTERS:
        raise RefusedError(f"is longer than {_MOST_CHARACTERS:,} characters")
    try:
        tree = ast.parse(source, FILE)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        raise RefusedError(f"is not Python{where}: {getattr(error, 'msg', error)}") from error
    except (RecursionError, MemoryError) as error:
        raise RefusedError("is nested too deep") from error
    for reason in _reasons(tree, libraries | _MODULES):
        raise RefusedError(reason)
    return tree


def _reasons(tree: ast.Module, modules: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        for name in _imported(node):
            if name not in modules:
                yield f"imports {name}, which the problem does not give"
        if isinstance(node, ast.MatchSequence | ast.MatchMapping):
            # A value cannot answer whether it is a sequence, nor does it notice the question.
            yield "matches the pattern of a sequence or mapping, which a value may have or not"
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in _FORBIDDEN:
            yield f"uses {node.id}, which no data flow needs"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["." * node.level + (node.module or "")] if isinstance(node, ast.ImportFrom) else []
