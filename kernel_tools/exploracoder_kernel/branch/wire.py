"""Framed JSON over a Unix socket: a four-byte length, then UTF-8. Descriptors may ride along."""

from __future__ import annotations

import base64
import json
import numbers
import os
import socket
import struct
from typing import Any

HEADER = struct.Struct(">I")
MAX_FRAME_BYTES = 64 * 1024 * 1024
MAX_DESCRIPTORS = 3

Message = dict[str, Any]


def pack(message: Message) -> bytes:
    """The frame of a message. Lone surrogates, which UTF-8 can't encode, become ``?``."""
    body = json.dumps(message, ensure_ascii=False, default=_plain).encode("utf-8", "replace")
    return HEADER.pack(len(body)) + body


def _plain(value: object) -> object:
    """A substitute for a value that JSON can't represent, such as NumPy's numbers."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (set, frozenset)):
        return list(value)
    return str(value)


def send(sock: socket.socket, message: Message) -> None:
    """Send one frame on a blocking socket."""
    sock.sendall(pack(message))


def receive(sock: socket.socket) -> tuple[Message | None, list[int]]:
    """The next message and the descriptors that came with it; None if the other end closed."""
    header, descriptors = b"", []
    while len(header) < HEADER.size:
        chunk, fds, _flags, _address = socket.recv_fds(
            sock, HEADER.size - len(header), MAX_DESCRIPTORS
        )
        descriptors += fds
        if not chunk:
            return None, descriptors
        header += chunk
    for fd in descriptors:
        os.set_inheritable(fd, False)
    body = _receive_exactly(sock, HEADER.unpack(header)[0])
    return (None if body is None else json.loads(body)), descriptors


def _receive_exactly(sock: socket.socket, size: int) -> bytearray | None:
    body = bytearray()
    while len(body) < size:
        chunk = sock.recv(min(size - len(body), 1 << 20))
        if not chunk:
            return None
        body += chunk
    return body
