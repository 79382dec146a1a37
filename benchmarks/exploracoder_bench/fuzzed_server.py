"""A Jupyter server with the extension, in folders of its own, for whoever wants to harm it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer

TOKEN = "fuzz"
_START_SECONDS = 60.0
_FOREIGN = ("JUPYTER", "EXPLORACODER_", "OPENAI_", "PYTHONPATH")
_LIBRARY = '''\
"""Pebbles in a row."""


def heap(count):
    """Make a heap of so many pebbles."""
    return list(range(count))


def largest(pebbles):
    """The largest pebble of a heap."""
    return max(pebbles)
'''
_CODES = (
    "import pebbles\nheap = pebbles.heap(5)\nprint(heap)",
    "import pebbles\nheap = pebbles.heap(3)",
    "1 / 0",
    "print('<script>alert(1)</script>')",
    "import os\nos._exit(3)",
    "x = [1, 2, 3]\nx",
)


@dataclass(frozen=True, slots=True)
class FuzzedServer:
    """Where it answers, and where it keeps what it knows."""

    url: str
    root: Path
    journal: Path
    log: Path

    def client(self) -> httpx.AsyncClient:
        """A client that is let in."""
        return httpx.AsyncClient(
            base_url=f"{self.url}/exploracoder/api/",
            headers={"Authorization": f"token {TOKEN}"},
            timeout=60,
            trust_env=False,
        )


@contextlib.contextmanager
def serving(folder: Path, seed: int, *, max_open: int = 6) -> Iterator[FuzzedServer]:
    """Start a server in an empty folder; it ends with the block.

    Raises RuntimeError with its log when it does not start.
    """
    root = folder / "root"
    (root / "pebbles").mkdir(parents=True)
    (root / "pebbles" / "__init__.py").write_text(_LIBRARY, encoding="utf-8")
    port, log = _free_port(), folder / "jupyter.log"
    with ScriptedModelServer(_Model(seed)) as model, log.open("ab") as out:
        process = subprocess.Popen(
            [*_words(port, root), f"--ExploraCoder.max_open={max_open}"],
            cwd=root,
            env=_environment(folder, model),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        journal = folder / "JUPYTER_DATA_DIR" / "exploracoder" / "explorations"
        server = FuzzedServer(f"http://127.0.0.1:{port}", root, journal, log)
        try:
            _wait(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class _Model:
    """Answers each form with something that fits it, and with code that may fail."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, request: RecordedRequest) -> Outcome:
        wanted = json.dumps(request.body.get("response_format", {}))
        if '"subtasks"' in wanted and '"task"' in wanted:
            return json.dumps({"task": "Count pebbles.", "subtasks": ["Make a heap"]})
        if '"subtasks"' in wanted:
            goals = ["Make a heap of pebbles", "Find the largest pebble", "Print what was found"]
            return json.dumps({"subtasks": goals[: self._random.randint(1, 3)]})
        if '"relevant"' in wanted:
            return json.dumps({"relevant": [1]})
        return f"```python\n{self._random.choice(_CODES)}\n```"


def _words(port: int, root: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "jupyter_server",
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={TOKEN}",
        "--ServerApp.jpserver_extensions={'exploracoder_jupyter': True}",
    ]


def _environment(folder: Path, model: ScriptedModelServer) -> Mapping[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    kept = {n: v for n, v in os.environ.items() if n in ("EXPLORACODER_SANDBOX",)}
    return {
        **own,
        **kept,
        **{name: str(folder / name) for name in folders},
        "EXPLORACODER_CACHE": str(folder / "cache"),
        "EXPLORACODER_CONFIG": str(folder / "consent"),
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "none",
        "EXPLORACODER_MODEL": model.model,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _wait(server: FuzzedServer, process: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{server.url}/api", trust_env=False).status_code == 200:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(server.log.read_text(encoding="utf-8", errors="replace")[-4000:])
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
