"""Suggests what a task brings along from the notebook that it is written beside.

Code is only parsed here, never run. The user sees the suggestions, and changes one with a click.
"""

from __future__ import annotations

import ast
import os
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder.engine.reading.syntax import imports
from exploracoder.tasks import MAX_TASK_CHARS
from exploracoder_retrieval.harvest.docs.code import without_magics

from exploracoder_jupyter.protocol import (
    CellError,
    InstalledLibrary,
    SourceCell,
    SuggestionRequest,
    Suggestions,
)

# Models know these well: they are suggested only if the task or an error points to them.
_WELL_KNOWN = frozenset(
    {
        "IPython",
        "ipykernel",
        "ipywidgets",
        "matplotlib",
        "numpy",
        "pandas",
        "plotly",
        "requests",
        "scipy",
        "seaborn",
        "sklearn",
        "tqdm",
    }
)
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_MOST_CODE_CHARS = MAX_TASK_CHARS // 2
# The most that an exploration accepts.
_MOST_LIBRARIES = 20
_MOST_VARIABLES = 200
# English words rather than names, unless written as code.
_WORDS = frozenset({"a", "I"})
_CODE = re.compile(r"`([^`]+)`")
_SPOKEN_OF = re.compile(r"\b(?i:with|using|use|via|from) ([\w-]+)|\b([\w-]+) (?:library|package)\b")
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.Delete)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FRAME = re.compile(r"(?:File )?\"?((?:~|/|[A-Za-z]:\\)[^\s:\"]+\.py)\b")
_MISSING_IN = re.compile(r"(?:module|from|package) '([\w.]+)'")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a notebook's code runs: the installed libraries, their folders, and its own folder."""

    installed_libraries: Sequence[InstalledLibrary]
    search_paths: Sequence[Path]
    folder: Path | None = None


def suggest(request: SuggestionRequest, surroundings: Surroundings) -> Suggestions:
    """The variables, cells and libraries that a task or a failed cell needs."""
    cells = [_read(cell) for cell in request.cells]
    failed_cell = next((cell for cell in cells if cell.id == request.cell_id), None)
    error = request.error
    if error is not None and failed_cell is not None:
        names = sorted(failed_cell.needs)
        libraries = _blamed(error, failed_cell, cells, surroundings)
        task = _task_of(error, failed_cell)
    else:
        names = list(_named_in(request.task))
        libraries = _libraries(request.task, cells, surroundings)
        task = ""
    bring_names, ticked_ids = _needed(names, cells, request.cell_id, frozenset(request.variables))
    return Suggestions(
        bring=tuple(name for name in request.variables if name in bring_names)[:_MOST_VARIABLES],
        cells=tuple(cell.id for cell in cells if cell.id in ticked_ids),
        libraries=tuple(libraries[:_MOST_LIBRARIES]),
        task=task,
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """The names that a cell's code binds at top level, and those that it needs from outside."""

    id: str
    source: str
    binds: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    modules: Mapping[str, str] | None = None  # local names to the top-level modules behind them


def _read(cell: SourceCell) -> _Cell:
    code = without_magics(cell.source)
    binds: set[str] = set()
    needs: set[str] = set()
    try:
        for statement in ast.parse(code).body:
            table = symtable.symtable(ast.unparse(statement), "cell", "exec")
            bound = {
                each.get_name()
                for each in table.get_symbols()
                if each.is_assigned() or each.is_imported()
            }
            # A simple statement reads before it binds; a loop may read what it has bound itself.
            reads = set(_uses(table)) - (set() if isinstance(statement, _SIMPLE) else bound)
            needs |= reads - binds
            binds |= bound
        return _Cell(cell.id, cell.source, frozenset(binds), frozenset(needs), _modules(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Cell(cell.id, cell.source)


def _uses(table: symtable.SymbolTable) -> Iterator[str]:
    """The top-level names that a scope and its nested scopes use."""
    for each in table.get_symbols():
        if each.is_referenced() and (table.get_type() == "module" or each.is_global()):
            yield each.get_name()
    for inner in table.get_children():
        yield from _uses(inner)


def _modules(code: str) -> dict[str, str]:
    paths = imports(ast.parse(code))
    return {name: path.partition(".")[0] for name, path in paths.items() if path[:1] != "."}


def _named_in(task: str) -> Iterator[str]:
    for code in _CODE.findall(task):
        yield from _IDENTIFIER.findall(code)
    for word in _IDENTIFIER.findall(task):
        if word not in _WORDS:
            yield word


def _needed(
    names: Iterable[str], cells: Sequence[_Cell], origin: str, variables: frozenset[str]
) -> tuple[set[str], set[str]]:
    """The variables to bring, and the ids of the cells that bind names that cannot be brought.

    Cells run in order, so a cell can only provide names to those below it.
    """
    bring_names: set[str] = set()
    ticked_ids: set[str] = set()
    places = {cell.id: place for place, cell in enumerate(cells)}
    stack = [(name, places.get(origin, len(cells))) for name in names]
    seen_pairs: set[tuple[str, int]] = set()
    while stack:
        name, end = stack.pop()
        if (name, end) in seen_pairs:
            continue
        seen_pairs.add((name, end))
        if name in variables:
            bring_names.add(name)
            continue
        cell = next((each for each in reversed(cells[:end]) if name in each.binds), None)
        if cell is not None and cell.id not in ticked_ids:
            ticked_ids.add(cell.id)
            stack += ((each, places[cell.id]) for each in cell.needs)
    return bring_names, ticked_ids


def _libraries(task: str, cells: Sequence[_Cell], surroundings: Surroundings) -> list[str]:
    """The libraries that a task names, then less-known ones that the notebook imports."""
    imported_modules = [module for cell in cells for module in (cell.modules or {}).values()]
    modules = [name for name in _named_in(task) if name in imported_modules]
    modules += [
        *_libraries_in(task),
        *(each for each in imported_modules if each not in _WELL_KNOWN),
    ]
    return list(dict.fromkeys(filter(None, (_library(each, surroundings) for each in modules))))


def _libraries_in(task: str) -> Iterator[str]:
    """Names that a task marks as a library: many library names are ordinary words as well."""
    for code in _CODE.findall(task):
        yield from _IDENTIFIER.findall(code)[:1]
    for match in _SPOKEN_OF.finditer(task):
        yield match[1] or match[2]


def _library(module: str, surroundings: Surroundings) -> str | None:
    """The library of a module: an installed one, or a name in the notebook's folder."""
    for each in surroundings.installed_libraries:
        if module in (each.import_name, each.name):
            return each.name
    folder = surroundings.folder
    if folder is not None:
        for name in (module, f"{module}.py"):
            if (folder / name / "__init__.py").is_file() or (folder / name).is_file():
                return name
    return None


def _blamed(
    error: CellError, failed_cell: _Cell, cells: Sequence[_Cell], surroundings: Surroundings
) -> list[str]:
    """The library to blame, judging by the traceback, then the message, then the failed cell."""
    text = _ANSI.sub("", error.traceback)
    modules = [*filter(None, (_module_at(path, surroundings) for path in _FRAME.findall(text)))]
    modules += [path.partition(".")[0] for path in _MISSING_IN.findall(error.message)]
    by_name = {name: module for cell in cells for name, module in (cell.modules or {}).items()}
    own = failed_cell.modules or {}
    used_modules = [
        *own.values(),
        *(by_name[name] for name in failed_cell.needs if name in by_name),
    ]
    modules += sorted(used_modules, key=lambda module: module in _WELL_KNOWN)
    libraries = dict.fromkeys(filter(None, (_library(each, surroundings) for each in modules)))
    return list(libraries)[:1]


def _module_at(path: str, surroundings: Surroundings) -> str | None:
    """The top-level module of an installed library's file; None for any other file."""
    file = Path(os.path.expanduser(path))
    for folder in surroundings.search_paths:
        if folder.name in ("site-packages", "dist-packages") and file.is_relative_to(folder):
            top = file.relative_to(folder).parts[0].removesuffix(".py")
            return None if top in ("IPython", "ipykernel") else top
    return None


def _task_of(error: CellError, failed_cell: _Cell) -> str:
    message = f"{error.name}: {error.message}".strip().rstrip(":").splitlines()[0][:300]
    return (
        f"This code ends with {message}. Write it so that it works, and assign the same names.\n\n"
        f"```python\n{failed_cell.source.strip()[:_MOST_CODE_CHARS]}\n```"
    )
