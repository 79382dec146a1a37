"""Maps a text to its rows without holding the texts in memory.

A library's documents are found this way by vector ID and by path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import RowNumbers, np
from exploracoder_retrieval.errors import IndexCorrupt


class RowTable:
    """Rows by 64 bits of the SHA-256 of a key, in two sorted columns of a file.

    It takes 16 bytes per row, and only the pages in use are in memory: a dictionary of a million
    texts would take hundreds of megabytes, and seconds every time a library is opened.
    """

    def __init__(self, columns: Any) -> None:
        self._columns = columns

    @classmethod
    def build(cls, pairs: Iterable[tuple[str, int]]) -> RowTable:
        """Build from pairs of key and row; rows with the same key keep their order."""
        flat = np.array([(_number(key), row) for key, row in pairs], dtype=np.uint64)
        flat = flat.reshape(-1, 2)
        order = np.argsort(flat[:, 0], kind="stable")
        return cls(np.ascontiguousarray(flat[order].T))

    @classmethod
    def load(cls, file: Path) -> RowTable:
        """Load from a file that `save` wrote.

        Raises:
            IndexCorrupt: it is missing or damaged.
        """
        try:
            columns = np.load(file, mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            raise IndexCorrupt(f"{file} is damaged ({type(error).__name__}).") from None
        if columns.ndim != 2 or columns.shape[0] != 2 or columns.dtype != np.uint64:
            raise IndexCorrupt(f"{file} is damaged (it holds something else).")
        # Viewed as a plain array, which is searched several times faster than a mapped one.
        return cls(columns.view(np.ndarray))

    def save(self, file: Path) -> None:
        np.save(file, self._columns)

    def __len__(self) -> int:
        return int(self._columns.shape[1])

    def find(self, key: str) -> list[int]:
        """The rows of a key. Keys that share the same 64 bits are not distinguished."""
        return [int(row) for row in self.rows(key)]

    def rows(self, key: str) -> RowNumbers:
        """Like `find`, without a Python object for each row."""
        number = np.uint64(_number(key))
        start, end = (int(np.searchsorted(self._columns[0], number, side)) for side in _SIDES)
        return np.asarray(self._columns[1][start:end], dtype=np.intp)

    def first(self, keys: Sequence[str]) -> RowNumbers:
        """The first row of each key, or -1; much faster than looking up one key at a time."""
        numbers = np.asarray([_number(key) for key in keys], dtype=np.uint64)
        if not len(self):
            return np.full(len(numbers), -1, dtype=np.intp)
        places = np.searchsorted(self._columns[0], numbers).clip(max=len(self) - 1)
        is_found = self._columns[0][places] == numbers
        return np.where(is_found, self._columns[1][places].astype(np.intp), -1)


_SIDES: Any = ("left", "right")


def _number(key: str) -> int:
    sha256 = hashlib.sha256(key.encode("utf-8", "surrogatepass"))
    return int.from_bytes(sha256.digest()[:8], "little")


@dataclass(frozen=True, slots=True)
class Tables:
    """Row tables by vector ID, by best path, and by other public paths."""

    vectors: RowTable
    paths: RowTable
    aliases: RowTable

    @classmethod
    def build(cls, docs: Sequence[ApiDoc], ids: Sequence[str]) -> Tables:
        """Build from documents and the IDs of their vectors, in row order."""
        aliases = (
            (alias, row)
            for row, doc in enumerate(docs)
            for alias in doc.aliases
            if not alias.startswith(".")
        )
        return cls(
            vectors=RowTable.build((each, row) for row, each in enumerate(ids)),
            paths=RowTable.build((doc.path, row) for row, doc in enumerate(docs)),
            aliases=RowTable.build(aliases),
        )

    @classmethod
    def load(cls, folder: Path) -> Tables:
        """Load from files that `save` wrote. Raises IndexCorrupt if one is missing or damaged."""
        return cls(**{one.name: RowTable.load(folder / f"{one.name}.npy") for one in fields(cls)})

    def save(self, folder: Path) -> None:
        folder.mkdir()
        for one in fields(self):
            getattr(self, one.name).save(folder / f"{one.name}.npy")
