"""Notebooks in and out: cells, outputs, and files that are never half-written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MOST_WORDS = 200
_KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class NotebookError(Exception):
    """A file is not a notebook that can be read."""


def markdown_cell(id_: str, source: str, metadata: Mapping[str, Any] | None = None) -> Any:
    """A markdown cell."""
    from nbformat import v4

    return v4.new_markdown_cell(source, id=id_, metadata=dict(metadata or {}))


def code_cell(
    id_: str,
    source: str,
    outputs: Sequence[Mapping[str, Any]] = (),
    *,
    execution_count: int | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Any:
    """A code cell; an ``execute_result`` among the outputs gets the cell's execution count."""
    import nbformat
    from nbformat import v4

    numbered_outputs = [
        {**output, "execution_count": execution_count}
        if output["output_type"] == "execute_result"
        else dict(output)
        for output in outputs
    ]
    return v4.new_code_cell(
        source,
        id=id_,
        outputs=[nbformat.from_dict(output) for output in numbered_outputs],
        execution_count=execution_count,
        metadata=dict(metadata or {}),
    )


def is_output(output: Mapping[str, Any]) -> bool:
    """Whether a mapping is a valid output of a code cell."""
    from nbformat.validator import isvalid

    # An ``execute_result`` gets its number from the cell.
    has_number = output.get("output_type") == "execute_result"
    whole = {"execution_count": None, **output} if has_number else dict(output)
    return bool(isvalid(whole, ref="output", version=4, version_minor=5))


def notebook(cells: Sequence[Any], metadata: Mapping[str, Any]) -> Any:
    """A notebook, format 4.5, with Python's kernelspec."""
    from nbformat import v4

    document = v4.new_notebook(cells=list(cells), metadata={"kernelspec": _KERNELSPEC, **metadata})
    document.metadata["language_info"] = {"name": "python", "file_extension": ".py"}
    document.nbformat_minor = 5
    return document


def write(path: Path, document: Any) -> None:
    """Validate a notebook and write it atomically; see `write_text`."""
    import nbformat

    nbformat.validate(document)
    write_text(path, nbformat.writes(document, version=nbformat.NO_CONVERT) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically: a reader sees either the old one or the new one. Links stay links.

    Raises OSError if it cannot be written; the old file is then unchanged.
    """
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    # A lone surrogate, from a file name or a program, becomes ``?``: UTF-8 has no bytes for it.
    file = temporary.open("x", encoding="utf-8", errors="replace")
    try:
        with file:
            if path.exists():
                temporary.chmod(path.stat().st_mode & 0o777)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: Path) -> Any:
    """Read a notebook. Raises NotebookError, with a sentence, if it is not one."""
    import nbformat

    try:
        document = nbformat.reads(path.read_text(encoding="utf-8-sig"), as_version=4)
        nbformat.validate(document)
    except OSError as error:
        raise NotebookError(f"{path} cannot be read: {error.strerror}.") from error
    except Exception as error:
        # nbformat raises half a dozen unrelated classes for files that are not notebooks.
        # Their messages may quote the whole file.
        first = " ".join(str(error).strip().splitlines()[:1]) or repr(error)
        words = first if len(first) <= _MOST_WORDS else f"{first[:_MOST_WORDS]}…"
        raise NotebookError(f"{path} is not a notebook: {words}") from error
    return document
