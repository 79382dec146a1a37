"""reStructuredText: the doctests and code blocks of a file."""

from __future__ import annotations

from collections.abc import Iterator

from exploracoder_retrieval.harvest.docs.code import ImportsSoFar
from exploracoder_retrieval.harvest.docs.pieces import Page, Passage, Piece, clean
from exploracoder_retrieval.harvest.docstrings import find_examples


def read_rst(page: Page, text: str) -> Iterator[Piece]:
    """The code of a reStructuredText file, in order, with the imports before it."""
    imports = ImportsSoFar()
    for code in find_examples(text):
        first = code.splitlines()[0]
        line = text[: max(text.find(first), 0)].count("\n") + 1
        yield Passage(
            "example", clean(code), page.path.stem, page.place(line), imports.before(code)
        )
