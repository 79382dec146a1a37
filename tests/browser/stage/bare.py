"""A machine without a model: a hub that has a small file in the place of the published one.

What is played is the model alone: the server of the embedded one is that of the scripted model. The
download, its file, and all that decides whether it is there are real.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from exploracoder.errors import SetupError
from exploracoder.models import local
from exploracoder.models.catalogue import DEFAULT, ModelFile
from exploracoder.models.downloads import Hub
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.weights import WeightsStore
from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler

CONTENT = bytes(12_000_000)
_BLOCK = 200_000
_PAUSE_SECONDS = 0.2
FILE = ModelFile(
    name=DEFAULT.name,
    file_name="small.gguf",
    size_bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    sources=(Hub(repository="tea/small", file_name="small.gguf"),),
    license=DEFAULT.license,
)


def make_hub() -> Application:
    """The hub's application; it takes some seconds for the file."""
    return Application([(r"/tea/small/resolve/main/small.gguf", _File)])


class _File(RequestHandler):
    async def get(self) -> None:
        start = int(self.request.headers["Range"].removeprefix("bytes=").rstrip("-"))
        rest = CONTENT[start:]
        self.set_status(206)
        self.set_header("Content-Length", str(len(rest)))
        with suppress(StreamClosedError):
            for at in range(0, len(rest), _BLOCK):
                self.write(rest[at : at + _BLOCK])
                await self.flush()
                await asyncio.sleep(_PAUSE_SECONDS)


def configuration(model_url: str) -> str:
    """The server's configuration file: what it takes for published, and who runs beside it."""
    return "\n".join(
        (
            "import sys",
            f"sys.path.insert(0, {str(Path(__file__).parents[2])!r})",
            "from browser.stage.bare import take_for_published",
            f"take_for_published({model_url!r})",
            f"c.ExploraCoder.local_servers = {{'Ollama': {model_url!r}}}",
        )
    )


def take_for_published(model_url: str) -> None:
    """In a server's process: the small file is the embedded model's."""
    WeightsStore.__init__.__defaults__ = (FILE, None)  # type: ignore[misc]

    @asynccontextmanager
    async def played(**_: Any) -> AsyncIterator[OpenAIChatModel]:
        if not WeightsStore().is_verified:
            raise SetupError("The embedded model is not there.")
        async with OpenAIChatModel(model_url, "", FILE.name) as client:
            yield client

    local.EmbeddedModel = played  # type: ignore[assignment,misc]
