"""The metadata stored in chroma with an API's vector, and how it narrows a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind
from exploracoder_retrieval.harvest.result import LibraryInfo


@dataclass(frozen=True, slots=True)
class Filter:
    """Only APIs of one kind, only those inside a module or class, or both."""

    kind: ApiKind | None = None
    inside: str = ""

    @property
    def where(self) -> dict[str, Any]:
        """The filter as a chroma condition; empty if everything passes."""
        conditions: list[dict[str, Any]] = []
        if self.kind:
            conditions.append({"kind": self.kind})
        if self.inside:
            conditions.append({"module": {"$contains": self.inside}})
        return {"$and": conditions} if len(conditions) > 1 else conditions[0] if conditions else {}


def metadata(doc: ApiDoc, library: LibraryInfo) -> Mapping[str, Any]:
    """An API's library, version and kind, and each module or class that contains it."""
    parts = doc.path.split(".")
    modules = [".".join(parts[:end]) for end in range(1, len(parts))]
    fields = {"library": library.name, "version": library.version, "kind": doc.kind}
    return fields | ({"module": modules} if modules else {})
