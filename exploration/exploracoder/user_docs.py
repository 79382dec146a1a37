"""Documentation that the user gives for a library, or in place of one without code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from exploracoder_retrieval.errors import LibraryNotFound, RetrievalError
from exploracoder_retrieval.harvest.docs.source import ALONE, is_address
from exploracoder_retrieval.harvest.target import docs_name, find_target
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter

from exploracoder.errors import ExploraCoderError, InputError, raised_as


@contextmanager
def given(
    index: Index,
    target: str,
    docs: Sequence[str],
    interpreter: Interpreter,
    *,
    name: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[str]:
    """Remember documentation for a library, and yield the name or path to find it by.

    If the block raises an ExploraCoderError, what was given before is given again.

    Args:
        index: The user's index, beside which it is remembered.
        target: The library; or, with ``name``, or when it is an address or a file of docs,
            documentation that stands for the library.
        docs: Paths and addresses. They replace those given before, unless the library has only
            documentation: then they are added.
        interpreter: The one that has the libraries.
        name: The name of a library that has only documentation.
        progress: Called with what is being fetched.

    Raises InputError if the library or the documentation is not available.
    """
    tell = _teller(progress)
    with raised_as(InputError, RetrievalError):
        if name is not None or is_documentation(target):
            origins, is_alone = [target, *docs], True
            target = library_name = _name_for(target, name, interpreter)
        else:
            library = index.find_target(target, interpreter)
            library_name, is_alone = library.name, library.source == "docs"
            origins = [*(source.origin for source in library.docs if is_alone), *docs]
        before = index.given_docs.known(library_name)
        index.given_docs.give(library_name, origins, stands_alone=is_alone, progress=tell)
    try:
        yield target
    except ExploraCoderError:
        with raised_as(InputError, OSError):
            index.given_docs.restore(library_name, before)
        raise
    index.given_docs.drop_old_copies(library_name)


def take_back(index: Index, target: str, interpreter: Interpreter) -> bool:
    """Forget the documentation of a library; False when there was none.

    A library known from it alone is removed from the index. Raises InputError.
    """
    with raised_as(InputError, RetrievalError):
        library = index.find_target(target, interpreter)
        was_given = index.given_docs.forget(library.name)
        if library.source == "docs":
            index.remove(library.name)
    return was_given


def is_documentation(target: str) -> bool:
    """Whether a target names documentation rather than code."""
    return is_address(target) or target.lower().endswith(ALONE)


def _teller(progress: Callable[[str], None] | None) -> Callable[[str, int, int], None]:
    def tell(_stage: str, count: int, total: int, /) -> None:
        if progress is not None and (count % 20 == 1 or count == total):
            progress(f"Fetching the docs: {count} of {total} pages")

    return tell


def _name_for(target: str, name: str | None, interpreter: Interpreter) -> str:
    if name is not None:
        name = name.strip()
        if not name or os.sep in name or name.startswith((".", "~")) or not name.isprintable():
            raise InputError("--name must be a word or two, not a path.")
        return name
    if is_address(target):
        raise InputError(f"Say what the library at {target} is called, with --name NAME.")
    own_name = docs_name(Path(target))
    try:
        library = find_target(own_name, interpreter)
    except LibraryNotFound:
        return own_name
    raise InputError(
        f"{library.name} {library.version} is installed. To add docs to it: exploracoder index"
        f" {own_name} --docs {target}. To let them stand for a library without code, name it:"
        " --name NAME."
    )
