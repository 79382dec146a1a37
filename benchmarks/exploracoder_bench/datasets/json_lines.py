"""JSON Lines files, compressed or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from exploracoder.errors import InputError
from pydantic import BaseModel, ValidationError

RowT = TypeVar("RowT", bound=BaseModel)


def read_lines(file: Path) -> Iterator[tuple[str, str]]:
    """The non-empty lines of a ``.jsonl`` or ``.jsonl.gz`` file, each with its place.

    A place is the file and the line number, from 1, worded for error messages. Raises InputError
    when the file cannot be read or decompressed, or a line is not UTF-8.
    """
    try:
        content = file.read_bytes()
        if file.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{file} cannot be read as JSON lines: {error}. Check the path."
        ) from error
    # On str, splitlines would also split at characters that a JSON string may contain.
    for number, line in enumerate(content.splitlines(), start=1):
        place = f"{file}, line {number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{place}, is not text in UTF-8: {error.reason}.") from error
        if text.strip():
            yield place, text


def read_rows(file: Path, form: type[RowT], noun: str = "problem") -> tuple[RowT, ...]:
    """The lines of such a file, each validated as a ``form``.

    Raises InputError, which says of a line of another form that it is no ``noun``.
    """
    return tuple(_row(place, line, form, noun) for place, line in read_lines(file))


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong with a value, and where, as the end of a sentence."""
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'its form'}: {fault['msg']}."


def _row(place: str, line: str, form: type[RowT], noun: str) -> RowT:
    try:
        return form.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{place}, is no {noun}: {first_fault(error)}") from error
