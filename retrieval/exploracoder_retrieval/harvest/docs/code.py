"""Code that stands in pages, in pieces: what a piece needs from those before it."""

from __future__ import annotations

import ast
import json

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.reading import parse_or_none


class ImportsSoFar:
    """The import lines of the pieces of one page: later pieces stand on them."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}

    def before(self, code: str) -> str:
        """The import lines of all earlier pieces; those of ``code`` count from now on."""
        earlier = "\n".join(self._lines)
        self._lines |= dict.fromkeys(import_lines(parse_or_none(code)))
        return earlier


def import_lines(tree: ast.Module | None) -> list[str]:
    """The imports of a module's or a snippet's top level, a line each; none if it is no Python."""
    body = tree.body if tree else ()
    return [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


def notebook_cells(content: str | bytes, *, only_code: bool) -> list[tuple[str, str]]:
    """The kind and the source of each cell of a notebook; ``only_code``: no others are looked at.

    Raises:
        UnreadableSource: it is no notebook.
    """
    try:
        cells = [(each["cell_type"], each) for each in json.loads(content)["cells"]]
        return [
            (kind, "" if only_code and kind != "code" else "".join(each["source"]))
            for kind, each in cells
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnreadableSource("it is no notebook of format 4") from None


def without_magics(code: str) -> str:
    """A notebook's code without the lines that only a notebook understands."""
    lines = code.splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!"))).strip()
