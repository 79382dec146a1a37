"""An exploration's notebook as the server writes it, through the contents manager.

What a person has put into the notebook stays: cells that are not ours keep their place behind the
cell of ours that they follow, and code that was typed into an empty cell of ours is not lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from exploracoder import document
from exploracoder.errors import ExploraCoderError, InputError, SetupError
from exploracoder.state import Exploration
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from exploracoder_jupyter.errors import UnknownError
from exploracoder_jupyter.services import Services

_KEY = document.METADATA_KEY
_MOST_REVISIONS = 2**53


@dataclass(frozen=True, slots=True)
class Saved:
    """What a notebook holds; ``revision`` is 0 when it says none that can be believed."""

    exploration: Exploration
    revision: int


async def load(services: Services, path: str) -> Saved:
    """The exploration in a notebook.

    Raises UnknownError when there is none, InputError when it is no exploration, or damaged.
    """
    content = await _content(services, path)
    metadata = dict(content.get("metadata", {})).get(_KEY)
    metadata = _plain(metadata)
    exploration = document.from_metadata(metadata, repr(path))
    return Saved(exploration, _revision_in(metadata))


class NotebookFile:
    """Writes one exploration's notebook; ``revision`` is the last that it knows to be there."""

    def __init__(self, services: Services, path: str) -> None:
        self._services = services
        self.path = path
        self.revision = 0
        self._written: Any = None
        self._cells: Sequence[Any] = ()

    async def write(self, exploration: Exploration, revision: int) -> None:
        """Bring the file up to date. Raises SetupError when it cannot be written."""
        here = await self._here()
        if here is not None and here != self._written:
            await self._read()
            if self.revision == revision:
                self._written = here
                return
        made = document.to_notebook(exploration, revision)
        made["cells"] = merged(made["cells"], self._cells)
        model = {"type": "notebook", "format": "json", "content": made}
        try:
            saved = await ensure_async(self._services.contents.save(model, self.path))
        except (HTTPError, OSError) as error:
            raise SetupError(
                f"{self.path!r} cannot be written: {_reason(error)}. Nothing is lost: the server"
                " keeps the exploration, and writes it with the next step."
            ) from error
        self._written, self._cells = saved["last_modified"], made["cells"]
        self.revision = revision

    async def _here(self) -> Any:
        """When the file was written last; None when it is not there."""
        try:
            model = await ensure_async(self._services.contents.get(self.path, content=False))
        except (HTTPError, OSError):
            return None
        return model["last_modified"]

    async def _read(self) -> None:
        """Learn what somebody else has written; a file that is broken is written anew."""
        self._cells, self.revision = (), 0
        try:
            content = await _content(self._services, self.path)
        except ExploraCoderError:
            return
        self._cells = list(content.get("cells", ()))
        self.revision = _revision_in(dict(content.get("metadata", {})).get(_KEY))


def merged(made: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    """The cells of ours in their order, with a person's own where they stood."""
    follow: dict[str, list[Any]] = {}
    typed: dict[str, str] = {}
    before = ""
    for cell in found:
        if _is_ours(cell):
            before = str(cell.get("id"))
            typed[before] = str(cell.get("source", ""))
        else:
            follow.setdefault(before, []).append(cell)
    return list(_joined(made, follow, typed))


def _joined(
    made: Sequence[Any], follow: dict[str, list[Any]], typed: dict[str, str]
) -> Iterator[Any]:
    ids = {cell["id"] for cell in made}
    yield from follow.get("", ())
    for cell in made:
        if not cell["source"] and typed.get(cell["id"]):
            cell["source"] = typed[cell["id"]]
        yield cell
        yield from follow.get(cell["id"], ())
    for id_, cells in follow.items():
        # Their subtask was deleted.
        if id_ and id_ not in ids:
            yield from cells


def _revision_in(metadata: Any) -> int:
    revision = metadata.get(document.REVISION_KEY) if isinstance(metadata, dict) else None
    if not isinstance(revision, int) or isinstance(revision, bool):
        return 0
    return revision if 0 <= revision < _MOST_REVISIONS else 0


def _is_ours(cell: Any) -> bool:
    metadata = cell.get("metadata", {})
    return isinstance(metadata, dict) and isinstance(metadata.get(_KEY), dict)


async def _content(services: Services, path: str) -> Any:
    try:
        model = await ensure_async(
            services.contents.get(path, type="notebook", content=True, format="json")
        )
    except HTTPError as error:
        if error.status_code == 404:
            raise UnknownError(f"There is no notebook {path!r}.") from error
        raise InputError(f"{path!r} cannot be read: {_reason(error)}.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path!r} cannot be read: {error}.") from error
    return model["content"]


def _reason(error: HTTPError | OSError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error.log_message or error.reason or error.status_code).rstrip(".")


def _plain(value: Any) -> Any:
    """A notebook's node as plain dicts and lists."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
