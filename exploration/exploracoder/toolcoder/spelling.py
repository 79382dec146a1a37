"""How code spells an API that was found: by the name it imported, or as a method."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from exploracoder.engine.reading import syntax

if TYPE_CHECKING:
    from exploracoder_retrieval.apidoc import ApiDoc

_IMPORT = re.compile(r"^[ \t]*((?:import|from)[ \t](?:\([^)]*\)|\\\n|[^\n#;\\(])+)", re.MULTILINE)
_MEMBERS = ("method", "property", "attribute")


def as_written(doc: ApiDoc, code: str) -> str:
    """The API with its parameters, as ``code``, which may be unfinished, would use it.

    A model copies the answer: ``numpy.sum(a)`` fails in code that says ``np``. A member of a class,
    or an API with a short name on a value (``.map``), is written as such.
    """
    _, bracket, parameters = doc.signature.partition("(")
    return f"{_name(doc, imported_in(code))}{bracket}{parameters}"


def imported_in(code: str) -> dict[str, str]:
    """The names that the import lines of a text bind, mapped to their full paths."""
    imports: dict[str, str] = {}
    for match in _IMPORT.finditer(code):
        imports |= syntax.imports(syntax.tree(match[1].strip()))
    return imports


def _name(doc: ApiDoc, imports: Mapping[str, str]) -> str:
    on_values = [alias for alias in doc.aliases if alias.startswith(".")]
    if on_values or doc.kind in _MEMBERS:
        return on_values[0] if on_values else f".{doc.path.rpartition('.')[2]}"
    spellings = [
        local + path.removeprefix(whole)
        for local, whole in imports.items()
        for path in (doc.path, *doc.aliases)
        if path == whole or path.startswith(f"{whole}.")
    ]
    return min(spellings, key=len, default=doc.path)
