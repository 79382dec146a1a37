"""The protocol between the server and the sidebar; the TypeScript types are generated from it.

Everything is under ``<base URL>/exploracoder/api/``. Errors are ``{"message": …, "parts": …}``, a
sentence and the parts that a page translates it from (`TextParts`), with a status: 400 for an
unreadable or unusable request, 404 for an unknown id, 409 for a command that the exploration
cannot take now, 413 for a request that is too large, 503 when the model or kernel is missing.

| method and path | body | answer |
| --- | --- | --- |
| ``GET status`` | | `ServerStatus` |
| ``GET models`` | | `Models`: the available models; looks for servers on this machine |
| ``GET models/pull`` | | `EmbeddedModel`: the progress of its download |
| ``POST models/pull`` | | 202, `EmbeddedModel`: start or continue its download |
| ``DELETE models/pull`` | | `EmbeddedModel`: end its download; what was fetched stays |
| ``GET libraries?kernel_name=…`` | | `Libraries`: what that kernel's Python has installed |
| ``POST libraries`` | `IndexRequest` | `IndexedLibrary`; progress comes as events |
| ``GET search?query=…&libraries=a,b&k=10`` | | `SearchResults` |
| ``POST docs`` | `DocRequest` | `DocPage`: docs parsed for display |
| ``POST lookups`` | `LibraryLookup` | `LookupAnswer`; progress comes as events |
| ``POST suggestions`` | `SuggestionRequest` | `Suggestions` for a task that is being written |
| ``GET explorations`` | | `Explorations`: open and past, newest first |
| ``POST explorations`` | `NewExploration` | 201, `OpenExploration` |
| ``POST explorations/open`` | `OpenRequest` | `OpenExploration`: resume one from its notebook;
409, `Untrusted` for one that was not made here, until the user agrees to it; 409, `ModelGone` |
| ``POST explorations/replay`` | `OpenRequest` | `Replayed`; 409, `Untrusted` as above |
| ``GET explorations/<id>`` | | `OpenExploration` |
| ``DELETE explorations/<id>`` | | 204: its kernel ends; its notebook stays |
| ``POST explorations/<id>/command?revision=R`` | `Command` | 202, `Accepted`; 409 also when its
subtask has changed since revision R |
| ``POST explorations/<id>/lookups`` | `Lookup` | `LookupAnswer`, from its libraries |
| ``PUT notebook`` | `NotebookSave` | `SavedNotebook`: a tab's notebook, merged with the file;
409 when the file at that path belongs to another exploration |
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
from exploracoder_retrieval.repotools.user_lookups import LookupKind
from pydantic import Field

Text = Annotated[str, Field(max_length=MAX_CODE_CHARS)]
# A line or two: queries are not whole files.
MAX_LOOKUP_CHARS = 2_000
MAX_STREAM_CHARS = 8_000
Name = Annotated[str, Field(min_length=1, max_length=500)]


class EmbeddedModel(State):
    """The embedded model: ``is_there`` when it can be used; ``done_bytes`` is its size on disk.

    While it ``is_pulling``, ``note`` describes the stage; ``error`` says why the last one failed.
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
    """The available models: the ``embedded`` one, and those of ``servers`` on this machine."""

    embedded: EmbeddedModel
    servers: tuple[LocalServer, ...]


class ServerStatus(State):
    """What the server would work with; ``model_error`` says what is missing, and what to do.

    ``number`` is that of the last event. ``model`` is used where none is chosen, at ``model_url``
    unless it ``is_embedded``. Tabs can open the files below ``roots``, absolute paths of one
    folder, and hidden ones if ``shows_hidden``.
    """

    version: str
    epoch: str
    number: int
    model: str
    model_url: str
    model_error: str = ""
    is_embedded: bool
    embedded: EmbeddedModel
    sandbox: str
    is_sandboxed: bool
    profiles: dict[str, Settings]
    default_profile: str
    roots: tuple[str, ...]
    shows_hidden: bool


class InstalledLibrary(State):
    """A library installed in a kernel's Python."""

    name: str
    import_name: str
    version: str
    is_indexed: bool = False


class Libraries(State):
    """The libraries installed in ``python``, by name."""

    python: str
    libraries: tuple[InstalledLibrary, ...]


class IndexRequest(State):
    """A library's name, or the path of a folder with its source."""

    target: Name
    kernel_name: str | None = None


class IndexedLibrary(State):
    """A library as it is in the index."""

    target: str
    name: str
    import_name: str
    version: str
    apis: int


class SearchResults(State):
    """ApiDocs, best first."""

    apis: tuple[RankedApi, ...]


class DocRequest(State):
    """An API's name, and its docs as in its `ApiDoc`."""

    name: str
    doc: Annotated[str, Field(max_length=MAX_DOC_CHARS)]


class Lookup(State):
    """A lookup in the source of libraries: ``text`` is a name or, for ``code``, any words."""

    kind: LookupKind
    text: Annotated[str, Field(min_length=1, max_length=MAX_LOOKUP_CHARS)]


class LibraryLookup(Lookup):
    """A lookup in libraries outside any exploration, by name or by the path of a folder."""

    libraries: Annotated[tuple[Name, ...], Field(min_length=1, max_length=20)]
    kernel_name: str | None = None


class LookedUp(State):
    """One class, definition or piece of code.

    ``place`` is its file as shown to people, empty for compiled code; ``file`` is the path of that
    file if it is one of the library's own.
    """

    library: str
    name: str
    text: str
    place: str
    file: str | None = None
    line: int


class LookupAnswer(State):
    """What was found; ``problems`` say why a library has nothing, and what comes close.

    ``left_out`` counts further results. ``skipped`` counts files that could not be read, and so
    were not searched.
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
    """The error that a cell ended with, as reported by its kernel."""

    name: str
    message: str
    traceback: str


class SuggestionRequest(State):
    """The surroundings of a task: a notebook, and the variables of its kernel.

    With ``error``, that of the cell ``cell_id``, the task is to fix it; otherwise that cell is
    where the task is written, and is not one of those that run first.
    """

    task: Annotated[str, Field(max_length=MAX_TASK_CHARS)] = ""
    cells: tuple[SourceCell, ...] = ()
    variables: tuple[Name, ...] = ()
    path: str = ""
    kernel_name: str | None = None
    cell_id: str = ""
    error: CellError | None = None


class Suggestions(State):
    """What a task may bring along: ``bring`` has variables, ``cells`` has cell ids, in order."""

    bring: tuple[str, ...]
    cells: tuple[str, ...]
    libraries: tuple[str, ...]
    task: str = ""


class CellOrigin(State):
    """The cell of the user's notebook that an exploration began in.

    The solution goes below it, or, when it ``is_replaced``, in its place.
    """

    cell_id: Annotated[str, Field(max_length=500)]
    is_replaced: bool = False


class NewExploration(State):
    """What to explore.

    ``path`` is that of the user's notebook, relative to the server's root: the exploration's
    notebook is put beside it. ``kernel_name`` is the user's kernelspec, whose Python is used;
    ``kernel_id`` is the running kernel that variables are brought from.
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
    """An exploration notebook to open, by its path relative to the server's root.

    ``agreed`` is the digest of the preview that the user was shown and agreed to, for a notebook
    that was not made here. ``model`` replaces the one that it was made with.
    """

    path: Name
    agreed: Annotated[str, Field(max_length=200)] = ""
    model: ModelChoice | None = None


class Untrusted(State):
    """A notebook was not made here and has not been run; ``preview`` shows what it would do."""

    message: str
    preview: Preview


class ModelGone(State):
    """The model that an exploration was made with, ``gone``, is no longer available."""

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
    """All explorations, newest first."""

    explorations: tuple[Summary, ...]


class CellsChange(State):
    """A change to the cells of a notebook: apply it to the old ones to get the new ones.

    ``cells`` has those that are new or changed, whole, in nbformat 4.5; ``order`` has all ids if
    their order or number changed.
    """

    cells: tuple[dict[str, Any], ...] = ()
    order: tuple[str, ...] | None = None


class OpenExploration(State):
    """An exploration whose session lives in this server.

    ``number`` is that of the last event that it includes; ``revision`` grows with each change and
    is in the notebook's metadata too; ``kernel_id`` is the sidecar's; ``cells`` are its notebook's;
    ``warning`` says what to know about the solution before using it. ``source_path`` is the
    notebook that it was started from, and ``origin`` the cell.
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
    source_path: str = ""
    origin: CellOrigin | None = None


class NotebookSave(State):
    """An exploration's notebook as a tab has it; ``path`` is relative to the server's root.

    ``base`` has, by id, the fingerprint of each cell when the tab last read or saved the file; see
    `merging.state_of`.
    """

    path: Name
    content: dict[str, Any]
    base: dict[str, str] = Field(default_factory=dict)


class SavedNotebook(State):
    """What is in the file now: ``change`` turns the notebook that the tab sent into it."""

    path: str
    created: str
    last_modified: str
    writable: bool
    size: int | None
    change: CellsChange


class Accepted(State):
    """The command was accepted: its effects arrive as events."""

    number: int


class Replayed(State):
    """The results of rerunning the accepted cells, and the libraries whose version differs."""

    path: str
    versions: tuple[VersionChange, ...]
    cells: tuple[ReplayedCell, ...]


class ExplorationEvent(State):
    """An exploration changed, was opened or was closed; ``kernel_id`` is its sidecar's."""

    kind: Literal["exploration"] = "exploration"
    number: int
    id: str
    revision: int
    path: str
    kernel_id: str
    state: Literal["open", "changed", "closed"] = "changed"
    change: Change
    cells: CellsChange = CellsChange()
    warning: str = ""


class LibraryEvent(State):
    """The progress of indexing or reading a library."""

    kind: Literal["library"] = "library"
    number: int
    target: str
    message: str = ""
    is_done: bool = False
    error: str = ""


class StreamEvent(State):
    """What the model has written so far in a reply that is still arriving, at most its last
    `MAX_STREAM_CHARS` characters.

    It has no number and is not kept: its outcome is an `ExplorationEvent`. ``part`` is as in
    `Progress`; ``seconds`` is how long the reply has been arriving.
    """

    kind: Literal["stream"] = "stream"
    id: str
    part: str
    text: str
    seconds: float


class ResetEvent(State):
    """The missed events are no longer kept, or the server has restarted: ask for everything
    again."""

    kind: Literal["reset"] = "reset"
    number: int
    epoch: str


Event = Annotated[ExplorationEvent | LibraryEvent | ResetEvent, Field(discriminator="kind")]


ServerMessage = Annotated[
    ExplorationEvent | LibraryEvent | StreamEvent | ResetEvent, Field(discriminator="kind")
]

__all__ = ["Command", "DocPage", "Event", "ServerMessage"]
