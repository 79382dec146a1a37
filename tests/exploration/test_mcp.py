"""Our tools in the hands of other programs' agents: a real client, a real server and sidecar."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from exploracoder.errors import InputError, SetupError
from exploracoder.mcp import solution_check
from exploracoder.mcp.folder import Folder
from exploracoder.mcp.kept_branches import Branches
from exploracoder.mcp.server import Server
from exploracoder.mcp.tool_results import explored
from exploracoder.mcp.tools import Tools
from exploracoder.opening import Scratch, local_scratch
from exploracoder.testing import Delay, ScriptedModelServer
from exploracoder.workspace import Options
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import ChosenSandbox
from exploracoder_retrieval.errors import EmbeddingError
from exploracoder_retrieval.index import Index
from mcp import Client, MCPError
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ImageContent
from waiting import PATIENCE_S, until

from .conftest import Command, Serve, model_words
from .mcp_servers import (
    PROGRAM,
    HttpServer,
    descendants,
    http_server,
    refused,
    result_of,
    stdio,
    text,
)
from .samples import exploration
from .scripted import CHECK, CONTEXT, SOLUTION, TASK, WRONG_SOLUTION, TeaModel

TOOLS = {
    "find_apis",
    "read_doc",
    "library_map",
    "read_source",
    "run_cells",
    "go_back",
    "check",
    "explore",
}
TEA = ["tealeaf/"]
KEY = "sk-nobody-may-see-this"
# One pixel.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(TeaModel()) as server:
        yield server


@pytest.fixture(scope="module")
def server(
    shelf: Path, model: ScriptedModelServer, sandboxing: ChosenSandbox, strategy: str
) -> Iterator[HttpServer]:
    """One server for the tests that need none of their own."""
    environment = {
        "PATH": os.environ["PATH"],
        "EXPLORACODER_CACHE": str(shelf / "cache"),
        "EXPLORACODER_CONFIG": str(shelf / "config"),
        "EXPLORACODER_SANDBOX": sandboxing.level,
        "EXPLORACODER_STRATEGY": strategy,
        "JUPYTER_DATA_DIR": os.environ["JUPYTER_DATA_DIR"],
        "OPENAI_API_KEY": KEY,
    }
    words = ["--set", "run-seconds=6", *model_words(model)]
    with http_server(shelf / "project", words, environment) as instance:
        yield instance


async def test_a_client_over_standard_input_lists_the_tools_and_runs_a_cell(library: Path) -> None:
    async with stdio(library) as client:
        tools = (await client.list_tools()).tools
        run = await result_of(client, "run_cells", cells=["1 + 1"])

    assert {one.name for one in tools} == TOOLS
    assert all(one.description for one in tools)
    arguments = [field for one in tools for field in one.input_schema["properties"].values()]
    assert all("description" in field for field in arguments)
    assert run["cells"][0]["output"] == "2"


async def test_libraries_are_found_mapped_and_read(server: HttpServer) -> None:
    async with server.client() as client:
        apis = await result_of(client, "find_apis", task="the strongest leaf", libraries=TEA, k=3)
        map_text = await result_of(client, "library_map", library="tealeaf/")
        doc = await result_of(client, "read_doc", name="tealeaf.Flow.keep")
        class_doc = await result_of(client, "read_doc", name="`Kettle`")
        source = await result_of(client, "read_source", name="Flow.keep")
        module = await result_of(client, "read_source", name="tealeaf")

    assert "strongest" in apis
    assert "class tealeaf.Flow" in map_text
    assert "Keep the items" in doc
    assert "from tealeaf import Kettle" in class_doc
    assert "return Flow(" in source
    assert module.startswith("# tealeaf: __init__.py\n")


async def test_cells_go_on_from_any_branch(server: HttpServer) -> None:
    async with server.client() as client:
        first = await result_of(client, "run_cells", cells=["x = 1", "y = [x]"], branch="b0")
        second = await result_of(client, "run_cells", cells=["x += 1\nx"])
        back = await result_of(client, "go_back", branch=first["branch"])
        third = await result_of(client, "run_cells", cells=["x"])
        fresh = await result_of(client, "run_cells", cells=["x"], branch="b0")

    assert first["variables"] == ["x: int = 1", "y: list, length 1 = [1]"]
    assert second["started_from"] == first["branch"]
    assert second["cells"][0]["output"] == "2"
    assert back["variables"] == first["variables"]
    assert third["cells"][0]["output"] == "1"
    assert fresh["cells"][0]["error"].startswith("NameError")


async def test_a_library_named_by_its_path_can_be_imported_and_a_picture_is_seen(
    server: HttpServer,
) -> None:
    picture = f"from IPython.display import Image\nImage(__import__('base64').b64decode('{PNG}'))"
    async with server.client() as client:
        await result_of(client, "library_map", library="tealeaf/")
        result = await client.call_tool(
            "run_cells", {"cells": ["import tealeaf", picture], "branch": "b0"}
        )

    images = [part for part in result.content if isinstance(part, ImageContent)]
    assert [cell["status"] for cell in result.structured_content["cells"]] == ["ok", "ok"]
    assert [image.mime_type for image in images] == ["image/png"]
    assert base64.b64decode(images[0].data) == base64.b64decode(PNG)


async def test_a_cell_that_fails_says_where_and_none_runs_after_it(server: HttpServer) -> None:
    async with server.client() as client:
        cells = ["print('before')", "def f():\n    raise ValueError('\\ud800')\nf()", "never = 1"]
        run = await result_of(client, "run_cells", cells=cells, branch="b0")

    assert [cell["status"] for cell in run["cells"]] == ["ok", "error"]
    assert "line 2, in f" in run["cells"][1]["traceback"]
    assert run["cells"][1]["error"].startswith("ValueError")


async def test_what_has_no_end_is_stopped_and_what_is_huge_is_cut(server: HttpServer) -> None:
    async with server.client() as client:
        endless = await result_of(client, "run_cells", cells=["x = 5\nwhile x: pass"], branch="b0")
        huge = await result_of(client, "run_cells", cells=["print('x' * 10**7)"], branch="b0")
        after = await result_of(client, "run_cells", cells=["x"], branch=endless["branch"])

    assert endless["cells"][0]["status"] == "timeout"
    assert "characters left out" in huge["cells"][0]["output"]
    assert len(huge["cells"][0]["output"]) < 10_000
    assert after["cells"][0]["output"] == "5"


async def test_cells_see_no_key(server: HttpServer) -> None:
    async with server.client() as client:
        cell = "import os\nprint(dict(os.environ))\nprint(open('/proc/self/environ').read())"
        run = await result_of(client, "run_cells", cells=[cell], branch="b0")

    assert run["cells"][0]["status"] == "ok"
    assert KEY not in json.dumps(run)
    assert server.token not in json.dumps(run)


@pytest.mark.parametrize(
    ("tool", "arguments", "pattern"),
    [
        ("run_cells", {"cells": ["1"], "branch": "b999"}, "There is no branch 'b999'"),
        ("run_cells", {"cells": "1; 2"}, "cells"),
        ("run_cells", {"cells": []}, "at least 1"),
        ("go_back", {"branch": "../b1"}, "There is no branch"),
        ("read_doc", {"name": "tealeaf.Flow.nothing_like_it"}, "There is no documentation"),
        ("read_source", {"name": "tealeaf.Nothing"}, "There is no Python source"),
        ("find_apis", {"task": "x", "libraries": ["no-such-library-here"]}, "no-such-library"),
        ("find_apis", {"task": " ", "libraries": TEA}, "The task is empty"),
        ("find_apis", {"task": "x", "libraries": ["/etc"]}, "'/etc' is not in"),
        ("library_map", {"library": "../../.."}, "is not in"),
        ("explore", {"task": "x", "libraries": TEA, "notebook": "../x.ipynb"}, "is not in"),
        ("explore", {"task": "x", "libraries": TEA, "notebook": "x.py"}, "must end in .ipynb"),
        ("check", {"solution": "x = 1", "libraries": TEA, "check": "1"}, "passes before there is"),
        ("check", {"solution": "x = 1", "libraries": TEA, "context": "1/0"}, "The context failed"),
        ("library_map", {"libraries": TEA}, "library_map takes no 'libraries', but library"),
        ("no_such_tool", {}, "Unknown tool"),
    ],
)
async def test_bad_input_is_refused_with_a_sentence(
    server: HttpServer, tool: str, arguments: dict[str, Any], pattern: str
) -> None:
    async with server.client() as client:
        message = await refused(client, tool, **arguments)

    assert pattern in message
    assert "Traceback" not in message


async def test_a_solution_is_checked_as_the_engine_checks_its_own(server: HttpServer) -> None:
    arguments: dict[str, Any] = {"libraries": TEA, "context": CONTEXT, "check": CHECK}
    wrong_name = SOLUTION.replace("read_leaves", "read_leafs")
    async with server.client() as client:
        right = await result_of(client, "check", solution=SOLUTION, **arguments)
        wrong = await result_of(client, "check", solution=WRONG_SOLUTION, **arguments)
        typo = await result_of(client, "check", solution=wrong_name, **arguments)
        without = await result_of(client, "check", solution=SOLUTION, libraries=TEA)

    assert right["verified"]
    assert set(right) == {"verified", "verdict"}
    assert not wrong["verified"] and "AssertionError" in wrong["error"]
    assert "read_leaves" in typo["problems"][0]
    assert not without["verified"] and without["verdict"].startswith("Unverified")


async def test_a_coroutine_is_awaited_in_the_check(server: HttpServer) -> None:
    solution = "async def strength():\n    return 4"
    async with server.client() as client:
        verdict = await result_of(
            client, "check", solution=solution, libraries=TEA, check="assert await strength() == 4"
        )

    assert verdict["verified"]


@pytest.mark.parametrize(
    ("solution", "place", "said", "frame"),
    [
        ("def f(x):\n    return x['a']", "solution", "when the check calls it", "line 2, in f"),
        ("def f(x):\n    return 2", "check", "the check fails", '"<check>", line 2'),
        ("def f(x):\n    return x\nf.a", "solution", "does not run", '"<solution>", line 3'),
        ("def f(x):\n    return twice(x)", "check", "the check fails", '"<context>", line 2'),
    ],
    ids=["in a call", "in the check", "alone", "in the check's own function"],
)
async def test_a_check_says_who_failed_and_where(
    server: HttpServer, solution: str, place: str, said: str, frame: str
) -> None:
    context = "def same(one, other):\n    assert one == other\ndef twice(x):\n    return 2"
    check = "x = {}\nsame(f(x), 1)"
    async with server.client() as client:
        verdict = await result_of(
            client, "check", solution=solution, libraries=TEA, context=context, check=check
        )

    assert not verdict["verified"]
    assert verdict["failed_in"] == place
    assert said in verdict["verdict"]
    assert frame in verdict["traceback"]


BARGES = '''
class Barge:
    """A barge."""

    def load(self, tonnes):
        """Load tonnes."""
        return tonnes

    def empty(self):
        """Unload all."""

class TankBarge(Barge):
    """A barge for liquids."""

    def load(self, tonnes):
        """Load tonnes, given in percent."""
        return tonnes / 100

    def _lots(self):
        return "lots of a tank"

class HopperBarge(Barge):
    """A barge that opens."""

    def load(self, tonnes):
        """Load tonnes, in grabs."""
        return tonnes // 25
'''


@pytest.fixture
def barges(tmp_path: Path) -> Path:
    """A folder in which nothing is, and beside it a library of classes that override a method."""
    (tmp_path / "here").mkdir()
    (tmp_path / "barges.py").write_text(BARGES)
    return tmp_path


async def test_a_member_is_that_of_the_class_that_is_named(barges: Path) -> None:
    async with stdio(barges, "--root", "here", "--library", "barges.py") as client:
        sources = [
            await result_of(client, "read_source", name=f"{owner}.load{rest}")
            for owner in ("Barge", "TankBarge", "barges.HopperBarge")
            for rest in ("", "(tonnes)")
        ]
        inherited_source = await result_of(client, "read_source", name="TankBarge.empty")
        private = await result_of(client, "read_source", name="TankBarge._lots")
        ambiguous_source = await result_of(client, "read_source", name="load")
        doc = await result_of(client, "read_doc", name="TankBarge.load")
        docs = await result_of(client, "read_doc", name="load")

    assert ["/ 100" in one for one in sources] == [False, False, True, True, False, False]
    assert ["// 25" in one for one in sources] == [False, False, False, False, True, True]
    assert sources[2].startswith("# TankBarge.load: barges.py, line ")
    assert inherited_source.startswith("# Barge.empty")
    assert "lots of a tank" in private
    assert (
        "Others of that name: `barges.HopperBarge.load`, `barges.TankBarge.load`"
        in ambiguous_source
    )
    assert "in percent" in doc and "grabs" not in doc and "\n- " not in doc
    assert "in percent" in docs and "in grabs" in docs


async def test_an_index_that_fails_is_said_to_the_client(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise EmbeddingError("The embeddings endpoint cannot be reached.")

    monkeypatch.setattr(Index, "search", away)
    folder = Folder(library, ())
    tools = Tools(folder, Options(), None)
    try:
        with pytest.raises(ToolError, match=r"^The embeddings endpoint cannot be reached\.$"):
            await Server(tools, folder).call_tool("find_apis", {"task": "a", "libraries": TEA})
    finally:
        await tools.close()


def test_a_link_out_of_the_folder_is_no_library(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(library)

    for name in ("data", "./data"):
        with pytest.raises(InputError, match="is not in"):
            Folder(tmp_path).library(name)

    assert Folder(tmp_path).library("pandas") == "pandas"


async def test_a_class_lists_its_members_and_what_has_no_docs_says_so(barges: Path) -> None:
    (barges / "barges.py").write_text(BARGES + "\n    def tip(self):\n        return 0\n")
    async with stdio(barges, "--root", "here", "--library", "barges.py") as client:
        class_doc = await result_of(client, "read_doc", name="HopperBarge")
        without = await result_of(client, "read_doc", name="HopperBarge.tip")

    members = ["HopperBarge.empty()", "HopperBarge.load(tonnes)", "HopperBarge.tip()"]
    assert [line.strip() for line in class_doc.splitlines()[-3:]] == members
    assert without.endswith("It has no documentation; read_source shows how it is written.")


async def test_what_a_class_overrides_is_not_the_same(barges: Path) -> None:
    async with stdio(barges, "--root", "here", "--library", "barges.py") as client:
        apis = await result_of(client, "find_apis", task="load tonnes, unload all")

    assert all(f"- {one}.load(" in apis for one in ("Barge", "TankBarge", "HopperBarge"))
    same = [line for line in apis.splitlines() if "The same in" in line]
    assert len(same) == 1 and ".empty`" in same[0]


async def test_libraries_given_at_the_start_are_meant_where_none_is_named(barges: Path) -> None:
    async with stdio(barges, "--root", "here", "--library", "barges.py") as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        map_text = await result_of(client, "library_map")
        named_map = await result_of(client, "library_map", library="barges")
        result = await result_of(client, "check", solution="import barges", check="barges.Barge()")

    assert "started with barges: that is meant" in (tools["find_apis"].description or "")
    assert not any("\n  " in (one.description or "") for one in tools.values())
    assert "class barges.TankBarge" in map_text
    assert named_map == map_text
    assert result["verified"]


async def test_several_libraries_given_are_all_meant_but_not_for_one_map(barges: Path) -> None:
    (barges / "tugs.py").write_text('def pull():\n    """Pull barges."""')
    words = ("--root", "here", "--library", "barges.py", "--library", "tugs.py")
    async with stdio(barges, *words) as client:
        apis = await result_of(client, "find_apis", task="pull barges, load tonnes")
        message = await refused(client, "library_map")

    assert "from tugs import pull" in apis and "Barge.load" in apis
    assert "barges, tugs" in message


async def test_why_a_name_means_nothing_is_said(barges: Path) -> None:
    async with stdio(barges) as client:
        fresh = await refused(client, "read_doc", name="TankBarge.load")
        nothing = await refused(client, "find_apis", task="load")
        unknown = await refused(client, "find_apis", task="load", libraries=["no-such"])
        await result_of(client, "library_map", library="barges.py")
        no_member = await refused(client, "read_source", name="TankBarge.sink")
        other = await result_of(client, "read_doc", name="Hopper.load")

    assert "No library is known yet" in fresh
    assert "Say which libraries are meant" in nothing
    assert unknown.startswith("no-such: No library")
    assert "only the user can change" in unknown
    assert "Known are the libraries `barges`" in no_member
    assert other.startswith("There is no `Hopper.load`")


async def test_a_whole_exploration_tells_its_progress_and_is_a_resource_then(
    server: HttpServer, shelf: Path
) -> None:
    told_of: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told_of.append(message or "")

    arguments = {"task": TASK, "libraries": TEA, "context": CONTEXT, "check": CHECK}
    async with server.client() as client:
        result = await client.call_tool(
            "explore", {**arguments, "notebook": "found/tea.ipynb"}, progress_callback=hear
        )
        no_folder = text(result)
        result = await client.call_tool(
            "explore", {**arguments, "notebook": "tea tree.ipynb"}, progress_callback=hear
        )
        resources = (await client.list_resources()).resources
        read = await client.read_resource(resources[0].uri)

    assert "There is no folder" in no_folder
    outcome = result.structured_content
    assert outcome is not None
    assert outcome == json.loads(text(result))
    assert outcome["verified"] and "def strong_names" in outcome["solution"]
    assert [step["status"] for step in outcome["plan"]] == ["done"] * 3
    assert outcome["notebook"] == str(shelf / "project" / "tea tree.ipynb")
    assert "Starting the model" in told_of and "Finished" in told_of
    assert [one.name for one in resources] == ["tea tree.ipynb"]
    assert TASK in read.contents[0].text
    (shelf / "project" / "tea tree.ipynb").unlink()


@pytest.mark.parametrize(
    "path", ["../secret.ipynb", "%2e%2e/secret.ipynb", "/etc/passwd", "link.ipynb", "a%00.ipynb"]
)
async def test_no_resource_lies_outside_the_folder(
    server: HttpServer, shelf: Path, path: str
) -> None:
    link, secret = shelf / "project" / "link.ipynb", shelf / "secret.ipynb"
    secret.write_text('{"metadata": {"exploracoder": {"task": "a secret"}}}')
    link.symlink_to(secret)
    try:
        async with server.client() as client:
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(f"exploration://{path}")
            resources = (await client.list_resources()).resources
    finally:
        link.unlink()

    assert "a secret" not in str(refusal.value)
    assert resources == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer w\xf6rong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "Bearer {token}", "Host": "evil.example"}, 421),
        ({"Authorization": "Bearer {token}", "Origin": "http://evil.example"}, 403),
    ],
)
async def test_who_has_no_token_or_comes_from_elsewhere_is_not_let_in(
    server: HttpServer, headers: dict[str, str], status: int
) -> None:
    encoded_headers = {
        name: value.format(token=server.token).encode("latin-1") for name, value in headers.items()
    }
    accepts = {"Accept": b"application/json, text/event-stream"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(server.url, json=ping, headers={**accepts, **encoded_headers})

    assert answer.status_code == status
    assert server.token not in answer.text


async def test_an_exploration_that_is_cancelled_leaves_its_notebook_alone(
    serve: Serve, own_library: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model, temporary = serve(lambda request: Delay(120, "too late")), tmp_path_factory.mktemp("t")
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with http_server(own_library, model_words(model), environment) as server:
        async with server.client() as client:
            with anyio.move_on_after(120) as scope:
                async with anyio.create_task_group() as group:
                    arguments = {"task": TASK, "libraries": TEA, "notebook": "cut.ipynb"}
                    group.start_soon(client.call_tool, "explore", arguments)
                    await asyncio.to_thread(model.wait_for_requests, 1, PATIENCE_S)
                    await until(lambda: bool(descendants(server.pid)))
                    group.cancel_scope.cancel()
            await until(lambda: not (descendants(server.pid) or any(temporary.iterdir())))
            still = await result_of(client, "run_cells", cells=["1"])
            resources = (await client.list_resources()).resources

    assert [one.name for one in resources] == ["cut.ipynb"]
    assert not scope.cancelled_caught
    assert still["cells"][0]["output"] == "1"


async def test_a_client_that_disconnects_in_the_middle_leaves_no_process(
    serve: Serve, library: Path
) -> None:
    model = serve(lambda request: Delay(120, "too late"))
    own = descendants(os.getpid())
    async with (
        anyio.create_task_group() as group,
        stdio(library, *model_words(model)) as client,
    ):
        group.start_soon(_until_closed, client, {"task": TASK, "libraries": TEA})
        await asyncio.to_thread(model.wait_for_requests, 1, PATIENCE_S)

    await until(lambda: descendants(os.getpid()) <= own)


async def _until_closed(client: Client, arguments: dict[str, Any]) -> None:
    with pytest.raises(MCPError):
        await client.call_tool("explore", arguments)


def test_nonsense_is_passed_over(library: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }
    nonsense = ["{", "[]", "null", '{"jsonrpc": "2.0", "id": 7}', "\x00\xff", '"' + "x" * 100_000]

    process = subprocess.run(
        [PROGRAM, "mcp"],
        input="\n".join([*nonsense, json.dumps(hello), ""]),
        cwd=library,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    answers = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 0
    assert any(one.get("id") == 1 and "result" in one for one in answers)


def test_without_the_package_it_says_what_to_install(library: Path) -> None:
    start = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['exploracoder', 'mcp']\n"
        "from exploracoder import cli; cli.main()"
    )

    process = subprocess.run(
        [sys.executable, "-c", start], cwd=library, capture_output=True, text=True, check=False
    )

    assert process.returncode == 2
    assert "pip install 'exploracoder[mcp]'" in process.stderr


def test_a_port_that_is_taken_a_setting_and_a_folder_that_are_not_there_are_said(
    command: Command, server: HttpServer
) -> None:
    port = server.url.rpartition(":")[2].partition("/")[0]

    outcomes = [
        command("mcp", "--http", "--port", port),
        command("mcp", "--port", "1"),
        command("mcp", "--set", "no-such=1"),
        command("mcp", "--root", "/no/such/folder"),
        command("mcp", "--method", "rrr"),
    ]

    assert [one.code for one in outcomes] == [2, 2, 2, 2, 2]
    assert f"Port {port} cannot be used" in outcomes[0].err
    assert "--port is for --http" in outcomes[1].err
    assert "--set takes NAME=VALUE" in outcomes[2].err
    assert "--root" in outcomes[3].err
    assert "--method rrr writes a class into a repository" in outcomes[4].err


async def test_the_branch_not_used_for_longest_is_dropped_and_that_is_said(
    library: Path, sandboxing: ChosenSandbox
) -> None:
    async def start() -> AbstractAsyncContextManager[Scratch]:
        return local_scratch(sys.executable, library, sandbox=sandboxing)(Limits(), {})

    async with AsyncExitStack() as stack:
        branches = Branches(start, most=2)
        stack.push_async_callback(branches.close)
        first = await branches.run(["x = 1"], None, [])
        second = await branches.run(["x = 2"], None, [])
        await branches.go_back(first.branch)
        third = await branches.run(["x = 3"], None, [])

        with pytest.raises(InputError, match=f"'{second.branch}' was dropped: the 2") as refusal:
            await branches.run(["x"], second.branch, [])
        again = await branches.run(["x"], first.branch, [])

    assert f"b0, {first.branch}, {third.branch}" in str(refusal.value)
    assert again.observations[0].result == "1"


def test_who_kept_no_notebook_is_not_told_to_resume_it() -> None:
    advice = "Everything so far is saved; resume with a higher --max-seconds."
    failed = exploration(
        status="failed", solution=None, reason=f"The limit of 5 seconds was reached. {advice}"
    )

    lost, kept = explored(failed, None), explored(failed, "tea.ipynb")
    assert lost.reason == "The limit of 5 seconds was reached."
    assert "resume" not in lost.verdict
    assert "only the user can change" in kept.reason


async def test_a_kernel_lost_in_a_check_is_said(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object, **__: object) -> None:
        raise SidecarError("The kernel is gone.")

    monkeypatch.setattr(solution_check, "check", lost)
    with pytest.raises(SetupError, match="The kernel is gone"):
        await Tools(Folder(library), Options(), None).check("x = 1", ["tealeaf/"])


async def test_a_library_outside_the_folder_can_be_used_and_may_vanish(
    own_library: Path, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    path = own_library / "tealeaf"
    async with stdio(tmp_path, "--root", "here", "--library", path) as client:
        run = await result_of(client, "run_cells", cells=["import tealeaf\ntealeaf.__version__"])
        doc = await result_of(client, "read_doc", name="Kettle")
        await asyncio.to_thread(shutil.rmtree, path)
        message = await refused(client, "read_doc", name="Kettle")
        still = await result_of(client, "run_cells", cells=["1"])

    assert run["cells"][0]["output"] == "'2.1'"
    assert "A kettle" in doc
    assert "There is no documentation" in message
    assert still["cells"][0]["output"] == "1"


def test_a_server_that_waits_for_its_client_ends_with_a_signal(library: Path) -> None:
    process = subprocess.Popen(
        [PROGRAM, "mcp"],
        cwd=library,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    answer = process.stdout.readline()

    process.terminate()

    assert json.loads(answer)["id"] == 1
    assert process.wait(PATIENCE_S) == 130
    process.communicate()
