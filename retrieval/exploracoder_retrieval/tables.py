"""How the rows of one library's documents are found: by vector and by path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.rows import RowTable


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables by the ids of vectors, by best path, by another public path."""

    vectors: RowTable
    paths: RowTable
    aliases: RowTable

    @classmethod
    def build(cls, docs: Sequence[ApiDoc], ids: Sequence[str]) -> Tables:
        """From documents with the ids of their vectors, in row order."""
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
        """From the files that `save` wrote. Raises IndexCorrupt when one is missing or damaged."""
        return cls(**{one.name: RowTable.load(folder / f"{one.name}.npy") for one in fields(cls)})

    def save(self, folder: Path) -> None:
        folder.mkdir()
        for one in fields(self):
            getattr(self, one.name).save(folder / f"{one.name}.npy")
