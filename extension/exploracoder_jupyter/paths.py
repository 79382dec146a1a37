"""Paths of the contents manager: relative to the server's root, and never outside it."""

from __future__ import annotations

import posixpath

from exploracoder.errors import InputError
from exploracoder.texts import Text

_MOST_CHARS = 1_000


def checked(path: str) -> str:
    """Normalise ``path``. Raises InputError when it leads out of the root or is hidden."""
    plain = path.strip("/")
    parts = plain.replace("\\", "/").split("/") if plain else []
    if len(plain) > _MOST_CHARS or any(ord(char) < 32 for char in plain):
        raise InputError(
            "The path of the notebook cannot be used: it is too long or not a valid name."
        )
    if any(part in ("", "..") or part.startswith(".") for part in parts):
        raise InputError(
            Text(
                "%1 cannot be used: give a path below the server's root, without hidden folders.",
                repr(path),
            )
        )
    return plain


def checked_notebook(path: str) -> str:
    """Like `checked`, for the path of a notebook."""
    plain = checked(path)
    if not plain.endswith(".ipynb"):
        raise InputError(Text("%1 is not a notebook: its name must end in .ipynb.", repr(path)))
    return plain


def folder_of(path: str) -> str:
    """The folder that contains a file; empty for the root."""
    return posixpath.dirname(path)


def name_of(path: str) -> str:
    """A file's own name."""
    return posixpath.basename(path)


def beside(path: str, number: int) -> str:
    """Where to put the exploration of a user's notebook; ``number`` 1 is the first choice.

    Without a notebook it goes to the root. An exploration that starts from another one's notebook
    shares its base name.
    """
    stem = name_of(path).removesuffix(".ipynb")
    base = stem.partition("-exploration")[0] if stem else ""
    name = f"{base}-exploration" if base and base != "exploration" else "exploration"
    suffix = f"-{number}" if number > 1 else ""
    return posixpath.join(folder_of(path), f"{name}{suffix}.ipynb")
