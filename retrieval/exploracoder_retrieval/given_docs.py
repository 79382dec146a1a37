"""Documentation that a person supplied for a library, remembered apart from the index.

It is user input, not derived data, so it outlives a rebuild of the index. Pages from the web are
copied when they are given, and not again until they are given anew.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_retrieval.catalog import slug
from exploracoder_retrieval.errors import DocsUnavailable, IndexUnavailable
from exploracoder_retrieval.files import write_atomically
from exploracoder_retrieval.harvest.docs.fetch import FetchLimits, fetch
from exploracoder_retrieval.harvest.docs.source import DocsSource, files_of, is_address
from exploracoder_retrieval.progress import Progress

_RECORD = "given.json"


class DocsRecord(BaseModel):
    """The documentation of one library: absolute paths and addresses.

    ``stands_alone``: there is no code; the name refers to this documentation, even if a library of
    that name is installed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    library: str
    stands_alone: bool
    origins: tuple[str, ...]
    copies: dict[str, str] = {}


class GivenDocs:
    """Reads and writes the given documentation in a user's folder."""

    FOLDER = "given"

    def __init__(self, user_folder: Path) -> None:
        self._folder = user_folder / self.FOLDER

    def find(self, library: str) -> DocsRecord | None:
        """The documentation given for a library, by the name it was given for, or None.

        Raises:
            DocsUnavailable: the record is damaged.
        """
        record = self._home(library) / _RECORD
        try:
            return DocsRecord.model_validate_json(record.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            raise DocsUnavailable(
                f"What docs were given for {library} cannot be read: {record} is damaged. Remove"
                f" it, then give them again: exploracoder index {library} --docs PATH_OR_URL"
            ) from None

    def sources(self, record: DocsRecord) -> tuple[DocsSource, ...]:
        """Where the documentation is now."""
        home = self._home(record.library)
        return tuple(
            DocsSource(
                origin, home / record.copies[origin] if origin in record.copies else Path(origin)
            )
            for origin in record.origins
        )

    def give(
        self,
        library: str,
        origins: Sequence[str],
        *,
        stands_alone: bool,
        limits: FetchLimits | None = None,
        progress: Progress | None = None,
    ) -> DocsRecord:
        """Remember the documentation of a library, replacing any given before.

        Copies of pages given before stay until `drop_old_copies`.

        Raises:
            DocsUnavailable: a path does not exist or holds no docs, or no page can be fetched;
                nothing is changed.
            IndexUnavailable: the folder cannot be written.
        """
        absolute = tuple(dict.fromkeys(_absolute(origin) for origin in origins))
        home = self._home(library)
        copies: dict[str, str] = {}
        try:
            home.mkdir(parents=True, exist_ok=True)
            try:
                for origin in filter(is_address, absolute):
                    copy = Path(tempfile.mkdtemp(prefix="copy-", dir=home))
                    copies[origin] = copy.name
                    fetch(origin, copy, limits, progress)
            except BaseException:
                self.drop_old_copies(library)
                raise
            record = DocsRecord(
                library=library, stands_alone=stands_alone, origins=absolute, copies=copies
            )
            self._write(record)
        except OSError as error:
            reason = error.strerror or error
            raise IndexUnavailable(f"{home} cannot be written: {reason}.") from None
        return record

    def known(self, library: str) -> DocsRecord | None:
        """The documentation given for a library, or None if its record is damaged."""
        try:
            return self.find(library)
        except DocsUnavailable:
            return None

    def restore(self, library: str, before: DocsRecord | None) -> None:
        """Undo what was given since ``before``."""
        if before is None:
            self.forget(library)
        else:
            self._write(before)
            self.drop_old_copies(library)

    def drop_old_copies(self, library: str) -> None:
        """Remove the copies that a library's record does not name."""
        record = self.known(library)
        copies = record.copies.values() if record else ()
        for each in self._home(library).glob("copy-*"):
            if each.name not in copies:
                shutil.rmtree(each, ignore_errors=True)

    def forget(self, library: str) -> bool:
        """Forget the documentation given for a library; False if there was none."""
        home = self._home(library)
        was_there = home.exists()
        shutil.rmtree(home, ignore_errors=True)
        return was_there

    def _home(self, library: str) -> Path:
        return self._folder / slug(library)

    def _write(self, record: DocsRecord) -> None:
        text = record.model_dump_json(indent=1)
        write_atomically(self._home(record.library) / _RECORD, text)


def _absolute(origin: str) -> str:
    if is_address(origin):
        return origin
    path = Path(os.path.expanduser(origin)).absolute()
    if not os.path.exists(path):
        raise DocsUnavailable(
            f"There are no docs at {origin}. Give a file or a folder, or an address that begins"
            " with http:// or https://"
        )
    if not files_of(DocsSource(origin, path)):
        raise DocsUnavailable(
            f"{origin} holds nothing that is read as docs: HTML, Markdown, notebooks, .rst, .py,"
            " objects.inv, OpenAPI (.json, .yaml), ApiDocs (.jsonl, .jsonl.gz)."
        )
    return str(path)
