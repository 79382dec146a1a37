"""``exploracoder sidecar install`` and ``tree``: with kernels that run."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest
from exploracoder.cli.branch_tree import draw_branches
from exploracoder_kernel.sidecar import Sidecar
from jupyter_client.manager import KernelManager
from rich.console import Console
from rich.text import Text

from .conftest import Command, start_command

Start = Callable[..., KernelManager]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Jupyter's folders, where no kernel runs and none is known."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "prefix" / "share" / "jupyter"))
    (tmp_path / "runtime").mkdir()
    return tmp_path / "runtime"


@pytest.fixture
def start(runtime: Path, tmp_path: Path, command: Command) -> Iterator[Start]:
    """Starts kernels that the command line has installed."""
    prefix = tmp_path / "prefix"
    with ExitStack() as stack:

        def start_kernel(
            name: str, kernel_name: str = "own", transport: str = "ipc"
        ) -> KernelManager:
            outcome = command("sidecar", "install", "--name", "own", "--prefix", prefix)
            assert outcome.code == 0, outcome.err
            place = {"ip": str(tmp_path / name)} if transport == "ipc" else {}
            manager = KernelManager(
                kernel_name=kernel_name,
                transport=transport,
                connection_file=str(runtime / f"kernel-{name}.json"),
                **place,
            )
            manager.start_kernel(
                cwd=str(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            stack.callback(manager.shutdown_kernel, now=True)
            client = manager.client()
            client.start_channels()
            stack.callback(client.stop_channels)
            client.wait_for_ready(timeout=60)
            client.execute_interactive("x = 1", timeout=60)
            return manager

        yield start_kernel


@pytest.mark.parametrize("transport", ["ipc", "tcp"])
def test_the_newest_kernel_of_ours_is_drawn(
    command: Command, start: Start, runtime: Path, transport: str
) -> None:
    ours = start("ours", transport=transport)
    start("other", kernel_name="python3")
    (runtime / "kernel-broken.json").write_text("[]")
    connection = json.loads(Path(ours.connection_file).read_text()) | {
        "transport": "ipc",
        "ip": "gone",
    }
    (runtime / "kernel-gone.json").write_text(json.dumps(connection))

    outcome = command("sidecar", "tree")
    as_json = command("sidecar", "tree", "--kernel", ours.connection_file, "--json")

    assert outcome.code == 0, outcome.err
    assert ours.connection_file in outcome.out
    assert "b0  1 cell  idle  root  own " in outcome.out
    assert outcome.out.rstrip().endswith("← current")
    assert "\x1b" not in outcome.out
    assert as_json.json["current"] == as_json.json["root"] == "b0"
    assert [branch["cells"] for branch in as_json.json["branches"]] == [1]
    assert as_json.json["sandbox"]["level"] in ("strict", "network", "off")


def test_without_a_kernel_it_says_how_to_start_one(
    command: Command, start: Start, runtime: Path
) -> None:
    none = command("sidecar", "tree")
    missing = command("sidecar", "tree", "--kernel", "nope")
    other = start("other", kernel_name="python3")
    not_ours = command("sidecar", "tree", "--kernel", other.connection_file)

    assert {none.code, missing.code, not_ours.code} == {2}
    assert "Start one: jupyter console --kernel exploracoder" in none.err
    assert "No connection file 'nope'" in missing.err
    assert "does not answer as an ExploraCoder kernel" in not_ours.err


def test_watching_goes_on_until_ctrl_c(start: Start) -> None:
    ours = start("ours")
    words = ["sidecar", "tree", "--watch", "--json", "--kernel", ours.connection_file]
    with start_command(words, Path.cwd()) as process:
        assert process.stdout is not None
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=30)[1]

    assert process.returncode == 0, stderr
    assert [line["current"] for line in lines] == ["b0", "b0"]


async def test_a_tree_shows_goals_states_and_how_each_branch_was_made(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path) as sidecar:
        first = await sidecar.fork(sidecar.root, goal="read the\n\x1b[31mtable")
        await sidecar.run(first, "import threading, time")
        await sidecar.run(first, "threading.Thread(target=time.sleep, args=(60,)).start()")
        second = await sidecar.fork(first)
        dead = await sidecar.fork(sidecar.root)
        await sidecar.run(dead, "import os; os._exit(1)")
        branches = await sidecar.measure()

    file = StringIO()
    console = Console(width=200, file=file)
    console.print(draw_branches(branches, current=second, head=Text("head")))
    lines = file.getvalue().splitlines()

    assert lines[0] == "head"
    assert lines[1].startswith("└── b0  0 cells  idle  root  own ")
    assert lines[2].startswith(f"    ├── {first}  read the table  2 cells  idle  fork  own ")
    assert lines[3].startswith(f"    │   └── {second}  2 cells  ")
    assert "  replay" in lines[3]
    assert lines[3].endswith("← current")
    assert "threads are alive" in lines[4]
    assert lines[5].startswith(f"    └── {dead}  0 cells  dead  fork")


def test_install_refuses_what_cannot_be(command: Command, runtime: Path, tmp_path: Path) -> None:
    both = command("sidecar", "install", "--user", "--prefix", tmp_path)
    python = command("sidecar", "install", "--python", tmp_path / "no", "--prefix", tmp_path)
    name = command("sidecar", "install", "--name", "a b/c", "--prefix", tmp_path)

    assert {both.code, python.code, name.code} == {2}
    assert "Give either --user or --prefix." in both.err
    assert "No interpreter at" in python.err
    assert "a b/c" in name.err
