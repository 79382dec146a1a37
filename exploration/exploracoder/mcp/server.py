"""The server: its tools and resources, over standard input and output or over loopback HTTP."""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import anyio
from exploracoder_retrieval.errors import RetrievalError
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError, UnexpectedToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, InputRequiredResult, Resource, ToolAnnotations
from pydantic import AnyHttpUrl

from exploracoder import __version__
from exploracoder.errors import ExploraCoderError, InputError, SetupError
from exploracoder.mcp.endable_stdin import standard_input
from exploracoder.mcp.folder import Folder
from exploracoder.mcp.tool_results import in_client_terms
from exploracoder.mcp.tools import Tools
from exploracoder.workspace import Options, in_thread

ResultT = TypeVar("ResultT")

_SCHEME = "exploration://"
_HOST = "127.0.0.1"
# Shutdown would wait for clients' streams, which stay open as long as the client runs.
_GOODBYE_SECONDS = 2
_INSTRUCTIONS = """\
Write code with Python libraries as they are installed here, rather than from memory. library_map
and find_apis say what a library has, read_doc and read_source how it is used. run_cells runs code
in a sandbox and keeps every state: look at real values before you rely on them, and go_back when a
try was no good. check runs a finished solution in a fresh state. explore has the server's own model
do the whole task."""


class Server(MCPServer[Any]):
    """Offers the tools, and the explorations of the folder as resources."""

    def __init__(self, tools: Tools, folder: Folder, **options: Any) -> None:
        _log_warnings_only()
        super().__init__(
            "exploracoder",
            title="ExploraCoder",
            version=__version__,
            instructions=_INSTRUCTIONS,
            log_level="WARNING",
            **options,
        )
        self._folder = folder
        looks = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        runs = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
        start = folder.known_words()
        for tool in (tools.find_apis, tools.read_doc, tools.library_map, tools.read_source):
            words = _description(tool, start)
            self.add_tool(tool, description=words, annotations=looks, structured_output=False)
        for run in (tools.check, tools.explore):
            self.add_tool(run, description=_description(run, start), annotations=runs)
        for move in (tools.run_cells, tools.go_back):
            self.add_tool(move, description=_description(move), annotations=runs)
        self.resource(
            f"{_SCHEME}{{+path}}",
            name="exploration",
            description="A saved exploration as a report, by its path from the server's folder.",
            mime_type="text/markdown",
        )(self._read)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; our own errors reach the client as their message."""
        takes = {
            tool.name: list(tool.input_schema["properties"]) for tool in await self.list_tools()
        }
        unknown = [each for each in arguments if each not in takes.get(name, arguments)]
        if unknown:
            # The protocol's library would silently drop them, which is not what the client meant.
            raise ToolError(
                f"{name} takes no {', '.join(unknown)[:200]!r}, but {', '.join(takes[name])}."
            )
        try:
            return await _to_its_end(super().call_tool(name, arguments, context))
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, (ExploraCoderError, RetrievalError)):
                raise ToolError(in_client_terms(str(error.__cause__))) from error.__cause__
            raise

    async def list_resources(self) -> list[Resource]:
        """List the explorations now in the folder."""
        return [
            Resource(
                uri=_SCHEME + quote(path.as_posix()), name=str(path), mime_type="text/markdown"
            )
            for path in await in_thread(self._folder.explorations)
        ]

    async def _read(self, path: str) -> str:
        try:
            return await in_thread(self._folder.read, path)
        except InputError as error:
            raise ResourceNotFoundError(str(error)) from error


def _description(tool: Callable[..., Any], more: str = "") -> str:
    return "\n\n".join(filter(None, (inspect.getdoc(tool), more)))


def _log_warnings_only() -> None:
    """Log warnings only, although some libraries set their loggers to log everything."""
    listener = logging.StreamHandler()
    listener.setLevel(logging.WARNING)
    logging.basicConfig(handlers=[listener])


class _TokenVerifier:
    """Verifies the one token there is."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        """The owner's access for the right token; None for any other."""
        if not secrets.compare_digest(token.encode(), self._token):
            return None
        return AccessToken(token=token, client_id="owner", scopes=[])


async def serve_stdio(folder: Folder, options: Options, model: str | None) -> None:
    """Serve one client until it closes its end, or this is cancelled."""
    with standard_input() as end:
        async with _opened(folder, options, model) as tools:
            await _until_cancelled(Server(tools, folder).run_stdio_async(), end)


async def serve_http(
    folder: Folder,
    options: Options,
    model: str | None,
    *,
    port: int,
    tell: Callable[[str], None],
) -> None:
    """Serve clients on loopback that have the token, until interrupted.

    ``tell`` is called with the address and the token. Raises SetupError if the port is taken.
    """
    import uvicorn

    try:
        listener = socket.create_server((_HOST, port))
    except OSError as error:
        raise SetupError(f"Port {port} cannot be used: {error.strerror}. Try --port 0.") from error
    with listener:
        host, token = f"{_HOST}:{listener.getsockname()[1]}", secrets.token_urlsafe(32)
        async with _opened(folder, options, model) as tools:
            auth = AuthSettings(issuer_url=AnyHttpUrl(f"http://{host}"), resource_server_url=None)
            server = Server(tools, folder, auth=auth, token_verifier=_TokenVerifier(token))
            security = TransportSecuritySettings(
                allowed_hosts=[host], allowed_origins=[f"http://{host}"]
            )
            app = server.streamable_http_app(host=_HOST, transport_security=security)
            tell(f"http://{host}/mcp\nAuthorization: Bearer {token}")
            config = uvicorn.Config(
                app, log_level="warning", timeout_graceful_shutdown=_GOODBYE_SECONDS
            )
            http = uvicorn.Server(config)

            def end() -> None:
                http.should_exit = True

            await _until_cancelled(http.serve(sockets=[listener]), end)


@asynccontextmanager
async def _opened(folder: Folder, options: Options, model: str | None) -> AsyncIterator[Tools]:
    tools = Tools(folder, options, model)
    try:
        yield tools
    finally:
        await _to_its_end(tools.close())


async def _until_cancelled(work: Coroutine[Any, Any, None], end: Callable[[], None]) -> None:
    """Serve; on cancellation call ``end``, and wait until clients' requests have ended too."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        end()
        await task
        raise


async def _to_its_end(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Await work; if cancelled, cancel it only once and wait for it to finish.

    The protocol's package cancels again and again until a task has ended, which would keep the
    work from ending its processes.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
        raise
