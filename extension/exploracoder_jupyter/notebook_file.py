"""How the server writes an exploration's notebook: through the contents manager, or, if people
have it open together, into their shared document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exploracoder import document
from exploracoder.errors import ExploraCoderError, InputError, SetupError
from exploracoder.merging import chosen_kernel, merged, with_ids, with_others
from exploracoder.state import Exploration
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from exploracoder_jupyter.errors import UnknownError
from exploracoder_jupyter.services import Services

_KEY = document.METADATA_KEY
# The tabs' own record of what their notebook has merged from others.
_MERGE_KEY = "exploracoder_merge"
_MOST_REVISIONS = 2**53


@dataclass(frozen=True, slots=True)
class SavedExploration:
    """What a notebook holds; ``revision`` is 0 if it is missing or implausible."""

    exploration: Exploration
    revision: int


@dataclass(frozen=True, slots=True)
class WrittenNotebook:
    """The file as written: the contents manager's model, without content, and all cells."""

    model: Mapping[str, Any]
    cells: Sequence[Any]


async def load(services: Services, path: str) -> SavedExploration:
    """Load the exploration in a notebook.

    Raises UnknownError when there is no notebook, InputError when it is damaged or no exploration.
    """
    content = await _content(services, path)
    metadata = dict(content.get("metadata", {})).get(_KEY)
    metadata = _plain(metadata)
    exploration = document.from_metadata(metadata, repr(path))
    return SavedExploration(exploration, _revision_in(metadata))


def id_of(content: Mapping[str, Any]) -> str:
    """The id of the exploration in a notebook. Raises InputError when it is not a notebook."""
    metadata, cells = content.get("metadata"), content.get("cells")
    are_cells = isinstance(cells, list) and all(map(_is_cell, cells))
    if not isinstance(metadata, dict) or not are_cells:
        raise InputError("What was sent is not a notebook.")
    ours = metadata.get(_KEY)
    return str(ours.get("id", "")) if isinstance(ours, dict) else ""


def _is_cell(cell: Any) -> bool:
    return (
        isinstance(cell, dict)
        and isinstance(cell.get("id"), str)
        and isinstance(cell.get("source"), str | list)
        and isinstance(cell.get("metadata", {}), dict)
    )


class NotebookFile:
    """Writes one exploration's notebook; ``revision`` is the last one known to be in the file."""

    def __init__(self, services: Services, path: str) -> None:
        self._services = services
        self.path = path
        self.revision = 0
        self._last_modified: Any = None
        self._cells: Sequence[Any] = ()
        self._metadata: Mapping[str, Any] = {}
        self._sources: Mapping[str, str] | None = {}
        self._seen_ids: set[str] = set()

    async def write(self, exploration: Exploration, revision: int) -> None:
        """Bring the file up to date. Raises SetupError when it cannot be written."""
        room = await self._services.rooms.find(self.path)
        if room is not None:
            notebook = document.to_notebook(exploration, revision)
            sources = _code_of(notebook)
            before = self._sources if self.revision else _sources_of(room.metadata.get(_KEY))
            room.update(
                lambda cells: _plain(merged(notebook["cells"], cells, before)),
                {_KEY: _plain(notebook["metadata"][_KEY])},
            )
            self._sources, self.revision = sources, revision
        elif not await self._has_changed() or self.revision != revision:
            await self._put(exploration, revision, self._cells)

    async def take(
        self,
        notebook: Mapping[str, Any],
        base: Mapping[str, str],
        exploration: Exploration,
        revision: int,
    ) -> WrittenNotebook:
        """Write a tab's version of the notebook, merged with what others have written meanwhile.

        Args:
            notebook: The notebook in the tab.
            base: The file's cells as the tab last knew them; see `merging.with_others`.
            exploration: The exploration as it is now.
            revision: Its revision.

        Raises SetupError when the file cannot be written.
        """
        await self._has_changed()
        cells = with_others(
            notebook["cells"], self._cells, base, seen_ids=self._seen_ids, before=self._sources
        )
        own = notebook["metadata"]
        self._metadata = {key: own[key] for key in own if key != _MERGE_KEY}
        return await self._put(exploration, revision, cells)

    async def _put(
        self, exploration: Exploration, revision: int, cells: Sequence[Any]
    ) -> WrittenNotebook:
        notebook = document.to_notebook(exploration, revision)
        sources = _code_of(notebook)
        notebook["cells"] = merged(notebook["cells"], cells, self._sources)
        notebook["metadata"] = {
            **self._metadata,
            **notebook["metadata"],
            **chosen_kernel(self._metadata),
        }
        model = {"type": "notebook", "format": "json", "content": notebook}
        try:
            saved_model = await ensure_async(self._services.contents.save(model, self.path))
        except (HTTPError, OSError) as error:
            raise SetupError(
                f"{self.path!r} cannot be written: {_reason(error)}. Nothing is lost: the server"
                " keeps the exploration, and writes it with the next step."
            ) from error
        self._last_modified, self._cells = saved_model["last_modified"], notebook["cells"]
        self._seen_ids |= {cell["id"] for cell in notebook["cells"]}
        self._sources, self.revision = sources, revision
        return WrittenNotebook(saved_model, notebook["cells"])

    async def _has_changed(self) -> bool:
        """Whether somebody else has written the file; if so, read it."""
        try:
            model = await ensure_async(self._services.contents.get(self.path, content=False))
        except (HTTPError, OSError):
            return False
        if model["last_modified"] == self._last_modified:
            return False
        await self._read()
        self._last_modified = model["last_modified"]
        return True

    async def _read(self) -> None:
        """Read what somebody else has written; a broken file is later rewritten with the last known
        cells."""
        self.revision = 0
        try:
            content = await _content(self._services, self.path)
        except ExploraCoderError:
            return
        self._cells = with_ids(content.get("cells", ()))
        self._seen_ids |= {cell["id"] for cell in self._cells}
        self._metadata = _plain(dict(content.get("metadata", {})))
        metadata = self._metadata.get(_KEY)
        self.revision = _revision_in(metadata)
        self._sources = _sources_of(metadata)


def _code_of(notebook: Any) -> dict[str, str]:
    """The sources of a notebook's cells by id."""
    return {cell["id"]: str(cell["source"]) for cell in notebook["cells"]}


def _sources_of(metadata: Any) -> Mapping[str, str] | None:
    """The code of our cells by id, from a notebook's metadata; None if that is damaged."""
    try:
        cells = document.cells(document.from_metadata(metadata, "the notebook"))
    except ExploraCoderError:
        return None
    return {cell["id"]: str(cell["source"]) for cell in cells if cell["cell_type"] == "code"}


def _revision_in(metadata: Any) -> int:
    revision = metadata.get(document.REVISION_KEY) if isinstance(metadata, dict) else None
    if not isinstance(revision, int) or isinstance(revision, bool):
        return 0
    return revision if 0 <= revision < _MOST_REVISIONS else 0


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
    """A notebook node as plain dicts and lists."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
