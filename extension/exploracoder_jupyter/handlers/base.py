"""What all handlers share: who may ask, what is read, and how a refusal is worded.

These modules are imported when the server starts, so they import what is slow in functions.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from exploracoder.errors import CommandError, ExploraCoderError, InputError, UntrustedError
from exploracoder_kernel.errors import SidecarError
from exploracoder_retrieval.errors import RetrievalError
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado.web import HTTPError

from exploracoder_jupyter.errors import ModelGoneError, TooLargeError, UnknownError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from exploracoder_jupyter.app import ExploraCoder
    from exploracoder_jupyter.hosting import Host

# What an authorizer of the server is asked about. What has code run is `execute`, of ours and of
# kernels: who may not run cells in this server may not have ours run them either.
AUTH_RESOURCE = "exploracoder"
_KERNELS = "kernels"
MOST_BYTES = 1_000_000

ValueT = TypeVar("ValueT")
Verb = Callable[..., Awaitable[None]]
_REFUSED = (ExploraCoderError, SidecarError, RetrievalError)


class Handler(APIHandler):
    """Reads a request, asks the host, and writes the answer; knows nothing else."""

    auth_resource = AUTH_RESOURCE

    async def host(self) -> Host:
        """The explorations of this server."""
        app: ExploraCoder = self.settings["exploracoder"]
        return await app.host()

    def read_body(self, adapter: Any) -> Any:
        """The body as ``adapter`` (a pydantic model or TypeAdapter) wants it.

        Raises InputError when it is something else, TooLargeError when it is too much.
        """
        from pydantic import TypeAdapter, ValidationError

        if len(self.request.body) > MOST_BYTES:
            raise TooLargeError(
                f"The request has {len(self.request.body)} bytes; at most {MOST_BYTES} are taken."
            )
        reader = adapter if isinstance(adapter, TypeAdapter) else TypeAdapter(adapter)
        try:
            return reader.validate_json(self.request.body)
        except ValidationError as error:
            raise InputError(_faults(error)) from error

    def number(self, name: str, usual: int, *, least: int, most: int) -> int:
        """A number of the query. Raises InputError when it is none."""
        text = self.get_query_argument(name, str(usual))
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise InputError(f"{name} must be a number, not {text[:50]!r}.")
        return min(max(int(text), least), most)

    def answer(self, value: BaseModel, status: int = 200) -> None:
        """Write a value."""
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.finish(value.model_dump_json())

    def refuse(self, status: int, message: str) -> None:
        """Say no, and why."""
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps({"message": message}))

    def write_error(self, status_code: int, **given: Any) -> None:
        """What tornado and Jupyter refuse is said in the same form."""
        error = given.get("exc_info", (None, None, None))[1]
        message = self._reason
        if isinstance(error, HTTPError) and error.log_message and status_code < 500:
            message = str(error.log_message)
        elif status_code >= 500:
            message = "Something went wrong in the server; its log says more."
        self.refuse(status_code, message)


def runs_code(verb: Verb) -> Verb:
    """Let a verb through for who may execute, whatever the method of the request."""
    asked: Verb = authorized("execute")(authorized("execute", _KERNELS)(verb))
    return asked


def only_reads(verb: Verb) -> Verb:
    """Let a verb through for who may read, whatever the method of the request."""
    asked: Verb = authorized("read")(verb)
    return asked


def answered(verb: Verb) -> Verb:
    """Turn what a verb raises into an answer with a fitting status."""

    @functools.wraps(verb)
    async def answering(self: Handler, *args: str) -> None:
        try:
            await verb(self, *args)
        except UntrustedError as error:
            from exploracoder_jupyter.protocol import Untrusted

            self.answer(Untrusted(message=str(error), preview=error.preview), 409)
        except ModelGoneError as error:
            from exploracoder_jupyter.protocol import ModelGone

            self.answer(ModelGone(message=str(error), gone=error.gone), 409)
        except _REFUSED as error:
            self.refuse(_status_of(error), str(error))

    return answering


def _status_of(error: Exception) -> int:
    if isinstance(error, TooLargeError):
        return 413
    if isinstance(error, UnknownError):
        return 404
    if isinstance(error, InputError):
        return 400
    return 409 if isinstance(error, CommandError) else 503


def _faults(error: Any) -> str:
    """The first fault of a body in words; what was sent is not repeated."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])[:200]
    return f"The request cannot be read{f' at {where}' if where else ''}: {fault['msg'][:500]}."
