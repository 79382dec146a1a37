"""Finds and reads untrusted files within bounds, and writes our own atomically.

A tree may hold links that form cycles or lead out of it, endless pipes, devices, and more or larger
files than anybody wants to read. Everything that reads libraries, repositories or documentation
finds its files with `walk` and opens them with `read_bytes`.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
import tempfile
import tokenize
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from exploracoder_retrieval.errors import UnreadableSource

MAX_SOURCE_BYTES = 4_000_000
# Files and folders in one walk, and in one folder.
MAX_ENTRIES = 200_000
MAX_DEPTH = 40
Skip = Callable[[str, str], None]

_TOO_MANY = f"there are more than {MAX_ENTRIES} files and folders: the rest is left out"
_TOO_DEEP = f"it lies more than {MAX_DEPTH} folders deep"
_OUTSIDE = "it is a link to something outside of what was named"
_A_LINK = "it is a link to a folder: what belongs to the library is read where it lies"
# Decoding these takes quadratic time, or interprets escapes in the text.
_NOT_READ = frozenset({"punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape"})


def _say_nothing(_name: str, _reason: str) -> None: ...


def open_regular(path: Path, *, inside: Path | None = None) -> BinaryIO:
    """Open a regular file for reading, without blocking on what cannot be opened at once.

    Args:
        path: The file, or a link to it.
        inside: The folder, or the file itself, that links must not lead out of; None: they may.

    Raises:
        UnreadableSource: it does not exist, is not a regular file, or lies elsewhere.
    """
    try:
        real = Path(os.path.realpath(path, strict=True))
        # Check before opening: opening a device may have side effects.
        _expect_regular(real.stat())
        if inside is not None and not real.is_relative_to(inside):
            raise UnreadableSource(_OUTSIDE)
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        file = open(os.open(real, flags), "rb")  # noqa: PTH123, SIM115 - of a descriptor
        _expect_regular(os.fstat(file.fileno()))
        return file
    except OSError as error:
        raise UnreadableSource(f"it cannot be read: {error.strerror or error}") from None


def read_bytes(path: Path, most: int = MAX_SOURCE_BYTES, *, inside: Path | None = None) -> bytes:
    """The content of a regular file, of at most ``most`` bytes.

    Raises:
        UnreadableSource: as in `open_regular`, or if it is larger.
    """
    with open_regular(path, inside=inside) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise UnreadableSource(f"it cannot be read: {error.strerror or error}") from None
    if len(content) > most:
        raise UnreadableSource(f"it is larger than {most} bytes")
    return content


def decode_python(content: bytes) -> str:
    """A Python file's text, in the encoding that it declares.

    Raises:
        UnreadableSource: it is not text in that encoding, or the encoding is unknown or not read.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        if codecs.lookup(encoding).name.replace("-", "_") in _NOT_READ:
            raise UnreadableSource(f"its encoding {encoding} is not read")
        return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeError as error:
        codec = getattr(error, "encoding", "in its encoding")
        raise UnreadableSource(f"it is not {codec} text") from None
    except (SyntaxError, LookupError, ValueError) as error:
        raise UnreadableSource(f"it is not text in its encoding: {error}") from None


def without_surrogates(text: str) -> str:
    """A text that can be encoded: halves of a character are joined, or replaced if alone."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_python(path: Path, most: int = MAX_SOURCE_BYTES, *, inside: Path | None = None) -> str:
    """The text of a Python file. Raises UnreadableSource as `read_bytes` and `decode_python` do."""
    return decode_python(read_bytes(path, most, inside=inside))


def write_atomically(path: Path, content: str | bytes, *, is_synced: bool = True) -> None:
    """Replace a file in one step; a crash leaves either the old file or the new one.

    A cache whose damaged files count as missing need not be synced, which takes time.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            if is_synced:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def entries(folder: Path | str, on_skip: Skip = _say_nothing) -> list[os.DirEntry[str]]:
    """The entries of a folder, by name; empty if it cannot be listed."""
    try:
        with os.scandir(folder) as scan:
            listing = list(islice(scan, MAX_ENTRIES + 1))
    except OSError as error:
        on_skip(str(folder), f"it cannot be listed: {error.strerror or error}")
        return []
    if len(listing) > MAX_ENTRIES:
        on_skip(str(folder), _TOO_MANY)
    return sorted(listing[:MAX_ENTRIES], key=lambda entry: entry.name)


def folder_trouble(entry: os.DirEntry[str], inside: Path | None) -> str:
    """Why a link to a folder is not followed: it is not in an installed library, or is a cycle."""
    if not entry.is_symlink():
        return ""
    if inside is not None:
        return _A_LINK
    real = os.path.realpath(entry.path)
    parent = os.path.realpath(os.path.dirname(entry.path))  # noqa: PTH120 - a string already
    return _A_LINK if Path(parent).is_relative_to(real) else ""


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder or a link to one; a link to itself is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def walk(
    top: Path,
    wants: Callable[[str], bool],
    leaves_out: Callable[[str], bool],
    *,
    inside: Path | None,
    on_skip: Skip | None = None,
) -> Iterator[os.DirEntry[str]]:
    """The regular files below a folder, in the order of their names.

    Virtual environments in it (folders with a ``pyvenv.cfg``) are skipped.

    Args:
        top: The folder.
        wants: Whether a file of this name is wanted.
        leaves_out: Whether a folder of this name is skipped.
        inside: The resolved folder that links must not lead out of; links to folders are then not
            followed at all. None: links may lead anywhere, as in an installed library.
        on_skip: Called with the path of each unreadable or unsuitable entry, and the reason.
    """
    on_skip = on_skip or _say_nothing
    listings, count = [iter(entries(top, on_skip))], 0
    while listings:
        entry = next(listings[-1], None)
        count += 1
        if entry is None:
            listings.pop()
        elif count > MAX_ENTRIES:
            return on_skip(str(top), _TOO_MANY)
        elif is_folder(entry):
            if not leaves_out(entry.name):
                listings.append(iter(_inner(entry, len(listings), inside, on_skip)))
        elif wants(entry.name):
            if trouble := _trouble(entry, inside):
                on_skip(entry.path, trouble)
            else:
                yield entry


def _inner(
    entry: os.DirEntry[str], depth: int, inside: Path | None, on_skip: Skip
) -> list[os.DirEntry[str]]:
    trouble = folder_trouble(entry, inside) or (_TOO_DEEP if depth > MAX_DEPTH else "")
    if trouble:
        on_skip(entry.path, trouble)
        return []
    listing = entries(entry.path, on_skip)
    return [] if any(each.name == "pyvenv.cfg" for each in listing) else listing


def _trouble(entry: os.DirEntry[str], inside: Path | None) -> str:
    """Why a file is not read; empty if it is."""
    try:
        _expect_regular(entry.stat())
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    except UnreadableSource as error:
        return str(error)
    if inside is None or not entry.is_symlink():
        return ""
    return "" if Path(os.path.realpath(entry.path)).is_relative_to(inside) else _OUTSIDE


def _expect_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableSource("it is no regular file")
