"""What travels between the server and the sidebar; the TypeScript types are made from it.

Everything is under ``<base URL>/exploracoder/api/``. Errors are ``{"message": …, "parts": …}``, a
sentence and what a page translates it from (`TextParts`), with a fitting status: 400 for what
cannot be read or used, 404 for an id that is not there, 409 for a command that the exploration
cannot take now, 413 for what is too large, 503 when the model or kernel is missing.

| method and path | body | answer |
| --- | --- | --- |
| ``GET status`` | | `ServerStatus` |
| ``GET models`` | | `Models`: what can be asked; looks for servers on this machine |
| ``GET models/pull`` | | `EmbeddedModel`: how far its download is |
| ``POST models/pull`` | | 202, `EmbeddedModel`: fetch it, or go on with that |
| ``DELETE models/pull`` | | `EmbeddedModel`: the download ends; what was fetched stays |
| ``GET libraries?kernel_name=…`` | | `Libraries`: what that kernel's Python has installed |
| ``POST libraries`` | `IndexRequest` | `IndexedLibrary`; progress comes as events |
| ``GET search?query=…&libraries=a,b&k=10`` | | `SearchResults` |
| ``POST docs`` | `DocRequest` | `DocPage`: docs taken apart, as they are shown |
| ``POST lookups`` | `LibraryLookup` | `LookupAnswer`; progress comes as events |
| ``POST suggestions`` | `SuggestionRequest` | `Suggestions` for a task that is being written |
| ``GET explorations`` | | `Explorations`: open ones and past ones, newest first |
| ``POST explorations`` | `NewExploration` | 201, `OpenExploration` |
| ``POST explorations/open`` | `OpenRequest` | `OpenExploration`: resume one from its notebook;
409, `Untrusted` for one that was not made here, until it is agreed to; 409, `ModelGone` |
| ``POST explorations/replay`` | `OpenRequest` | `Replayed`; 409, `Untrusted` as above |
| ``GET explorations/<id>`` | | `OpenExploration` |
| ``DELETE explorations/<id>`` | | 204: its kernel ends; its notebook stays |
| ``POST explorations/<id>/command?revision=R`` | `Command` | 202, `Accepted`; 409 when its subtask
has changed since revision R, too |
| ``POST explorations/<id>/lookups`` | `Lookup` | `LookupAnswer`, of its libraries |
| ``PUT notebook`` | `NotebookSave` | `SavedNotebook`: a tab's notebook, merged with the file;
409 when the file at that path is not the same exploration's |
| ``GET explorations/<id>/export?format=py`` | | a download: ``py``, ``md``, ``ipynb`` |
| ``WebSocket events?epoch=…&after=N`` | | `Event`s after number N |
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from exploracoder.commands import MAX_CODE_CHARS, Command, Mode
from exploracoder.events import Abilities, Change, Progress
from exploracoder.models.discovery import LocalServer
from exploracoder.models.model_choice import ModelChoice
from exploracoder.replay import ReplayedCell, VersionChange
from exploracoder.settings import Settings
from exploracoder.state import Exploration, RankedApi, State
from exploracoder.tasks import MAX_TASK_CHARS
from exploracoder.trust import Preview
from exploracoder_retrieval.docpage import MAX_DOC_CHARS, DocPage
from exploracoder_retrieval.repotools.typed_lookups import LookupKind
from pydantic import Field

Text = Annotated[str, Field(max_length=MAX_CODE_CHARS)]
# A line or two; what is searched for is no file.
MAX_LOOKUP_CHARS = 2_000
MAX_STREAM_CHARS = 8_000
Name = Annotated[str, Field(min_length=1, max_length=500)]


class EmbeddedModel(State):
    """The embedded model: ``is_there`` when it can be used, ``done_bytes`` what lies on disk of it.

    While it ``is_pulling``, ``note`` says what takes a turn; ``error`` why the last download ended.
    """

    name: str
    license: str
    size_bytes: int
    is_there: bool
    is_pulling: bool = False
    done_bytes: int = 0
    note: str = ""
    error: str = ""


class Models(State):
    """What can be asked: the ``embedded`` model, and what ``servers`` of this machine have."""

    embedded: EmbeddedModel
    servers: tuple[LocalServer, ...]


class ServerStatus(State):
    """What the server would work with; ``model_error`` says what is missing, and what to do.

    ``model`` is asked where none was chosen, at ``model_url`` unless it ``is_embedded``.
    """

    version: str
    epoch: str
    model: str
    model_url: str
    model_error: str = ""
    is_embedded: bool
    embedded: EmbeddedModel
    sandbox: str
    is_sandboxed: bool
    profiles: dict[str, Settings]
    default_profile: str


class InstalledLibrary(State):
    """A library that a kernel's Python has."""

    name: str
    import_name: str
    version: str
    is_indexed: bool = False


class Libraries(State):
    """All of them, by name."""

    python: str
    libraries: tuple[InstalledLibrary, ...]


class IndexRequest(State):
    """A library's name, or the path of a folder with its source."""

    target: Name
    kernel_name: str | None = None


class IndexedLibrary(State):
    """What the index holds of a library."""

    target: str
    name: str
    import_name: str
    version: str
    apis: int


class SearchResults(State):
    """ApiDocs, best first."""

    apis: tuple[RankedApi, ...]


class DocRequest(State):
    """The docs of an API, as its `ApiDoc` has them, and its name."""

    name: str
    doc: Annotated[str, Field(max_length=MAX_DOC_CHARS)]


class Lookup(State):
    """A question to the source of libraries: ``text`` is a name, for ``code`` any words."""

    kind: LookupKind
    text: Annotated[str, Field(min_length=1, max_length=MAX_LOOKUP_CHARS)]


class LibraryLookup(Lookup):
    """The same of libraries that no exploration has yet, by name or by the path of a folder."""

    libraries: Annotated[tuple[Name, ...], Field(min_length=1, max_length=20)]
    kernel_name: str | None = None


class LookedUp(State):
    """One class, definition or piece of code.

    ``place`` is its file as people read it, empty for what is compiled; ``file`` is that file's
    path, when it is one of the library's own.
    """

    library: str
    name: str
    text: str
    place: str
    file: str | None = None
    line: int


class LookupAnswer(State):
    """What was found; ``problems`` say of each library that has nothing why, and what is near.

    ``left_out`` counts what more there is. ``skipped`` are files that could not be read, and so not
    be looked into.
    """

    found: tuple[LookedUp, ...]
    left_out: int = 0
    problems: tuple[str, ...] = ()
    skipped: int = 0


class SourceCell(State):
    """A code cell of the user's notebook."""

    id: Annotated[str, Field(max_length=500)]
    source: str


class CellError(State):
    """What a cell ended with, as its kernel says it."""

    name: str
    message: str
    traceback: str


class SuggestionRequest(State):
    """What a task is written beside: a notebook, and the data that its kernel holds.

    With ``error``, that of the cell ``cell_id``, the task is to mend it; else that cell is where
    the task is written, and is none of those that run first.
    """

    task: Annotated[str, Field(max_length=MAX_TASK_CHARS)] = ""
    cells: tuple[SourceCell, ...] = ()
    variables: tuple[Name, ...] = ()
    path: str = ""
    kernel_name: str | None = None
    cell_id: str = ""
    error: CellError | None = None


class Suggestions(State):
    """What a task may take with it: ``bring`` are variables, ``cells`` ids, in their order."""

    bring: tuple[str, ...]
    cells: tuple[str, ...]
    libraries: tuple[str, ...]
    task: str = ""


class CellOrigin(State):
    """The cell of the user's notebook that an exploration began in.

    The solution stands below it, or, when it ``is_replaced``, in its place.
    """

    cell_id: Annotated[str, Field(max_length=500)]
    is_replaced: bool = False


class NewExploration(State):
    """What to explore.

    ``path`` is that of the user's notebook, relative to the server's root: the exploration's
    notebook is put beside it. ``kernel_name`` is the user's kernelspec, whose Python is used;
    ``kernel_id`` a running kernel that variables come from.
    """

    task: Annotated[str, Field(max_length=MAX_TASK_CHARS)]
    libraries: Annotated[tuple[Name, ...], Field(max_length=20)]
    context: Text = ""
    check: Text = ""
    path: str = ""
    kernel_name: str | None = None
    kernel_id: str | None = None
    bring: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    origin: CellOrigin | None = None
    mode: Mode = "review"
    model: ModelChoice = ModelChoice()
    profile: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)


class OpenRequest(State):
    """An exploration notebook, relative to the server's root.

    ``agreed`` is the digest of the preview that the user was shown and agreed to, for a notebook
    that was not made here. ``model`` takes the place of the one that it was made with.
    """

    path: Name
    agreed: Annotated[str, Field(max_length=200)] = ""
    model: ModelChoice | None = None


class Untrusted(State):
    """A notebook was not made here, and nothing of it was run: what it would run and read."""

    message: str
    preview: Preview


class ModelGone(State):
    """The model that an exploration was made with is not there any more, and which that is."""

    message: str
    gone: ModelChoice


class Summary(State):
    """An exploration in a list: ``is_open`` when its session lives in this server."""

    id: str
    path: str
    task: str
    status: str
    created: str
    steps: int
    done: int
    libraries: tuple[str, ...] = ()
    is_open: bool
    progress: Progress | None = None


class Explorations(State):
    """Newest first."""

    explorations: tuple[Summary, ...]


class CellsChange(State):
    """What has changed in the cells of a notebook: apply it to get the new ones.

    ``cells`` are those that are new or changed, whole, in nbformat 4.5; ``order`` has the ids of
    all when their order or number changed.
    """

    cells: tuple[dict[str, Any], ...] = ()
    order: tuple[str, ...] | None = None


class OpenExploration(State):
    """An exploration whose session lives in this server.

    ``number`` is that of the last event that it includes; ``revision`` grows with each change and
    is in the notebook's metadata too; ``kernel_id`` is the sidecar's; ``cells`` are its notebook's;
    ``warning`` is what the solution does that who takes it over should know.
    """

    exploration: Exploration
    path: str
    kernel_id: str
    revision: int
    progress: Progress
    abilities: Abilities
    number: int
    epoch: str
    cells: tuple[dict[str, Any], ...] = ()
    resumed: bool = False
    warning: str = ""
    origin: CellOrigin | None = None


class NotebookSave(State):
    """An exploration's notebook as a tab has it, relative to the server's root.

    ``base`` says of each cell by id how it was when the tab read or saved the file last: a
    fingerprint of its execution count and source.
    """

    path: Name
    content: dict[str, Any]
    base: dict[str, str] = Field(default_factory=dict)


class SavedNotebook(State):
    """What is in the file now: ``change`` makes it of the notebook that the tab has sent."""

    path: str
    created: str
    last_modified: str
    writable: bool
    size: int | None
    change: CellsChange


class Accepted(State):
    """The command was taken: its effects come as events."""

    number: int


class Replayed(State):
    """What running the accepted cells again showed, and which libraries have another version."""

    path: str
    versions: tuple[VersionChange, ...]
    cells: tuple[ReplayedCell, ...]


class ExplorationEvent(State):
    """An exploration changed, was opened or was closed."""

    kind: Literal["exploration"] = "exploration"
    number: int
    id: str
    revision: int
    path: str
    state: Literal["open", "changed", "closed"] = "changed"
    change: Change
    cells: CellsChange = CellsChange()
    warning: str = ""


class LibraryEvent(State):
    """How far a library's index is."""

    kind: Literal["library"] = "library"
    number: int
    target: str
    message: str = ""
    is_done: bool = False
    error: str = ""


class StreamEvent(State):
    """What the model has written so far in a reply that is still coming, at most its last
    `MAX_STREAM_CHARS` characters.

    It has no number and is not kept: what comes of it is an `ExplorationEvent`. ``part`` is as in
    `Progress`; ``seconds`` is how long the reply has been coming.
    """

    kind: Literal["stream"] = "stream"
    id: str
    part: str
    text: str
    seconds: float


class ResetEvent(State):
    """Events were missed that are not kept any more, or the server is another: ask for everything
    again."""

    kind: Literal["reset"] = "reset"
    number: int
    epoch: str


Event = Annotated[ExplorationEvent | LibraryEvent | ResetEvent, Field(discriminator="kind")]


ServerMessage = Annotated[
    ExplorationEvent | LibraryEvent | StreamEvent | ResetEvent, Field(discriminator="kind")
]

__all__ = ["Command", "DocPage", "Event", "ServerMessage"]
