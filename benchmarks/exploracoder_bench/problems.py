"""What is to be solved: one problem, whatever data set it comes from."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder.methods import find_method
from exploracoder.state import Target

from exploracoder_bench.splits import Split

# What running code leaves behind, and what is not copied with a repository.
_PASSING = {"__pycache__", ".git"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem to explore.

    ``python`` is the interpreter that has the libraries, ``fixtures`` a folder whose content the
    working folder starts with, ``search_path`` a folder of more modules for that interpreter.
    ``solution`` is a known one, without the context; empty when there is none. ``target`` is what
    the solution makes if it is not a function. With a ``place`` the solution is the class
    ``entry_point``, and the check runs in a copy of the place's repository; ``tests`` are the
    repository's own that the check runs, ``requires`` the pins that ``python`` has to have.
    ``second_context`` and ``second_check`` are the same problem with other data, which no method
    sees; empty if there is none. ``split`` says whether it may be looked at, if that is known.
    """

    name: str
    dataset: str
    task: str
    context: str
    check: str
    entry_point: str | None
    libraries: tuple[str, ...]
    python: str
    fixtures: Path | None = None
    search_path: Path | None = None
    solution: str = ""
    target: str = ""
    place: Target | None = None
    tests: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    second_context: str = ""
    second_check: str = ""
    split: Split | None = None

    @property
    def slug(self) -> str:
        """The name as a safe folder name, whatever a data set calls its problems."""
        return slug_of(self.name)

    @property
    def with_second_data(self) -> Problem | None:
        """The same problem with the second data in place of the first, if it has any."""
        if not self.second_check:
            return None
        return replace(
            self,
            context=self.second_context,
            check=self.second_check,
            second_context="",
            second_check="",
        )

    @property
    def digest(self) -> str:
        """The first digits of the SHA-256 of what identifies the problem.

        A library that is not installed is part of it, with all its files; paths and installed
        libraries are not.
        """
        own = [self.name, self.task, self.context, self.check, self.entry_point, self.solution]
        libraries = [Path(name).name if os.sep in name else name for name in self.libraries]
        parts = [own, libraries, self.target, _content(self.fixtures)]
        if self.second_check:
            parts.append([self.second_context, self.second_check])
        parts += [content for name in self.libraries if (content := _content(self._home(name)))]
        if self.place is not None:
            parts += [self.place.file, self.requires, _content(Path(self.place.root))]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _home(self, library: str) -> Path | None:
        """The file or folder of a library that is not installed."""
        if os.sep in library:
            return Path(library)
        if self.search_path is None:
            return None
        top = library.partition(".")[0]
        module = self.search_path / f"{top}.py"
        return module if module.is_file() else self.search_path / top


def slug_of(name: str) -> str:
    """A problem's name as a folder name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:100] or "problem"


def check_names(problems: Sequence[Problem]) -> None:
    """Raise InputError when there is no problem, or two would share a name or a folder."""
    if not problems:
        raise InputError("There is no problem to solve. Name some with --problems and --select.")
    names: dict[str, str] = {}
    for problem in problems:
        if problem.slug in names:
            raise InputError(
                f"Two problems are named alike: {names[problem.slug]!r} and {problem.name!r}."
                " Rename one, or run their data sets one after another with another --out."
            )
        names[problem.slug] = problem.name


def check_methods(problems: Sequence[Problem], methods: Sequence[str]) -> None:
    """Raise InputError when a method cannot work on one of the problems."""
    for name in methods:
        writes_class = find_method(name).writes_class
        wrong = [one.name for one in problems if (one.place is not None) != writes_class]
        if wrong:
            raise InputError(
                f"The method {name} {'writes' if writes_class else 'does not write'} a class into a"
                f" repository, and the problem {wrong[0]} is {'no' if writes_class else 'of'} such"
                " kind. Choose with --method and --select; 'exploracoder explore --list-methods'"
                " names the methods."
            )


def _content(folder: Path | None) -> list[str]:
    """The files of a folder, or a single file, with their hashes; empty if there is neither."""
    if folder is None:
        return []
    if folder.is_file():
        return [_line(folder, folder.parent)]
    paths = (path for path in folder.rglob("*") if path.is_file())
    files = sorted(path for path in paths if not _PASSING & set(path.relative_to(folder).parts))
    return [_line(path, folder) for path in files]


def _line(file: Path, folder: Path) -> str:
    return f"{file.relative_to(folder)} {hashlib.sha256(file.read_bytes()).hexdigest()}"
