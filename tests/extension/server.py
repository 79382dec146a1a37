"""A Jupyter server in a process of its own, and a tab's view of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from jupyter_client.asynchronous.client import AsyncKernelClient
from ports import free_port
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

TOKEN = "tea-for-two"
START_SECONDS = 60.0
SECONDS = 60.0
# What the machine's user has configured is not for tests.
_FOREIGN = ("JUPYTER", "EXPLORACODER_", "OPENAI_", "PYTHONPATH", "IPYTHON")


@dataclass
class Server:
    """The process; it can be stopped, killed, and started again with the same folders."""

    home: Path
    variables: Mapping[str, str]
    options: Sequence[str] = ()
    base_url: str = "/"
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def root(self) -> Path:
        """The folder that it serves."""
        return self.home / "root"

    @property
    def journal(self) -> Path:
        """Where it keeps explorations."""
        return self.home / "data" / "exploracoder" / "explorations"

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}{self.base_url.rstrip('/')}"

    @property
    def log(self) -> str:
        """What it printed."""
        return (self.home / "jupyter.log").read_text(encoding="utf-8", errors="replace")

    def start(self) -> Server:
        """Start it, and wait until it answers."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.home / "jupyter.log").open("ab") as out:
            self.process = subprocess.Popen(
                [*self._words(), *self.options],
                cwd=self.root,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The server did not start:\n{self.log[-4000:]}")
            time.sleep(0.1)
        return self

    def stop(self) -> None:
        """End it as a person does."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash does."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api", trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False

    def _words(self) -> list[str]:
        return [
            sys.executable,
            "-m",
            "jupyter_server",
            "--no-browser",
            "--allow-root",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.base_url={self.base_url}",
            f"--ServerApp.root_dir={self.root}",
            f"--IdentityProvider.token={TOKEN}",
            "--ServerApp.jpserver_extensions={'exploracoder_jupyter': True}",
            "--ServerApp.allow_unauthenticated_access=False",
        ]

    def _environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        folders = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "run",
            "IPYTHONDIR": "ipython",
        }
        own |= {name: str(self.home / folder) for name, folder in folders.items()}
        return own | {"PYTHONDONTWRITEBYTECODE": "1", **self.variables}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said to a request."""

    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        """The answer as a value."""
        return json.loads(self.text)

    @property
    def message(self) -> str:
        """Why it said no."""
        return str(self.json["message"])


class Client:
    """Asks as a tab does."""

    def __init__(self, server: Server, token: str | None = TOKEN) -> None:
        self.server = server
        self._headers = {"Authorization": f"token {token}"} if token else {}
        self._token = token
        # A server that is killed leaves kept connections behind, half closed.
        fresh = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.AsyncClient(timeout=SECONDS, trust_env=False, limits=fresh)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def ask(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a request to a path of ours; ``content`` is sent as it is."""
        url = f"{self.server.url}/exploracoder/api/{path}"
        if body is not None:
            options["content"] = json.dumps(body)
        headers = {**self._headers, **options.pop("headers", {})}
        answer = await self._http.request(method, url, headers=headers, **options)
        return Answer(answer.status_code, answer.text, dict(answer.headers))

    async def get(self, path: str) -> Answer:
        """GET."""
        return await self.ask("GET", path)

    async def post(self, path: str, body: Any) -> Answer:
        """POST."""
        return await self.ask("POST", path, body)

    async def jupyter(self, method: str, path: str, body: Any = None) -> Any:
        """Ask Jupyter itself."""
        answer = await self._http.request(
            method, f"{self.server.url}/api/{path}", headers=self._headers, json=body
        )
        answer.raise_for_status()
        return answer.json() if answer.text else None

    async def run_in_kernel(self, kernel_id: str, *cells: str) -> None:
        """Run cells as a person does in a notebook of theirs."""
        client = AsyncKernelClient()
        client.load_connection_file(str(self.server.home / "run" / f"kernel-{kernel_id}.json"))
        # By default a kernel counts as dead that is silent for a second, as on a busy machine.
        client.hb_channel.time_to_dead = 60.0
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=60)
            for cell in cells:
                reply = await client.execute(cell, reply=True, timeout=60)
                assert reply["content"]["status"] == "ok", reply["content"]
        finally:
            client.stop_channels()

    async def start(self, **request: Any) -> Any:
        """Start an exploration, and give what the server says of it."""
        answer = await self.post("explorations", request)
        assert answer.status == 201, answer.text
        return answer.json

    async def do(self, id_: str, kind: str, **fields: Any) -> Answer:
        """Send a command."""
        return await self.post(f"explorations/{id_}/command", {"kind": kind, **fields})

    async def state(self, id_: str) -> Any:
        """An open exploration."""
        answer = await self.get(f"explorations/{id_}")
        assert answer.status == 200, answer.text
        return answer.json

    async def until(self, id_: str, condition: Callable[[Any], bool], what: str = "") -> Any:
        """An exploration's state once it is as it should be."""
        deadline = time.monotonic() + SECONDS
        while True:
            state = await self.state(id_)
            if condition(state):
                return state
            if time.monotonic() > deadline:
                summary = {"progress": state["progress"], "status": state["exploration"]["status"]}
                raise AssertionError(
                    f"{what or 'It'} did not come: {summary}\n{self.server.log[-3000:]}"
                )
            await asyncio.sleep(0.05)

    async def rested(self, id_: str) -> Any:
        """An exploration's state once nothing is worked on."""
        return await self.until(id_, lambda state: state["progress"]["activity"] != "working")

    @asynccontextmanager
    async def tab(self, query: Mapping[str, Any] | None = None) -> AsyncIterator[TabSocket]:
        """A tab's WebSocket."""
        token = {"token": self._token} if self._token else {}
        text = urlencode({**(query or {}), **token})
        url = f"{self.server.url}/exploracoder/api/events?{text}".replace("http", "ws", 1)
        connection = await websocket_connect(HTTPRequest(url, headers={}))
        tab = TabSocket(connection)
        try:
            yield tab
        finally:
            connection.close()
            await tab.drain()


class TabSocket:
    """Reads and writes a tab's messages."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self.connection = connection
        self._is_closed = False

    async def read(self, seconds: float = SECONDS) -> Any:
        """The next message; None when the server has closed."""
        if self._is_closed:
            return None
        text = await asyncio.wait_for(self.connection.read_message(), seconds)
        self._is_closed = text is None
        return None if text is None else json.loads(text)

    async def until(self, condition: Callable[[Any], bool]) -> list[Any]:
        """All messages up to one."""
        messages: list[Any] = []
        while not messages or not condition(messages[-1]):
            messages.append(await self.read())
        return messages

    async def drain(self) -> None:
        """Read until the server has closed too: the socket is closed only then."""
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            while await self.read(10) is not None:
                pass
        await asyncio.sleep(0.01)

    async def say(self, **message: Any) -> None:
        """Send a message."""
        await self.connection.write_message(json.dumps(message))
