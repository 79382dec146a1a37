"""The head of a GGUF file: what it says of itself and the shapes of its tensors, without its data.

Source: the format's description, ggml ``docs/gguf.md``, version 3.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_SCALARS = dict(enumerate(("B", "b", "H", "h", "I", "i", "f", "?")))
_SCALARS |= {10: "Q", 11: "q", 12: "d"}
# More is damage; the largest models have a few thousand.
_MAX_COUNT = 1_000_000


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a file says of itself.

    ``values`` are its single values, arrays left out; ``shapes`` those of its tensors by name, the
    dimension that changes fastest first.
    """

    values: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]

    @property
    def architecture(self) -> str:
        """The kind of model, as llama.cpp calls it."""
        return str(self.values.get("general.architecture", ""))

    @property
    def parameters(self) -> int:
        """How many numbers all tensors have together."""
        return sum(prod(shape) for shape in self.shapes.values())


def read_header(path: Path) -> GgufHeader:
    """The head of a file. Raises InputError when it cannot be read, or is no GGUF file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Cursor(data).header()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, struct.error, KeyError, IndexError) as error:
        raise InputError(f"{path} is no GGUF file, or is damaged.") from error


class _Cursor:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def header(self) -> GgufHeader:
        if self._data[:4] != _MAGIC:
            raise ValueError("no GGUF")
        self._at = 4
        if self._one("I") not in _VERSIONS:
            raise ValueError("another version")
        tensors, values = self._count(), self._count()
        said = {}
        for _ in range(values):
            name = self._string()
            value = self._value(self._one("I"))
            if value is not None:
                said[name] = value
        shapes = dict(self._shape() for _ in range(tensors))
        if self._at > len(self._data):
            raise ValueError("too short")
        return GgufHeader(said, shapes)

    def _shape(self) -> tuple[str, tuple[int, ...]]:
        name = self._string()
        shape = tuple(self._one("Q") for _ in range(self._one("I")))
        self._at += 4 + 8  # the kind of numbers, and where they lie
        return name, shape

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._one(_SCALARS[kind])
        inner, count = self._one("I"), self._count()
        if inner == _STRING:
            for _ in range(count):
                self._at += 8 + self._peek()
        else:
            self._at += count * struct.calcsize(_SCALARS[inner])
        return None

    def _peek(self) -> int:
        length: int = struct.unpack_from("<Q", self._data, self._at)[0]
        return length

    def _one(self, form: str) -> Any:
        (value,) = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(form)
        return value

    def _count(self) -> int:
        count: int = self._one("Q")
        if count > _MAX_COUNT:
            raise ValueError("too many")
        return count

    def _string(self) -> str:
        length: int = self._one("Q")
        self._at += length
        if self._at > len(self._data):
            raise ValueError("too short")
        return self._data[self._at - length : self._at].decode("utf-8")
