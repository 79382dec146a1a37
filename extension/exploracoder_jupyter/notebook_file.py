"""An exploration's notebook as the server writes it, through the contents manager.

What a person has put into the notebook stays: cells that are not ours keep their place behind the
cell of ours that they follow, and what was typed into a cell of ours and never run is not lost.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from exploracoder import document
from exploracoder.errors import ExploraCoderError, InputError, SetupError
from exploracoder.state import Exploration
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from exploracoder_jupyter.errors import UnknownError
from exploracoder_jupyter.services import Services

_KEY = document.METADATA_KEY
# What a tab last wrote into a cell, by fingerprint.
_WRITTEN_KEY = "exploracoder_written"
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
        self._sources: Mapping[str, str] | None = {}

    async def write(self, exploration: Exploration, revision: int) -> None:
        """Bring the file up to date. Raises SetupError when it cannot be written."""
        here = await self._here()
        if here is not None and here != self._written:
            await self._read()
            if self.revision == revision:
                self._written = here
                return
        made = document.to_notebook(exploration, revision)
        sources = {cell["id"]: str(cell["source"]) for cell in made["cells"]}
        made["cells"] = merged(made["cells"], self._cells, self._sources)
        model = {"type": "notebook", "format": "json", "content": made}
        try:
            saved = await ensure_async(self._services.contents.save(model, self.path))
        except (HTTPError, OSError) as error:
            raise SetupError(
                f"{self.path!r} cannot be written: {_reason(error)}. Nothing is lost: the server"
                " keeps the exploration, and writes it with the next step."
            ) from error
        self._written, self._cells = saved["last_modified"], made["cells"]
        self._sources = sources
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
        self._cells, self._sources, self.revision = (), {}, 0
        try:
            content = await _content(self._services, self.path)
        except ExploraCoderError:
            return
        self._cells = list(content.get("cells", ()))
        metadata = _plain(dict(content.get("metadata", {})).get(_KEY))
        self.revision = _revision_in(metadata)
        self._sources = _sources_of(metadata)


def merged(
    made: Sequence[Any], found: Sequence[Any], before: Mapping[str, str] | None = None
) -> list[Any]:
    """The cells of ours in their order, with a person's own where they stood.

    ``before`` has by id the code with which our cells were written last: what differs from it was
    typed there since. It stays in its cell; where that has other code by now, it follows in a cell
    of its own. None: nobody knows, and what stands in a cell that is empty now is kept.
    """
    ours = {cell["id"] for cell in made} | (before or {}).keys()
    follow: dict[str, list[Any]] = {}
    typed: dict[str, Any] = {}
    above = ""
    for cell in found:
        id_ = str(cell.get("id"))
        if _is_marked(cell) and (id_ in ours or before is None):
            above = id_
            if _is_typed(cell, before):
                typed[id_] = cell
        else:
            follow.setdefault(above, []).append(cell)
    return list(_joined(made, follow, typed, before or {}))


def _joined(
    made: Sequence[Any],
    follow: dict[str, list[Any]],
    typed: dict[str, Any],
    before: Mapping[str, str],
) -> Iterator[Any]:
    ids = {cell["id"] for cell in made}
    yield from follow.get("", ())
    for cell in made:
        edit = typed.pop(cell["id"], None)
        if edit is not None and cell["source"] in ("", before.get(cell["id"])):
            cell["source"] = edit["source"]
        yield cell
        if edit is not None and edit["source"].rstrip() != cell["source"].rstrip():
            yield _as_own(edit)
        yield from follow.get(cell["id"], ())
    # Their subtasks were deleted.
    yield from map(_as_own, typed.values())
    for id_, cells in follow.items():
        if id_ and id_ not in ids:
            yield from cells


def _is_typed(cell: Any, before: Mapping[str, str] | None) -> bool:
    """Whether a cell of ours holds what neither the server nor a tab has written there."""
    source = str(cell.get("source", ""))
    # Headings are written as this version writes them, and may differ from another one's.
    if cell.get("cell_type") != "code" or not source.strip():
        return False
    if before is not None and source.rstrip() == before.get(str(cell.get("id")), "").rstrip():
        return False
    written = cell.get("metadata", {}).get(_WRITTEN_KEY)
    return not isinstance(written, dict) or written.get("source") != fingerprint(source)


def _as_own(cell: Any) -> Any:
    """What was typed into a cell of ours, as a cell of the person's."""
    own = {"id": uuid4().hex[:12], "metadata": {}, "source": cell["source"]}
    return {"cell_type": "code", **own, "outputs": [], "execution_count": None}


def fingerprint(text: str) -> str:
    """The name that tabs give a text that they write (FNV-1a of its UTF-16, 32 bits)."""
    units = array("H", text.encode("utf-16-le", "surrogatepass"))
    value = 0x811C9DC5
    for unit in units:
        value = (value ^ unit) * 0x01000193 & 0xFFFFFFFF
    return f"{_base36(len(units))}-{_base36(value)}"


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def _sources_of(metadata: Any) -> Mapping[str, str] | None:
    """The code of our cells by id, in a notebook with this exploration; None when it is damaged."""
    try:
        made = document.to_notebook(document.from_metadata(metadata, "the notebook"), 0)
    except ExploraCoderError:
        return None
    return {cell["id"]: str(cell["source"]) for cell in made["cells"]}


def _revision_in(metadata: Any) -> int:
    revision = metadata.get(document.REVISION_KEY) if isinstance(metadata, dict) else None
    if not isinstance(revision, int) or isinstance(revision, bool):
        return 0
    return revision if 0 <= revision < _MOST_REVISIONS else 0


def _is_marked(cell: Any) -> bool:
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
