"""Who is let in: nobody without the server's token, nobody from another site."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from exploracoder_jupyter.handlers import HANDLERS
from exploracoder_jupyter.handlers.routes import TABLE, Route, find
from jupyter_server.base.handlers import JupyterHandler
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from .conftest import House, request
from .server import TOKEN, Client, Server, TabSocket

SOME_ID = "0" * 32


def path_of(route: Route) -> str:
    """Its path, for some exploration."""
    return route.path.replace("ID", SOME_ID)


# Every verb of every path of ours, and those of paths that are none.
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ROUTES = [(route.method, path_of(route)) for route in TABLE]
NO_ROUTES = [
    (method, path)
    for path in (*sorted({path for _, path in ROUTES}), "nowhere")
    for method in METHODS
    if (method, path) not in ROUTES
]
VERBS = [*ROUTES, *NO_ROUTES, ("GET", "events")]


def test_a_path_and_method_have_one_route() -> None:
    assert len(set(ROUTES)) == len(TABLE)
    assert [find(*one) for one in ROUTES] == [
        (route, SOME_ID if "ID" in route.path else "") for route in TABLE
    ]
    assert all(issubclass(handler, JupyterHandler) for _, handler in HANDLERS)


@pytest.mark.parametrize(("verb", "path"), VERBS)
async def test_nobody_is_answered_without_the_token(
    shared_server: Server, verb: str, path: str
) -> None:
    for token in (None, "a-guess"):
        client = Client(shared_server, token)

        answer = await client.ask(verb, path, content="{}" if verb != "GET" else None)
        await client.aclose()

        assert answer.status == 403
        assert SOME_ID not in answer.text


# What each verb asks the server's authorizer.
READS = {
    ("GET", "status"),
    ("GET", "models"),
    ("GET", "models/pull"),
    ("GET", "libraries"),
    ("GET", "search"),
    ("GET", "explorations"),
    ("GET", f"explorations/{SOME_ID}"),
    ("GET", f"explorations/{SOME_ID}/export"),
    ("POST", f"explorations/{SOME_ID}/lookups"),
    ("POST", "docs"),
    ("POST", "suggestions"),
}
WRITES = {("DELETE", f"explorations/{SOME_ID}"), ("PUT", "notebook")}
EXECUTES = {
    ("POST", "models/pull"),
    ("DELETE", "models/pull"),
    ("POST", "libraries"),
    ("POST", "lookups"),
    ("POST", "explorations"),
    ("POST", "explorations/open"),
    ("POST", "explorations/replay"),
    ("POST", f"explorations/{SOME_ID}/command"),
}
AUTHORIZER = """
from jupyter_server.auth import Authorizer


class Some(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return f"{action} {resource}" not in DENIED and action not in DENIED


c.ServerApp.authorizer_class = Some
"""


@pytest.fixture(scope="session")
def restricted(house: House) -> Callable[..., Server]:
    """Servers whose users may not do some of what Jupyter distinguishes."""

    @functools.cache
    def start(*denied: str) -> Server:
        name = "-".join(("without", *denied)).replace(" ", "-")
        config = house.folder / f"{name}.py"
        config.write_text(f"DENIED = {denied!r}\n{AUTHORIZER}", encoding="utf-8")
        return house.server(name, options=(f"--config={config}",))

    return start


def test_every_verb_is_known_to_read_to_write_or_to_execute() -> None:
    assert set(ROUTES) == READS | WRITES | EXECUTES
    assert all(route.permissions for route in TABLE)


async def test_what_has_no_route_is_refused_to_those_who_are_let_in(shared_server: Server) -> None:
    client = Client(shared_server)
    answers = {one: await client.ask(*one, content="{}") for one in NO_ROUTES}
    await client.aclose()

    for (_, path), answer in answers.items():
        assert answer.status == (404 if path == "nowhere" else 405)
        assert answer.message


DENIED: dict[str, tuple[tuple[str, ...], set[tuple[str, str]]]] = {
    "execute": (("execute",), EXECUTES),
    "execute of kernels": (("execute kernels",), EXECUTES),
    "execute of ours": (("execute exploracoder",), EXECUTES),
    "execute and write": (("execute", "write"), EXECUTES | WRITES),
    "everything": (("execute", "write", "read"), EXECUTES | WRITES | READS),
    "write": (("write",), WRITES),
}


@pytest.mark.parametrize(("denied", "refused"), DENIED.values(), ids=DENIED)
async def test_each_verb_is_allowed_to_whom_the_server_allows_it(
    restricted: Callable[..., Server], denied: tuple[str, ...], refused: set[tuple[str, str]]
) -> None:
    client = Client(restricted(*denied))
    answers = {one: await client.ask(*one, content="{}") for one in READS | WRITES | EXECUTES}
    await client.aclose()

    assert {one for one, answer in answers.items() if answer.status == 403} == refused


async def test_the_websocket_is_for_who_may_read(restricted: Callable[..., Server]) -> None:
    path = f"/exploracoder/api/events?token={TOKEN}"
    statuses = [
        await refusal(f"{restricted(*denied_actions).url}{path}".replace("http", "ws", 1))
        for denied_actions in (("execute", "write", "read"), ("execute", "write"))
    ]

    assert statuses == [403, 101]


async def refusal(url: str, **headers: str) -> int:
    """The status that a WebSocket is refused with; 101 when it is not."""
    try:
        connection = await websocket_connect(HTTPRequest(url, headers=headers))
    except HTTPClientError as error:
        return error.code
    connection.close()
    await TabSocket(connection).drain()
    return 101


async def cookie(server: Server) -> str:
    """What a browser that is logged in sends with each request, whoever makes it."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        await browser.get(f"{server.url}/api/status?token={TOKEN}")
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


async def test_a_forged_websocket_is_refused(shared_server: Server) -> None:
    url = f"{shared_server.url}/exploracoder/api/events".replace("http", "ws", 1)
    own = await cookie(shared_server)

    assert await refusal(url) == 403
    assert await refusal(f"{url}?token=a-guess") == 403
    assert await refusal(url, Cookie=own, Origin="https://evil.example") == 403
    assert await refusal(url, Cookie=own, Origin=shared_server.url) == 101


async def test_another_sites_page_can_neither_read_nor_change(shared_server: Server) -> None:
    client = Client(shared_server, None)
    headers = {"Cookie": await cookie(shared_server), "Origin": "https://evil.example"}

    read = await client.ask("GET", "status", headers=headers)
    change = await client.ask("POST", "explorations", content="{}", headers=headers)
    own = await client.ask("GET", "status", headers={"Cookie": headers["Cookie"]})
    await client.aclose()

    assert own.status == 200
    assert (read.status, change.status) == (404, 404)
    assert (
        "access-control-allow-origin" not in read.headers
        or not read.headers["access-control-allow-origin"]
    )


CHECK = """
import sys, warnings
from jupyter_server.serverapp import ServerApp

with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    app = ServerApp(
        allow_unauthenticated_access=False, reraise_server_extension_failures=True,
        allow_root=True, port=0, open_browser=False,
        jpserver_extensions={"exploracoder_jupyter": True},
    )
    app.initialize(argv=[])
print([str(one.message) for one in warned if "exploracoder" in str(one.message)])
"""


def test_a_server_that_allows_nothing_unauthenticated_starts_with_it(tmp_path: Path) -> None:
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    process = subprocess.run(
        [sys.executable, "-c", CHECK],
        env={**os.environ, **{name: str(tmp_path / name) for name in names}},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert process.returncode == 0, process.stderr
    assert process.stdout.strip().splitlines()[-1] == "[]"


def test_loading_it_takes_a_server_no_time() -> None:
    code = (
        "import jupyter_server.serverapp, jupyter_server.extension.application, sys;"
        "import jupyter_server.base.websocket;"
        "before = set(sys.modules);"
        "import exploracoder_jupyter.app;"
        "new = set(sys.modules) - before;"
        "heavy = 'IPython bm25s chromadb jinja2 nbformat numpy onnxruntime pydantic tokenizers';"
        "print(sorted(set(heavy.split()) & new))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert process.stdout.strip() == "[]"


async def test_what_is_sent_back_is_never_a_page(client: Client) -> None:
    markup = "<img src=x onerror=alert(1)>"
    answers = [
        await client.post("explorations", request(libraries=[markup])),
        await client.post("explorations/open", {"path": f"{markup}.ipynb"}),
        await client.get(f"libraries?kernel_name={markup}"),
        await client.get(f"search?query=a&libraries={markup}"),
    ]

    for answer in answers:
        assert answer.status in (400, 404)
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert all(re.search("img", answer.message) for answer in answers[:2])
