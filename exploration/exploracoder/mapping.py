"""The library map that prompts contain, for people and programs, at any length."""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder_retrieval.index import Index

from exploracoder.engine.reading.library_map import LibraryMap, library_map
from exploracoder.workspace import Options, open_libraries

BUDGET = 8000
# For English and code; a model's own count may differ by a fifth.
_CHARS_PER_TOKEN = 4
_FOUND = 30


def map_library(
    library: str, *, budget: int = BUDGET, task: str = "", options: Options | None = None
) -> str:
    """List every public API of a library in a line: path, signature, first sentence.

    What does not fit is summarized as a count per module. The same library gives the same text.

    Args:
        library: The name of an installed library, or a folder or .py file.
        budget: The approximate maximum length in tokens.
        task: If not everything fits, the APIs that this is likeliest to need come first; without
            a task, those that the library's docs, examples and tests use most.
        options: The interpreter and the index.

    Raises InputError if the library is not available, SetupError if the index is not.
    """
    with open_libraries([library], options or Options()) as (index, libraries):
        return map_of(index, [one.name for one in libraries], budget, task).text


def map_of(index: Index, names: Sequence[str], budget: int, task: str) -> LibraryMap:
    """The map of indexed libraries, one after another."""
    docs = [doc for name in names for doc in index.docs(name)]
    best = [hit.doc.path for hit in index.search(task, names, _FOUND)] if task.strip() else []
    return library_map(docs, budget * _CHARS_PER_TOKEN, best)
