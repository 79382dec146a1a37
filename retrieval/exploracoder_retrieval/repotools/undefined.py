"""The names in a piece of code that nothing defines. The code is not run."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.reading import parse


@dataclass(frozen=True, slots=True)
class Undefined:
    """A name without a definition, and the attributes that the code uses on it."""

    name: str
    attributes: frozenset[str]


def undefined_names(code: str, file: str = "") -> list[Undefined]:
    """The names that are read but never bound, in order; string annotations count.

    Code that is indented as a whole, such as a method taken from its class, is accepted.

    Raises:
        UnreadableSource: the code is not Python.
    """
    from pyflakes import checker, messages

    try:
        tree = parse(textwrap.dedent(code))
    except UnreadableSource as error:
        raise UnreadableSource(f"The code is not Python: {error}.") from None
    names: dict[str, None] = {}
    reports = checker.Checker(tree, filename=file or "(code)").messages
    for one in sorted(reports, key=lambda one: (one.lineno, one.col)):
        if isinstance(one, messages.UndefinedName | messages.ImportStarUsage):
            names[str(one.message_args[0])] = None
    attributes = _attributes(tree)
    return [Undefined(name, frozenset(attributes.get(name, ()))) for name in names]


def _attributes(tree: ast.Module) -> dict[str, set[str]]:
    attributes: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.setdefault(node.value.id, set()).add(node.attr)
    return attributes
