"""Models: which there are, and fetching the embedded one."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from exploracoder_jupyter.handlers.base import Handler, answered, runs_code


class ModelsHandler(Handler):
    """``GET models``."""

    @authenticated
    @authorized
    @answered
    async def get(self) -> None:
        """What can be asked: the configured model, the embedded one, and servers found here."""
        host = await self.host()
        from exploracoder_jupyter.status import models

        self.answer(await models(host))


class PullHandler(Handler):
    """``GET models/pull``, ``POST models/pull`` and ``DELETE models/pull``."""

    # Tabs ask again and again: the download itself does not keep a server alive either.
    _track_activity = False

    @authenticated
    @authorized
    @answered
    async def get(self) -> None:
        """How far the download of the embedded model is."""
        self.answer((await self.host()).workshop.pulling.state())

    @authenticated
    @runs_code
    @answered
    async def post(self) -> None:
        """Fetch the embedded model, or go on with it."""
        pulling = (await self.host()).workshop.pulling
        pulling.start()
        self.answer(pulling.state(), 202)

    @authenticated
    @runs_code
    @answered
    async def delete(self) -> None:
        """End the download; what was fetched stays."""
        pulling = (await self.host()).workshop.pulling
        pulling.cancel()
        self.answer(pulling.state())
