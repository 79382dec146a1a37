"""A Jupyter server with the extension, a scripted model, and the small library of the engine."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from exploracoder.testing import ScriptedModelServer
from exploracoder_kernel.sandbox import ChosenSandbox
from exploration.scripted import CONTEXT, GOALS, TASK, Model, TeaModel, fenced
from exploration.scripted import NAMES_CHECK as CHECK

from .server import Client, Server

__all__ = ["CHECK", "GOALS", "Model", "TeaModel", "fenced"]

TESTS = Path(__file__).parents[1]


@dataclass
class House:
    """What servers of tests share: the model, the library, an index that is read once."""

    folder: Path
    library: Path
    model: Model
    endpoint: ScriptedModelServer
    sandbox: str
    strategy: str
    stack: ExitStack

    def server(self, name: str, *, options: tuple[str, ...] = (), **arguments: Any) -> Server:
        """A server with folders of its own; it is stopped at the end."""
        home = self.folder / name
        home.mkdir()
        (home / "root").mkdir()
        shutil.copytree(self.library, home / "root" / "project")
        variables = {
            "OPENAI_BASE_URL": self.endpoint.base_url,
            "OPENAI_API_KEY": "none",
            "EXPLORACODER_MODEL": self.endpoint.model,
            "EXPLORACODER_CACHE": str(self.folder / "cache"),
            "EXPLORACODER_CONFIG": str(self.folder / "config"),
            "EXPLORACODER_SANDBOX": self.sandbox,
            "EXPLORACODER_STRATEGY": self.strategy,
            # No test fetches the embedded model.
            "HF_HUB_OFFLINE": "1",
            "PIP_NO_INDEX": "1",
            **arguments.pop("variables", {}),
        }
        server = Server(home, variables, options, **arguments)
        self.stack.callback(server.stop)
        return server.start()


def request(**changes: Any) -> dict[str, Any]:
    """The usual exploration."""
    usual = {
        "task": TASK,
        "libraries": ["./project/tealeaf"],
        "context": CONTEXT,
        "check": CHECK,
        "mode": "review",
        "profile": "standard",
        "settings": {"candidates": 2},
    }
    return usual | changes


@pytest.fixture(scope="session")
def house(
    tmp_path_factory: pytest.TempPathFactory, sandboxing: ChosenSandbox, strategy: str
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(TESTS / "exploration" / "packages", folder / "library")
    model = Model()
    with ExitStack() as stack:
        endpoint = stack.enter_context(ScriptedModelServer(model))
        yield House(folder, folder / "library", model, endpoint, sandboxing.level, strategy, stack)


@pytest.fixture(scope="session")
def shared_server(house: House) -> Server:
    return house.server("shared", options=("--ExploraCoder.max_open=100",))


@pytest.fixture
def model(house: House) -> Iterator[Model]:
    """The model of all servers, with its usual lines at the start and after the test."""
    house.model.script = TeaModel()
    yield house.model
    house.model.script = TeaModel()


@pytest.fixture
async def client(shared_server: Server, model: Model) -> AsyncIterator[Client]:
    """A tab's view of a server that other tests use too; what it opened is closed."""
    client = Client(shared_server)
    yield client
    for one in (await client.get("explorations")).json["explorations"]:
        if one["is_open"]:
            await client.ask("DELETE", f"explorations/{one['id']}")
    await client.aclose()
