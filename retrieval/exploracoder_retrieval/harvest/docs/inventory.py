"""Sphinx's ``objects.inv``: the names that the documentation describes, and on which page."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from exploracoder_retrieval.apidoc import ApiKind
from exploracoder_retrieval.files import read_bytes
from exploracoder_retrieval.harvest.docs.pieces import KINDS, UnreadableDocs

MAX_SIZE_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """One Python name of an inventory; ``uri`` is relative to the documentation's root."""

    path: str
    kind: ApiKind
    uri: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """The contents of an ``objects.inv``."""

    project: str
    version: str
    names: tuple[InventoryEntry, ...]

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages that describe the names, each once, in the inventory's order."""
        return tuple(dict.fromkeys(name.uri.partition("#")[0] for name in self.names))


def read_inventory(path: Path) -> Inventory:
    """Read the Python names of an inventory.

    Raises:
        UnreadableDocs: it is not an inventory, or is too large when unpacked.
        UnreadableSource: it cannot be read.
    """
    import sphobjinv

    try:
        inventory = sphobjinv.Inventory(plaintext=_unpacked(read_bytes(path, MAX_SIZE_BYTES)))
    except (ValueError, TypeError, zlib.error, sphobjinv.SphobjinvError) as error:
        if isinstance(error, UnreadableDocs):
            raise
        raise UnreadableDocs(f"it is no Sphinx inventory ({type(error).__name__})") from None
    return Inventory(inventory.project, inventory.version, tuple(_python_names(inventory.objects)))


def _python_names(objects: list[object]) -> Iterator[InventoryEntry]:
    for each in objects:
        kind = KINDS.get(getattr(each, "role", ""))
        if kind is not None and getattr(each, "domain", "") == "py":
            yield InventoryEntry(each.name, kind, each.uri_expanded)  # type: ignore[attr-defined]


def _unpacked(data: bytes) -> bytes:
    """The inventory with its names decompressed; they follow a four-line header.

    The library that parses it would decompress without any limit.
    """
    head, body = data.split(b"\n", 4)[:4], data.split(b"\n", 4)[4:]
    if not body or not head[0].startswith(b"# Sphinx inventory version 2"):
        raise UnreadableDocs("it is no Sphinx inventory of version 2")
    unpacker = zlib.decompressobj()
    names = unpacker.decompress(body[0], MAX_SIZE_BYTES)
    if unpacker.unconsumed_tail:
        raise UnreadableDocs(f"it unpacks to more than {MAX_SIZE_BYTES // 1_000_000} MB")
    return b"\n".join([*head, names])
