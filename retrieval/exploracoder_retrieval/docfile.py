"""The documents of a library in a file, read one by one on demand."""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import np
from exploracoder_retrieval.errors import IndexCorrupt

# More parsed documents than most libraries have; a million would take gigabytes.
_KEPT = 20_000
_CHECKED_BYTES = 1 << 22


class DocFile(Sequence[ApiDoc]):
    """ApiDocs in row order, one JSON object per line.

    The file is mapped into memory, so that opening it costs one pass over its bytes for the
    checksum, and only requested documents are parsed. It stays readable if its folder is removed.
    """

    def __init__(self, data: bytes | mmap.mmap, starts: Any) -> None:
        self._data = data
        self._starts = starts
        self._read = lru_cache(maxsize=_KEPT)(self._parse)

    @classmethod
    def open(cls, folder: Path, count: int) -> DocFile:
        """The documents that `write_docs` put into a folder.

        Raises:
            IndexCorrupt: files are missing, damaged, or do not hold ``count`` documents.
        """
        try:
            with (folder / "docs.jsonl").open("rb") as file:
                size = file.seek(0, 2)
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            starts = np.load(folder / "starts.npy")
            manifest = json.loads((folder / "docs.json").read_text(encoding="utf-8"))
            expected = (manifest["apis"], manifest["bytes"], manifest["crc32"])
        except (OSError, ValueError, EOFError, KeyError, TypeError) as error:
            raise _damaged(folder, type(error).__name__) from None
        if (count, size, _checksum(data)) != expected or len(starts) != count + 1:
            raise _damaged(folder, "incomplete")
        return cls(data, starts)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[ApiDoc]:
        return (self._read(row) for row in range(len(self)))

    @overload
    def __getitem__(self, row: int) -> ApiDoc: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[ApiDoc, ...]: ...
    def __getitem__(self, row: int | slice) -> ApiDoc | tuple[ApiDoc, ...]:
        if isinstance(row, slice):
            return tuple(self._read(each) for each in range(*row.indices(len(self))))
        return self._read(range(len(self))[row])

    def _parse(self, row: int) -> ApiDoc:
        line = self._data[int(self._starts[row]) : int(self._starts[row + 1])]
        return ApiDoc.model_validate_json(line)


def write_docs(folder: Path, docs: Iterable[ApiDoc]) -> None:
    """Write ``docs.jsonl``, the offset of each line, and a manifest to verify the file by."""
    starts, crc = [0], 0
    with (folder / "docs.jsonl").open("wb") as file:
        for doc in docs:
            line = doc.model_dump_json().encode("utf-8") + b"\n"
            file.write(line)
            crc = zlib.crc32(line, crc)
            starts.append(starts[-1] + len(line))
    np.save(folder / "starts.npy", np.array(starts, dtype=np.int64))
    manifest = {"apis": len(starts) - 1, "bytes": starts[-1], "crc32": crc}
    (folder / "docs.json").write_text(json.dumps(manifest), encoding="utf-8")


def _checksum(data: bytes | mmap.mmap) -> int:
    crc = 0
    for start in range(0, len(data), _CHECKED_BYTES):
        crc = zlib.crc32(data[start : start + _CHECKED_BYTES], crc)
    return crc


def _damaged(folder: Path, why: str) -> IndexCorrupt:
    return IndexCorrupt(f"The documents in {folder} are damaged or incomplete ({why}).")
