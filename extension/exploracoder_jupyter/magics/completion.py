"""Completion of sub-commands, options, libraries and file names."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Iterable
from pathlib import Path

from exploracoder_jupyter.magics import registry

_WITH_LIBRARY = ("use", "--library")
_WITH_FILE = ("save", "resume", "replay", "trust", "--output")
_MOST = 200


def complete(line: str, symbol: str) -> list[str]:
    """The completions of ``symbol``, the word that ``line`` ends with."""
    before = line[: len(line) - len(symbol)] if symbol and line.endswith(symbol) else line
    words = before.split()
    last = words[-1] if words else ""
    if len(words) > 1 and words[1] == "tools":
        return _starting(symbol, _of_tools(words, symbol))
    is_cell = bool(words) and words[0].startswith("%%")
    if last in _WITH_LIBRARY or (len(words) > 1 and words[1] == "use"):
        return _starting(symbol, [*_libraries(), *_files(symbol, (".py", "/"))])
    if last in _WITH_FILE:
        return _starting(symbol, _files(symbol, (".ipynb", "/")))
    if symbol.startswith("-"):
        return _starting(symbol, (f"--{one.name}" for one in registry.OPTIONS))
    if len(words) == 1 and not is_cell:
        return _starting(symbol, registry.names())
    if len(words) == 2 and last == "help":
        return _starting(symbol, registry.names())
    return []


def _of_tools(words: list[str], symbol: str) -> Iterable[str]:
    """What can follow ``tools`` and the words after it."""
    if words[-1] == "--root":
        return [*_libraries(), *_files(symbol, ("/",))]
    if words[-1] in ("--file", "--code"):
        return _files(symbol, (".py", "/"))
    if symbol.startswith("-"):
        return (f"--{one.name}" for one in registry.TOOL_OPTIONS)
    if len(words) > 2:
        return ()
    from exploracoder_retrieval.repotools.tool_questions import TOOL_NAMES

    return TOOL_NAMES


def _starting(symbol: str, words: Iterable[str]) -> list[str]:
    return sorted({word for word in words if word.startswith(symbol)})[:_MOST]


def _libraries() -> Iterable[str]:
    """The importable modules outside the standard library, found without importing them."""
    own = (module.name for module in pkgutil.iter_modules())
    return (
        name for name in own if not name.startswith("_") and name not in sys.stdlib_module_names
    )


def _files(symbol: str, ends: tuple[str, ...]) -> Iterable[str]:
    """The files and folders beside ``symbol`` with one of these ends; folders get a slash."""
    head, slash, _ = symbol.rpartition("/")
    folder = Path(os.path.expanduser(head + slash)) if slash else Path()
    try:
        entries = [(one.name, one.is_dir()) for one in folder.iterdir()]
    except OSError:
        return []
    paths = (f"{head}{slash}{name}{'/' if is_dir else ''}" for name, is_dir in entries)
    return (name for name in paths if name.endswith(ends))
