"""The contents of requests: cells, and the options in their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from exploracoder_kernel.run_limits import Limits

METADATA_KEY = "exploracoder"

Message = dict[str, Any]
Content = dict[str, Any]


class BadRequest(Exception):  # noqa: N818  # an answer
    """A request is incomplete or malformed; ``str()`` says how."""


@dataclass(frozen=True, slots=True)
class Request:
    """A front end's message, and its routing identity on the channel that it came on."""

    message: Message
    ident: list[bytes]


class ExecuteRequest(BaseModel):
    """``execute_request``: fields of later versions of the protocol are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    code: str
    silent: bool = False
    store_history: bool | None = None
    user_expressions: dict[str, str] = {}
    allow_stdin: bool = False
    stop_on_error: bool = True

    @property
    def is_stored(self) -> bool:
        """Whether the cell is counted and kept in the history."""
        return not self.silent and self.store_history is not False


class RequestOptions(BaseModel):
    """What ``metadata["exploracoder"]`` of a request asks for.

    A notebook sends its cell's own metadata along, which may hold other things under this key.

    Attributes:
        branch: Where to run or ask; the current branch, if none is named.
        limits: Limits of the run.
        observe: The reply's metadata shall carry the Observation. The cell then runs as the
            engine's do: its outputs are published when it has ended, its tracebacks are plain.
        subtask: Whose cell it is, in the notebook of an exploration.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    branch: str | None = None
    limits: Limits | None = None
    observe: bool = False
    subtask: str | None = None

    @field_validator("subtask", mode="before")
    @classmethod
    def _only_text(cls, value: object) -> object:
        """Ignore other types: the cell's own metadata must not keep it from running."""
        return value if isinstance(value, str) else None


T = TypeVar("T", bound=BaseModel)


def read(model: type[T], content: Mapping[str, Any]) -> T:
    """Validate a request's content.

    Raises:
        BadRequest: It is malformed.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise unreadable(error) from error


def options_of(message: Message) -> RequestOptions:
    """The options in a request's metadata.

    Raises:
        BadRequest: They are malformed.
    """
    return read(RequestOptions, message["metadata"].get(METADATA_KEY) or {})


def unreadable(error: ValidationError) -> BadRequest:
    """The error for a request that fails validation."""
    return BadRequest(f"The request can't be read: {problems_of(error)}.")


def problems_of(error: ValidationError) -> str:
    """What failed validation, and where, in words."""
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg']}"
        for item in error.errors(include_url=False)
    )
