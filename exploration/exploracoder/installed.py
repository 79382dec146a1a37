"""The libraries of a saved exploration as they are installed now."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.library_python import Interpreter

from exploracoder import prepare
from exploracoder.errors import InputError
from exploracoder.replay import VersionChange
from exploracoder.state import Exploration


def import_paths(homes: Iterable[str | Path | None]) -> dict[str, str]:
    """PYTHONPATH with the folders of libraries given by path, which are not installed."""
    paths = [str(home) for home in dict.fromkeys(homes) if home is not None]
    own = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([*paths, own] if own else paths)} if paths else {}


def find_libraries(
    exploration: Exploration, interpreter: Interpreter, folders: Sequence[Path] = ()
) -> tuple[Target, ...]:
    """Find each library again: where it was, else under its name, else in one of ``folders``.

    So a notebook still works if it was moved together with its library's source.

    Raises:
        InputError: One is gone; the message names it and the version that was used.
    """
    targets = []
    for place, target in enumerate(dict.fromkeys(exploration.task.libraries)):
        match = next(_found(target, interpreter, folders), None)
        if match is None:
            raise InputError(_gone(exploration, place, target, interpreter))
        targets.append(match)
    return tuple(targets)


def version_changes(exploration: Exploration, targets: Sequence[Target]) -> Iterator[VersionChange]:
    """Yield the libraries whose version now differs from the recorded one, if there is one."""
    versions = {library.import_name: library.version for library in exploration.libraries}
    for target in targets:
        before = versions.get(target.import_name, "")
        if before and before != target.version:
            yield VersionChange(library=target.name, before=before, now=target.version)


def _found(target: str, interpreter: Interpreter, folders: Sequence[Path]) -> Iterator[Target]:
    name = Path(target).name
    # A file name is not a name under which a library could be installed.
    names = (name,) if name.isidentifier() else ()
    for place in (target, *names, *(folder / name for folder in folders)):
        try:
            yield prepare.find_library(place, interpreter)
        except RetrievalError:
            continue


def _gone(exploration: Exploration, place: int, target: str, interpreter: Interpreter) -> str:
    records = exploration.libraries[place : place + 1]
    version = f" {records[0].version}" if records and records[0].version else ""
    return (
        f"The library {target}{version}, which the exploration was made with, is not there for"
        f" {interpreter.executable}. Install it, or name the Python that has it with --python."
    )
