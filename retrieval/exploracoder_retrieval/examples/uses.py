"""Reads scripts, tests and notebooks for uses of a library, to be kept as its examples."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path

from exploracoder_retrieval.errors import DocsUnavailable, UnreadableSource
from exploracoder_retrieval.examples.kept import MAX_KEPT, KeptExample
from exploracoder_retrieval.examples.slices import Slice, slices
from exploracoder_retrieval.files import Skip, decode_python, read_bytes, walk
from exploracoder_retrieval.harvest.docs.code import notebook_cells, without_magics
from exploracoder_retrieval.harvest.mentions import ApiNames
from exploracoder_retrieval.harvest.result import LibraryInfo

MAX_FILES = 5000
MAX_FILE_BYTES = 1_000_000
MAX_CHARS = 1500
_TITLE_CHARS = 120


def read_uses(
    paths: Sequence[Path],
    library: LibraryInfo,
    names: ApiNames,
    on_skip: Skip,
    *,
    clean: Callable[[str], str] = str,
) -> tuple[KeptExample, ...]:
    """The uses of a library in the files at and below some paths; nothing is run.

    Args:
        paths: Python files and notebooks, or folders of them.
        library: The library as it is in the index.
        names: The names of its APIs.
        on_skip: Called with each file that is left out, and why.
        clean: Redacts secrets in a text.

    Raises:
        DocsUnavailable: one of the paths does not exist.
    """
    for path in paths:
        if not os.path.exists(path):
            raise DocsUnavailable(f"There is no file or folder {path}.")
    examples: dict[str, KeptExample] = {}
    now = datetime.now(timezone.utc)
    top = library.import_name.partition(".")[0]
    for file in islice(_files(paths, on_skip), MAX_FILES):
        for each in _uses_in(file, top, on_skip):
            code = clean(each.code)
            apis = names.used_in(code)
            if not apis or len(code) > MAX_CHARS:
                continue
            example = KeptExample(
                library=library.name,
                version=library.version,
                source="code",
                title=clean(_title(each, file)),
                code=code,
                apis=tuple(apis),
                origin=str(file),
                line=each.line if file.suffix == ".py" else None,
                kept=now,
            )
            examples.setdefault(example.id, example)
            if len(examples) == MAX_KEPT:
                on_skip(str(file), f"{MAX_KEPT} examples are kept already: the rest is left out")
                return tuple(examples.values())
    return tuple(examples.values())


def _files(paths: Iterable[Path], on_skip: Skip) -> Iterator[Path]:
    for path in dict.fromkeys(path.resolve() for path in paths):
        if path.is_dir():
            for entry in walk(path, _is_code, _is_left_out, inside=path, on_skip=on_skip):
                yield Path(entry.path)
        elif _is_code(path.name):
            yield path
        else:
            on_skip(str(path), "it is no .py file and no notebook")


def _is_code(name: str) -> bool:
    return name.endswith((".py", ".ipynb"))


def _is_left_out(folder: str) -> bool:
    return folder.startswith(".") or folder in {"__pycache__", "node_modules", "site-packages"}


def _uses_in(file: Path, module: str, on_skip: Skip) -> Iterator[Slice]:
    try:
        content = read_bytes(file, MAX_FILE_BYTES)
        is_notebook = file.suffix == ".ipynb"
        text = _code_of(file, content, on_skip) if is_notebook else decode_python(content)
        tree = _parsed(text) if module in text else None
        if tree is not None:
            yield from slices(tree, module)
    except (UnreadableSource, RecursionError) as error:
        on_skip(str(file), str(error))


def _code_of(file: Path, content: bytes, on_skip: Skip) -> str:
    """The code of a notebook's cells, one after another; cells that do not parse are left out."""
    codes = [without_magics(source) for _, source in notebook_cells(content, only_code=True)]
    for number, code in enumerate(codes):
        try:
            _parsed(code)
        except UnreadableSource as error:
            on_skip(f"{file}, cell {number + 1}", str(error))
            codes[number] = ""
    return "\n\n".join(filter(None, codes))


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        reason = f"it is no Python: {error.msg} (line {error.lineno})"
        raise UnreadableSource(reason) from None
    except (ValueError, RecursionError, MemoryError):
        raise UnreadableSource("it cannot be parsed") from None


def _title(use: Slice, file: Path) -> str:
    """The function's summary line or, without one, its name; at the top level the file's name."""
    if use.function is None:
        return file.stem.replace("_", " ").replace("-", " ")
    summary = (ast.get_docstring(use.function) or "").strip().partition("\n")[0]
    name = use.function.name.removeprefix("test_").replace("_", " ").strip()
    return (summary or name)[:_TITLE_CHARS]
