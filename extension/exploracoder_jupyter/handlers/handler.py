"""Handles all our requests but the event stream: finds the route, authorizes, and answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from exploracoder.errors import CommandError, ExploraCoderError, InputError, UntrustedError
from exploracoder.texts import parts_of, words_of
from exploracoder_kernel.errors import SidecarError
from exploracoder_retrieval.errors import RetrievalError
from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import APIHandler
from tornado.web import HTTPError, authenticated

from exploracoder_jupyter.errors import ModelGoneError, TooLargeError, UnknownError
from exploracoder_jupyter.handlers import access

if TYPE_CHECKING:
    from exploracoder_jupyter.app import ExploraCoder
    from exploracoder_jupyter.handlers.routes import Answer

_REFUSED = (ExploraCoderError, SidecarError, RetrievalError)


class Handler(APIHandler):
    """One request."""

    @authenticated
    async def get(self, path: str | None = None) -> None:
        """Answer a request of any method; its route says who may ask and what answers."""
        try:
            await self._answer(path or "")
        except UntrustedError as error:
            from exploracoder_jupyter.protocol import Untrusted

            self._finish(409, Untrusted(message=str(error), preview=error.preview))
        except ModelGoneError as error:
            from exploracoder_jupyter.protocol import ModelGone

            self._finish(409, ModelGone(message=str(error), gone=error.choice))
        except _REFUSED as error:
            self._refuse(_status_of(error), words_of(error))

    post = put = patch = delete = get

    async def _answer(self, path: str) -> None:
        app: ExploraCoder = self.settings["exploracoder"]
        route, id_ = await app.find_route(str(self.request.method), path)
        self._track_activity = route.is_activity
        await access.check(self, route.permissions)
        from exploracoder_jupyter.handlers.request_fields import RouteRequest

        query = {name: self.get_query_argument(name) for name in self.request.query_arguments}
        request = RouteRequest(await app.host(), id_, query, self.request.body)
        self._finish(route.status, await ensure_async(route.answer(request)))

    def _finish(self, status: int, answer: Answer) -> None:
        from exploracoder_jupyter.exports import Download

        self.set_status(status)
        if answer is None:
            self.finish()
        elif isinstance(answer, Download):
            self.set_header("Content-Disposition", f'attachment; filename="{answer.name}"')
            self.finish(answer.text, set_content_type=answer.media_type)
        else:
            self.finish(answer.model_dump_json())

    def _refuse(self, status: int, message: str) -> None:
        template, values = parts_of(message)
        self.set_status(status)
        parts = {"template": template, "values": values}
        self.finish(json.dumps({"message": message, "parts": parts}))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Report errors from tornado and Jupyter in the same form as ours."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        message = self._reason
        if isinstance(error, HTTPError) and error.log_message and status_code < 500:
            message = str(error.log_message)
        elif status_code >= 500:
            message = "Something went wrong on the server; its log has the details."
        self._refuse(status_code, message)


def _status_of(error: Exception) -> int:
    if isinstance(error, TooLargeError):
        return 413
    if isinstance(error, UnknownError):
        return 404
    if isinstance(error, InputError):
        return 400
    return 409 if isinstance(error, CommandError) else 503
