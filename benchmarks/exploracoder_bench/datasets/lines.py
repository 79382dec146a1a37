"""Files with a JSON object a line, packed or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from exploracoder.errors import InputError


def read_lines(file: Path) -> Iterator[tuple[str, str]]:
    """The lines of a ``.jsonl`` or ``.jsonl.gz`` file that are not empty, each with its place.

    A place is the file and the line's number, from 1, as an error names them. Raises InputError
    when the file cannot be read or unpacked, or a line is no text in UTF-8.
    """
    try:
        content = file.read_bytes()
        if file.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be read as problems, one a line: {error}.") from error
    # Of text, other signs than a newline end a line too, and JSON may have them in a string.
    for number, line in enumerate(content.splitlines(), start=1):
        place = f"{file}, line {number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{place}, is not text in UTF-8: {error.reason}.") from error
        if text.strip():
            yield place, text
