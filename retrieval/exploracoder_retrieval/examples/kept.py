"""Examples kept for a library, apart from the index: an index may be thrown away.

Each is a file of its own, written to a temporary file and renamed into place, so that a concurrent
writer, a killed process or a full disk never damages existing examples.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_retrieval.arrays import Floats, Vectors, np
from exploracoder_retrieval.catalog import slug
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import IndexUnavailable
from exploracoder_retrieval.files import write_atomically
from exploracoder_retrieval.shelf import digest

# Per library and source; the oldest are dropped.
MAX_KEPT = 1_000
ExampleSource = Literal["code", "exploration"]


class KeptExample(BaseModel):
    """Code that uses a library: somebody's own, or code accepted in an exploration.

    ``title`` says what it is for, ``task`` which task of an exploration it was part of. ``apis``
    are the import paths of the APIs that it uses, ``version`` is the library's. ``origin`` is the
    file or notebook that it comes from, ``line`` its line there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    library: str
    version: str
    source: ExampleSource
    title: str
    task: str = ""
    code: str
    apis: tuple[str, ...]
    origin: str
    line: int | None = None
    kept: datetime

    @property
    def id(self) -> str:
        """An ID that depends only on the source, the version and the code."""
        return digest([self.source, self.version, self.code])[:12]


class KeptExamples:
    """Reads and writes the kept examples in a user's folder."""

    FOLDER = "examples"

    def __init__(self, user_folder: Path) -> None:
        self._folder = user_folder / self.FOLDER

    def keep(self, examples: Sequence[KeptExample]) -> None:
        """Keep examples, replacing any with the same ID.

        Raises:
            IndexUnavailable: an example cannot be written. Those before it are kept.
        """
        for each in examples:
            home = self._home(each.library)
            try:
                home.mkdir(parents=True, exist_ok=True)
                for vector in home.glob(f"{each.id}.*.vector"):
                    vector.unlink()
                write_atomically(home / f"{each.id}.json", each.model_dump_json(indent=1))
            except OSError as error:
                reason = error.strerror or error
                raise IndexUnavailable(f"{home} cannot be written: {reason}.") from None
        for library, source in {(each.library, each.source) for each in examples}:
            of_source = [each for each in self.of(library) if each.source == source]
            self._drop(of_source[MAX_KEPT:])

    def of(self, library: str) -> tuple[KeptExample, ...]:
        """The examples kept for a library, newest first; damaged ones are left out."""
        examples = map(_read, self._home(library).glob("*.json"))
        return tuple(sorted(filter(None, examples), key=_age))

    def all(self) -> tuple[KeptExample, ...]:
        """The examples kept for all libraries, by library, newest first."""
        examples = map(_read, self._folder.glob("*/*.json"))
        return tuple(sorted(filter(None, examples), key=lambda each: (each.library, *_age(each))))

    def stamp(self, library: str) -> frozenset[tuple[str, int]]:
        """A value that changes whenever an example is kept or forgotten."""
        with suppress(OSError), os.scandir(self._home(library)) as files:
            return frozenset(
                (file.name, file.stat().st_mtime_ns)
                for file in files
                if file.name.endswith(".json")
            )
        return frozenset()

    def vectors(self, examples: Sequence[KeptExample], embedder: Embedder) -> Vectors:
        """The embedding of each example's purpose, one per row; each is cached beside its example.

        Raises:
            EmbeddingError: there are no vectors.
        """
        files = [
            self._home(one.library) / f"{one.id}.{slug(embedder.name)}.vector" for one in examples
        ]
        rows = {file: row for file in files if (row := _read_vector(file, embedder)) is not None}
        misses = [pair for pair in zip(files, examples, strict=True) if pair[0] not in rows]
        if misses:
            new_vectors = embedder.embed([one.title or one.code for _, one in misses])
            for (file, _), row in zip(misses, new_vectors, strict=True):
                rows[file] = row
                with suppress(OSError):  # it is computed again next time
                    write_atomically(file, row.tobytes())
        return np.stack([rows[file] for file in files])

    def forget(self, library: str, ids: Collection[str] = ()) -> int:
        """Forget a library's examples, or those with these ids, and return how many there were.

        Raises:
            IndexUnavailable: they cannot be removed.
        """
        examples = self.of(library)
        if ids:
            return self._drop([each for each in examples if each.id in ids])
        _remove(self._home(library))
        return len(examples)

    def forget_all(self) -> int:
        """Forget the examples of all libraries, damaged ones too, and return how many there were.

        Raises:
            IndexUnavailable: they cannot be removed.
        """
        count = len(self.all())
        for home in self._folder.glob("*"):
            _remove(home)
        return count

    def _drop(self, examples: Sequence[KeptExample]) -> int:
        for each in examples:
            for file in self._home(each.library).glob(f"{each.id}.*"):
                _remove(file)
        return len(examples)

    def _home(self, library: str) -> Path:
        return self._folder / slug(library)


def _remove(path: Path) -> None:
    try:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise IndexUnavailable(f"{path} cannot be removed: {error.strerror or error}.") from None


def _read(file: Path) -> KeptExample | None:
    try:
        return KeptExample.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def _read_vector(file: Path, embedder: Embedder) -> Floats | None:
    with suppress(OSError, ValueError):
        row = np.frombuffer(file.read_bytes(), dtype=np.float32)
        return row if len(row) == embedder.dimensions else None
    return None


def _age(example: KeptExample) -> tuple[float, str]:
    return -example.kept.timestamp(), example.id
