"""JSON and JSON Lines files, validated."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from exploracoder.errors import InputError, SetupError
from pydantic import BaseModel, TypeAdapter, ValidationError

FormT = TypeVar("FormT")
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


class GrowingFile(Generic[RowT]):
    """Rows that are appended, a line each, before anything else happens.

    A line counts when it is whole: a partial one, left by a kill or a full disk, is cut off before
    the next. Reading changes nothing, since somebody else may be writing.
    """

    def __init__(self, path: Path, form: type[RowT], noun: str) -> None:
        self._path = path
        self._form = form
        self._noun = noun
        # Of the whole lines, in bytes; None before they were read.
        self._size: int | None = None

    def read(self) -> list[RowT]:
        """The rows so far. Raises InputError when the file cannot be used, or has other lines."""
        try:
            content = self._path.read_bytes() if self._path.exists() else b""
        except OSError as error:
            raise InputError(f"{self._path} cannot be used: {error.strerror}.") from error
        whole = content[: content.rfind(b"\n") + 1]
        rows = [self._row(line) for line in whole.splitlines()]
        self._size = len(whole)
        return rows

    def append(self, row: RowT) -> None:
        """Keep a row. Raises SetupError, leaving no partial line, when it cannot be written."""
        if self._size is None:
            self.read()
        size = self._size or 0
        try:
            with self._path.open("ab") as lines:
                if lines.tell() > size:
                    # Somebody else's rows stay.
                    size = self._path.read_bytes().rfind(b"\n") + 1
                    lines.truncate(size)
                lines.write(row.model_dump_json().encode() + b"\n")
                lines.flush()
                os.fsync(lines.fileno())
                self._size = lines.tell()
        except OSError as error:
            if self._path.is_file():
                os.truncate(self._path, size)
            raise SetupError(
                f"{self._path} cannot be written: {error.strerror}. What is in it counts; make room"
                " and give the same command again, it goes on."
            ) from error

    def _row(self, line: bytes) -> RowT:
        try:
            return self._form.model_validate_json(line)
        except ValidationError as error:
            raise InputError(
                f"{self._path} holds a line that is no {self._noun}: {line[:80]!r}. Name another"
                " file, or put that one away."
            ) from error


def read_json(file: Path, form: type[FormT], noun: str) -> FormT:
    """A JSON file, validated as a ``form``.

    Raises InputError when it cannot be read, or is, by its form, no ``noun``.
    """
    try:
        return TypeAdapter(form).validate_json(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}. Check the path.") from error
    except ValidationError as error:
        raise InputError(f"{file} is no {noun}: {first_fault(error)}") from error


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong with a value, and where, as the end of a sentence."""
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'its form'}: {fault['msg']}."


def _row(place: str, line: str, form: type[RowT], noun: str) -> RowT:
    try:
        return form.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{place}, is no {noun}: {first_fault(error)}") from error
