"""Code in pages, piece by piece, and what a piece needs from the earlier ones."""

from __future__ import annotations

import ast
import json

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.reading import parse_or_none
from exploracoder_retrieval.files import without_surrogates


class ImportsSoFar:
    """The import lines of one page's pieces: later pieces depend on them."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}

    def before(self, code: str) -> str:
        """The import lines of all earlier pieces; those in ``code`` count from now on."""
        earlier = "\n".join(self._lines)
        self._lines |= dict.fromkeys(import_lines(parse_or_none(code)))
        return earlier


def import_lines(tree: ast.Module | None) -> list[str]:
    """The top-level imports of a module or snippet, one line each; empty if ``tree`` is None."""
    body = tree.body if tree else ()
    return [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


def notebook_cells(content: str | bytes, *, only_code: bool) -> list[tuple[str, str]]:
    """The kind and source of each cell of a notebook; with ``only_code``, others have no source.

    Raises:
        UnreadableSource: it is not a notebook.
    """
    try:
        cells = [(each["cell_type"], each) for each in json.loads(content)["cells"]]
        return [
            (
                kind,
                "" if only_code and kind != "code" else without_surrogates("".join(each["source"])),
            )
            for kind, each in cells
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnreadableSource("it is no notebook of format 4") from None


def without_magics(code: str) -> str:
    """A notebook's code without the lines that only a notebook understands."""
    lines = code.splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!"))).strip()
