"""What requests say: the contents of Jupyter's messages, and of ours about branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from exploracoder_kernel.limits import Limits
from exploracoder_kernel.parcels import Entry

METADATA_KEY = "exploracoder"


class BadRequest(Exception):  # noqa: N818  # an answer
    """A request lacks something, or says it in the wrong form; ``str()`` says what."""


class Standard(BaseModel):
    """A content of the Jupyter protocol: fields of later versions are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Execute(Standard):
    """``execute_request``."""

    code: str
    silent: bool = False
    store_history: bool | None = None
    user_expressions: dict[str, str] = {}
    allow_stdin: bool = False
    stop_on_error: bool = True


class Complete(Standard):
    """``complete_request``; the cursor counts characters."""

    code: str
    cursor_pos: int | None = Field(default=None, ge=0)

    @property
    def cursor(self) -> int:
        """The cursor, within the code; at its end when none was named."""
        return len(self.code) if self.cursor_pos is None else min(self.cursor_pos, len(self.code))


class Inspect(Complete):
    """``inspect_request``."""

    detail_level: Literal[0, 1] = 0


class IsComplete(Standard):
    """``is_complete_request``."""

    code: str


class HistoryRequest(Standard):
    """``history_request``."""

    hist_access_type: Literal["range", "tail", "search"]
    output: bool = False
    session: int = 0
    start: int | None = None
    stop: int | None = None
    n: int | None = None
    pattern: str | None = None
    unique: bool = False


class CommInfo(Standard):
    """``comm_info_request``."""

    target_name: str | None = None


class Shutdown(Standard):
    """``shutdown_request``."""

    restart: bool = False


class Empty(Standard):
    """A request that says nothing but its name."""


class Comm(BaseModel):
    """``comm_open``, ``comm_msg`` or ``comm_close``: passed on as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")

    comm_id: str
    target_name: str = ""


class Ours(BaseModel):
    """A content of our own requests: a field that is not known is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AnyBranch(Ours):
    """``exploracoder_variables_request``: of the current branch, if none is named."""

    branch: str | None = None


class Fork(AnyBranch):
    """``exploracoder_fork_request``: ``goal`` says what the new branch is for."""

    goal: str = ""


class OneBranch(AnyBranch):
    """``exploracoder_promote_request``, ``…_go_to_request``."""

    branch: str


class Drop(OneBranch):
    """``exploracoder_drop_request``; ``even_current``: its parent is current then."""

    even_current: bool = False


class Bind(Ours):
    """``exploracoder_bind_request``: from which branch the cell of each subtask starts.

    It takes the place of what was said before.
    """

    cells: dict[str, str]


class Chunk(Ours):
    """``exploracoder_parcel_request``: the next bytes of a parcel, as base64.

    ``offset`` says how many came before; the parcel's name is of the sender's choice.
    """

    parcel: str = Field(min_length=1, max_length=100)
    offset: int = Field(ge=0)
    data: str


class Unpack(OneBranch):
    """``exploracoder_unpack_request``: take a parcel that has come in whole into a branch."""

    parcel: str
    entries: tuple[Entry, ...]
    paths: tuple[str, ...]
    prefix: str


class Resolve(AnyBranch):
    """``exploracoder_resolve_request``: dotted names."""

    names: list[str]


class InspectName(AnyBranch):
    """``exploracoder_inspect_request``: a dotted name."""

    name: str


class TreeRequest(Ours):
    """``exploracoder_list_request``; ``measure`` looks how much memory each branch holds now."""

    measure: bool = True


class Wishes(Standard):
    """What ``metadata["exploracoder"]`` of a request asks for.

    A notebook sends its cell's own metadata along, which may hold other things under this key.

    Attributes:
        branch: Where to run or ask; the current branch, if none is named.
        limits: Limits of the run.
        observe: The reply's metadata shall carry the Observation. The cell then runs as the
            engine's do: its outputs are published when it has ended, its tracebacks are plain.
        subtask: Whose cell it is, in the notebook of an exploration.
    """

    branch: str | None = None
    limits: Limits | None = None
    observe: bool = False
    subtask: str | None = None

    @field_validator("subtask", mode="before")
    @classmethod
    def _only_text(cls, given: object) -> object:
        """Nobody sends this: it is the cell's own, and whatever stands there, the cell may run."""
        return given if isinstance(given, str) else None


T = TypeVar("T", bound=BaseModel)


def read(model: type[T], content: Mapping[str, Any]) -> T:
    """A content as a value.

    Raises:
        BadRequest: It does not have the form.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(_problem(item) for item in error.errors())
        raise BadRequest(f"The request can't be read: {problems}.") from error


def wishes(metadata: Mapping[str, Any]) -> Wishes:
    """What a request's metadata asks of us.

    Raises:
        BadRequest: It does not have the form.
    """
    return read(Wishes, metadata.get(METADATA_KEY) or {})


def _problem(item: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in item["loc"])
    return f"{place or 'content'}: {str(item['msg'])[:1].lower()}{str(item['msg'])[1:]}"
