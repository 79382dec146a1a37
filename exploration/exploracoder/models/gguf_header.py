"""Reads the header of a GGUF file: its metadata and tensor shapes, without the tensor data.

Source: the format's description, ggml ``docs/gguf.md``, version 3.
"""

from __future__ import annotations

import mmap
import os
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
# A larger count means damage; the largest models have a few thousand.
_MAX_COUNT = 1_000_000


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The metadata and tensor shapes of a file.

    ``values`` is the metadata without arrays; ``shapes`` maps tensor names to their shapes, the
    fastest-varying dimension first.
    """

    values: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]

    @property
    def architecture(self) -> str:
        """The kind of model, as llama.cpp calls it."""
        return str(self.values.get("general.architecture", ""))

    @property
    def parameters(self) -> int:
        """The number of parameters in all tensors together."""
        return sum(prod(shape) for shape in self.shapes.values())

    @property
    def context_token_bytes(self) -> int:
        """Bytes per token of context, with 16-bit keys and values; 0 if it cannot be computed."""
        metadata = {name.partition(".")[2]: value for name, value in self.values.items()}
        try:
            heads = metadata.get("attention.head_count_kv", metadata["attention.head_count"])
            length = metadata["embedding_length"] // metadata["attention.head_count"]
            key = metadata.get("attention.key_length", length)
            value = metadata.get("attention.value_length", length)
            return int(2 * metadata["block_count"] * heads * (key + value))
        except (KeyError, TypeError, ZeroDivisionError):
            return 0


def read_header(path: Path) -> GgufHeader:
    """Reads a file's header. Raises InputError if it cannot be read, or is not a GGUF file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _header(data)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, OverflowError, struct.error, KeyError) as error:
        raise InputError(f"{path} is no GGUF file, or is damaged.") from error


# Each function below reads on from the current position, and raises one of these errors if it
# cannot: `mmap.seek` refuses positions outside the file.


def _header(data: mmap.mmap) -> GgufHeader:
    if data.read(4) != _MAGIC or _one(data, "I") not in _VERSIONS:
        raise ValueError("no GGUF, or another version")
    tensors, values = _count(data), _count(data)
    metadata = {_string(data): _value(data, _one(data, "I")) for _ in range(values)}
    shapes = dict(_shape(data) for _ in range(tensors))
    return GgufHeader({name: one for name, one in metadata.items() if one is not None}, shapes)


def _shape(data: mmap.mmap) -> tuple[str, tuple[int, ...]]:
    name = _string(data)
    shape = tuple(_one(data, "Q") for _ in range(_one(data, "I")))
    data.seek(4 + 8, os.SEEK_CUR)  # the tensor's type and offset
    return name, shape


def _value(data: mmap.mmap, kind: int) -> Any:
    """A single value; None for an array, which is skipped."""
    if kind == _STRING:
        return _string(data)
    if kind != _ARRAY:
        return _one(data, _SCALARS[kind])
    inner, count = _one(data, "I"), _count(data)
    if inner == _STRING:
        for _ in range(count):
            data.seek(_one(data, "Q"), os.SEEK_CUR)
    else:
        data.seek(count * struct.calcsize(_SCALARS[inner]), os.SEEK_CUR)
    return None


def _one(data: mmap.mmap, form: str) -> Any:
    (value,) = struct.unpack(f"<{form}", data.read(struct.calcsize(form)))
    return value


def _count(data: mmap.mmap) -> int:
    count: int = _one(data, "Q")
    if count > _MAX_COUNT:
        raise ValueError("too many")
    return count


def _string(data: mmap.mmap) -> str:
    length = _one(data, "Q")
    text = data.read(length)
    if len(text) < length:
        raise ValueError("too short")
    return text.decode("utf-8")
