"""Functions of a corpus with the library APIs that they call; read, never imported or run."""

from __future__ import annotations

import ast
import hashlib
import os
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder.engine.reading.syntax import chain_of, first_line, imports, lines_of
from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.files import read_bytes

_LEFT_OUT = frozenset({"__pycache__", "node_modules", "build", "dist", "site-packages"})
_MAX_FILE_BYTES = 1_000_000
_MAX_CHARS = 4_000
_MIN_LINES = 3
_PAGE_BREAK = "\x0c"
_UNREADABLE = (UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a library's API: ``offset`` is where its name begins in the function's code.

    ``is_public`` says that the API belongs to another library than the corpus.
    """

    path: str
    line: int
    offset: int
    is_public: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method, its code without the indentation that it has in its file."""

    file: str
    name: str
    line: int
    code: str
    uses: tuple[Use, ...]

    @property
    def id(self) -> str:
        """The same for the same code, wherever it stands."""
        return hashlib.sha256(self.code.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that could not be read, and why."""

    file: str
    reason: str


def read_corpus(roots: Sequence[Path], *, max_lines: int) -> Iterator[Function | SkippedFile]:
    """The functions of some folders and files, in the order of their paths; each once.

    Functions of fewer than three or more than ``max_lines`` lines are passed over.
    """
    seen_ids: set[str] = set()
    for root in roots:
        own = _own_names(root)
        for file in [root] if root.is_file() else _files(root):
            try:
                functions = list(_functions(file, own, max_lines))
            except _UNREADABLE as error:
                yield SkippedFile(str(file), _reason(error))
                continue
            for function in functions:
                if function.id not in seen_ids:
                    seen_ids.add(function.id)
                    yield function


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(one for one in folders if one[0] != "." and one not in _LEFT_OUT)
        yield from (Path(folder, one) for one in sorted(files) if one.endswith(".py"))


def _own_names(root: Path) -> frozenset[str]:
    """The names under which the corpus imports itself."""
    root = root.resolve()
    names = {root.stem} | {one.name for one in root.parents if (one / "__init__.py").is_file()}
    if root.is_dir() and not (root / "__init__.py").is_file():
        inside = [*root.iterdir(), *(root / "src").glob("*")]
        names |= {one.stem for one in inside if one.is_dir() or one.suffix == ".py"}
    return frozenset(names)


def _functions(file: Path, own: frozenset[str], max_lines: int) -> Iterator[Function]:
    source = read_bytes(file, _MAX_FILE_BYTES).decode("utf-8-sig")
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    tree = _parse(source)
    bound, lines = imports(tree), lines_of(source)
    for node in ast.walk(tree):
        if not isinstance(node, _FUNCTIONS) or node.end_lineno is None:
            continue
        first = first_line(node)
        # A form feed may precede the first line's indentation.
        code = "\n".join(lines[first - 1 : node.end_lineno]).lstrip(_PAGE_BREAK)
        code = textwrap.dedent(code).rstrip()
        length = code.count("\n") + 1
        if _MIN_LINES <= length <= max_lines and len(code) <= _MAX_CHARS and "<API>" not in code:
            uses = _uses(code, bound, own)
            if uses is not None:
                yield Function(str(file), node.name, first, code, uses)


def _parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        # Escapes in other people's strings are none of our business.
        warnings.simplefilter("ignore")
        return ast.parse(source)


def _uses(code: str, bound: Mapping[str, str], own: frozenset[str]) -> tuple[Use, ...] | None:
    """The calls of imported names, each API once; None if the code does not parse on its own."""
    try:
        tree = _parse(code)
    except (SyntaxError, ValueError):
        return None
    names = {**bound, **imports(tree)}
    lines = lines_of(code)
    uses: dict[str, Use] = {}
    for node in _calls(tree):
        path = _path(node.func, names)
        if path is not None:
            before = lines[node.lineno - 1].encode()[: node.col_offset].decode()
            offset = sum(len(line) + 1 for line in lines[: node.lineno - 1]) + len(before)
            is_public = path[0] != "." and path.partition(".")[0] not in own
            use = Use(path, node.lineno, offset, is_public)
            earlier_use = uses.get(path)
            if earlier_use is None or use.offset < earlier_use.offset:
                uses[path] = use
    return tuple(sorted(uses.values(), key=lambda use: use.offset))


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls outside f-strings, inside which positions are not exact before Python 3.12."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, ast.JoinedStr):
            stack.extend(ast.iter_child_nodes(node))


def _path(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """The import path of ``a.b.c``, if ``a`` was imported."""
    head, *parts = chain_of(node).split(".")
    return ".".join([names[head], *parts]) if head in names else None


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, SyntaxError):
        return f"it is not Python: {error.msg} (line {error.lineno})"
    # Some versions of Python's parser report a stack overflow as a MemoryError.
    is_deep = isinstance(error, RecursionError | MemoryError)
    return "its code is too deep" if is_deep else str(error)
