"""Explorations: start, list, resume, replay, steer, read, export, close."""

from __future__ import annotations

from exploracoder.errors import InputError
from exploracoder.texts import words_of
from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from exploracoder_jupyter.errors import UnknownError
from exploracoder_jupyter.handlers.base import (
    MOST_NOTEBOOK_BYTES,
    Handler,
    answered,
    only_reads,
    runs_code,
    writes_files,
)

_MOST_REVISION = 10**15 - 1


class ExplorationsHandler(Handler):
    """``GET explorations`` and ``POST explorations``."""

    @authenticated
    @authorized
    @answered
    async def get(self) -> None:
        """Open ones and past ones."""
        host = await self.host()
        from exploracoder_jupyter.protocol import Explorations

        self.answer(Explorations(explorations=await host.summaries()))

    @authenticated
    @runs_code
    @answered
    async def post(self) -> None:
        """Start one."""
        host = await self.host()
        from exploracoder_jupyter.protocol import NewExploration

        hosted = await host.create(self.read_body(NewExploration))
        self.answer(hosted.snapshot(), 201)


class OpenHandler(Handler):
    """``POST explorations/open``."""

    @authenticated
    @runs_code
    @answered
    async def post(self) -> None:
        """Resume one from its notebook; one that is open is only answered with."""
        host = await self.host()
        from exploracoder_jupyter.protocol import OpenRequest

        hosted, resumed = await host.resume(self.read_body(OpenRequest))
        self.answer(hosted.snapshot(resumed=resumed))


class ReplayHandler(Handler):
    """``POST explorations/replay``."""

    @authenticated
    @runs_code
    @answered
    async def post(self) -> None:
        """Run the accepted cells of a notebook again."""
        host = await self.host()
        from exploracoder_jupyter.protocol import OpenRequest

        self.answer(await host.replay(self.read_body(OpenRequest)))


class ExplorationHandler(Handler):
    """``GET explorations/<id>`` and ``DELETE explorations/<id>``."""

    @authenticated
    @authorized
    @answered
    async def get(self, id_: str) -> None:
        """All of one that is open."""
        self.answer((await self.host()).get(id_).snapshot())

    @authenticated
    @authorized
    @answered
    async def delete(self, id_: str) -> None:
        """Close one."""
        await (await self.host()).close(id_)
        self.set_status(204)
        self.finish()


class CommandHandler(Handler):
    """``POST explorations/<id>/command``."""

    @authenticated
    @runs_code
    @answered
    async def post(self, id_: str) -> None:
        """Let it do something."""
        hosted = (await self.host()).use(id_)
        from exploracoder.commands import COMMAND

        from exploracoder_jupyter.protocol import Accepted

        command = self.read_body(COMMAND)
        seen = self.number("revision", _MOST_REVISION, least=0, most=_MOST_REVISION)
        try:
            number = await hosted.do(command, seen)
        except InputError as error:
            raise UnknownError(words_of(error)) from error
        self.answer(Accepted(number=number), 202)


class ExplorationLookupsHandler(Handler):
    """``POST explorations/<id>/lookups``."""

    @authenticated
    @only_reads
    @answered
    async def post(self, id_: str) -> None:
        """Look something up in the source of its libraries."""
        host = await self.host()
        from exploracoder_jupyter.protocol import Lookup
        from exploracoder_jupyter.status import look_up_for

        self.answer(await look_up_for(host, id_, self.read_body(Lookup)))


class NotebookHandler(Handler):
    """``PUT notebook``."""

    @authenticated
    @writes_files
    @answered
    async def put(self) -> None:
        """Write a notebook that a tab has changed."""
        host = await self.host()
        from exploracoder_jupyter.protocol import NotebookSave

        self.answer(await host.save_notebook(self.read_body(NotebookSave, MOST_NOTEBOOK_BYTES)))


class ExportHandler(Handler):
    """``GET explorations/<id>/export``."""

    @authenticated
    @authorized
    @answered
    async def get(self, id_: str) -> None:
        """It, or its solution, as a download."""
        host = await self.host()
        from exploracoder_jupyter.exports import export

        form = self.get_query_argument("format", "py")
        download = await export(await host.state_of(id_), form)
        self.set_header("Content-Type", download.media_type)
        self.set_header("Content-Disposition", f'attachment; filename="{download.name}"')
        self.finish(download.text)
