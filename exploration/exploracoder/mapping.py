"""The library map for people and programs: what prompts have of a library, at any length."""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder_retrieval.index import Index

from exploracoder.engine.reading.library_map import LibraryMap, library_map
from exploracoder.workspace import Options, open_libraries

BUDGET = 8000
# Of English and code; a model's own count may be a fifth more or less.
_CHARS_PER_TOKEN = 4
_FOUND = 30


def map_library(
    library: str, *, budget: int = BUDGET, task: str = "", options: Options | None = None
) -> str:
    """Every public API of a library in a line: path, signature, first sentence.

    What does not fit is told by counts for each module. The same library gives the same text.

    Args:
        library: An installed one by name, or a folder or .py file.
        budget: At most about so many tokens.
        task: Where not all fits, the APIs that it is likeliest to need come first; without one,
            those that the library's docs, examples and tests use most.
        options: The interpreter and the index.

    Raises InputError when the library cannot be had, SetupError when the index cannot.
    """
    with open_libraries([library], options or Options()) as (index, libraries):
        return map_of(index, [one.name for one in libraries], budget, task).text


def map_of(index: Index, names: Sequence[str], budget: int, task: str) -> LibraryMap:
    """The map of libraries that are in the index, one after another."""
    docs = [doc for name in names for doc in index.docs(name)]
    best = [hit.doc.path for hit in index.search(task, names, _FOUND)] if task.strip() else []
    return library_map(docs, budget * _CHARS_PER_TOKEN, best)
