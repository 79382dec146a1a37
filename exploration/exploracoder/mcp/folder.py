"""The folder that a server works in: a client cannot have anything outside it read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder import document
from exploracoder.document import METADATA_KEY
from exploracoder.errors import InputError
from exploracoder.exporting import export
from exploracoder.prepare import absolute_target

_MOST_LISTED = 200
_MOST_LOOKED_AT = 2_000
_MOST_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder, and the libraries elsewhere that the user has named, by name or full path."""

    root: Path
    libraries: tuple[str, ...] = ()

    def inside(self, path: str) -> Path:
        """Resolve a path in the folder. Raises InputError if it lies elsewhere."""
        try:
            full = (self.root / path).resolve()
        except (OSError, ValueError, RuntimeError):
            full = None
        if full is None or not full.is_relative_to(self.root):
            raise InputError(f"{path!r} is not in {self.root}, the folder that this server is for.")
        return full

    def library(self, target: str) -> str:
        """A library as the index knows it: by name, or by full path.

        Raises InputError if it is a path outside the folder that was not named when the server
        was started.
        """
        full = next((one for one in self.libraries if target in (one, called(one))), None)
        full = full or absolute_target(target)
        if full not in self.libraries:
            # Anything that is not the name of a library is a path relative to this folder.
            self.inside(full)
        return full

    def chosen(self, targets: Sequence[str] | None) -> list[str]:
        """The libraries that a client means: those it names, or else those the user has named.

        Raises InputError when there are none, and as `library` does.
        """
        if not (targets or self.libraries):
            raise InputError(
                "Say which libraries are meant, by name or by path in the server's folder: this"
                " server was started with none."
            )
        return [self.library(one) for one in targets or self.libraries]

    def known_words(self) -> str:
        """A sentence that tells clients which libraries the user has named; empty for none."""
        if not self.libraries:
            return ""
        names = ", ".join(map(called, self.libraries))
        pronoun = "those are" if len(self.libraries) > 1 else "that is"
        return f"This server was started with {names}: {pronoun} meant where none is named."

    def explorations(self) -> list[Path]:
        """The notebooks of explorations, newest first, as paths relative to the folder."""
        notebooks = [one for one in self._notebooks() if _is_exploration(self.root / one)]
        notebooks.sort(key=lambda one: (self.root / one).stat().st_mtime, reverse=True)
        return notebooks[:_MOST_LISTED]

    def read(self, path: str) -> str:
        """An exploration as a report in Markdown. Raises InputError if it is not one."""
        full = self.inside(path)
        if full.suffix != ".ipynb" or not full.is_file() or full.stat().st_size > _MOST_BYTES:
            raise InputError(f"There is no exploration {path!r} in {self.root}.")
        return export(document.load(full), "md")

    def _notebooks(self) -> Iterator[Path]:
        """The notebooks outside hidden folders; only some of them if there are very many."""
        count = 0
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith((".", "node_modules"))]
            for name in files:
                if name.endswith(".ipynb") and not name.startswith("."):
                    yield Path(folder, name).relative_to(self.root)
                    count += 1
            if count > _MOST_LOOKED_AT:
                return


def called(target: str) -> str:
    """The short name of a library that is given by full path or by name."""
    return Path(target).stem if Path(target).is_absolute() else target


def _is_exploration(notebook: Path) -> bool:
    """Whether a notebook looks like an exploration; `Folder.read` checks it fully."""
    try:
        is_fit = not notebook.is_symlink() and notebook.stat().st_size <= _MOST_BYTES
        return is_fit and f'"{METADATA_KEY}"'.encode() in notebook.read_bytes()
    except OSError:
        return False
