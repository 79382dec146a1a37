"""GGUF files for tests, written byte by byte: a head, and zeros where the numbers would be."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path

Value = str | float | list[str]

_ALIGNMENT = 32


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Value) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def write_gguf(
    path: Path,
    values: Mapping[str, Value],
    shapes: Mapping[str, tuple[int, ...]],
    *,
    has_data: bool = False,
) -> Path:
    """A file with tensors of 32-bit numbers; without ``has_data`` there is only the head."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(values))
    head += b"".join(_text(name) + _value(value) for name, value in values.items())
    offset = 0
    for name, shape in shapes.items():
        head += _text(name)
        head += struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        offset += _aligned(4 * prod(shape))
    data = bytes(_aligned(len(head)) - len(head) + offset) if has_data else b""
    path.write_bytes(head + data)
    return path
