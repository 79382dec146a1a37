"""In which sandbox, and with which strategy, the tests run code: ``--sandbox`` and ``--strategy``.

By default the sandbox is strict where one can be had, and branches are made as is safe. Tests that
are marked ``thorough`` run with ``--thorough``, or when they are named.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from exploracoder_kernel.errors import SandboxUnavailable
from exploracoder_kernel.sandbox import LEVELS, ChosenSandbox, choose
from jupyter_client.manager import KernelManager

_SECONDS = 120.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sandbox", choices=LEVELS, default="auto", help="level of the sandbox")
    parser.addoption("--strategy", choices=("auto", "fork", "replay"), default="auto")
    parser.addoption("--thorough", action="store_true", help="run the long tests too")


def pytest_configure(config: pytest.Config) -> None:
    # A shell has what it starts in the background ignore Ctrl-C, and so would all that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # What tests save is nobody's: it is not signed as the user's own.
    folder = tempfile.TemporaryDirectory(prefix="exploracoder-tests-")
    config.add_cleanup(folder.cleanup)
    os.environ["JUPYTER_DATA_DIR"] = folder.name
    config.addinivalue_line(
        "markers", "levels(*levels, reason): can run in these levels of the sandbox only"
    )
    config.addinivalue_line(
        "markers", "strategies(*strategies, reason): can run with these strategies only"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_named = any("::" in argument for argument in config.args)
    if not (config.getoption("thorough") or is_named):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    options = {"levels": config.getoption("sandbox"), "strategies": config.getoption("strategy")}
    options["levels"] = _sandboxing(config).level
    for item in items:
        for name, value in options.items():
            marker = item.get_closest_marker(name)
            if marker is not None and value not in marker.args:
                item.add_marker(pytest.mark.skip(reason=marker.kwargs["reason"]))


def _sandboxing(config: pytest.Config) -> ChosenSandbox:
    level = config.getoption("sandbox")
    try:
        return choose(level, python=sys.executable, cwd=Path.cwd())
    except SandboxUnavailable:
        if level != "auto":
            raise
        return choose("off", python=sys.executable, cwd=Path.cwd())


@pytest.fixture(scope="session")
def sandboxing(pytestconfig: pytest.Config) -> ChosenSandbox:
    """The sandbox that code of tests runs in, unless a test is about another."""
    return _sandboxing(pytestconfig)


@pytest.fixture(scope="session")
def strategy(pytestconfig: pytest.Config) -> str:
    """How branches are made, unless a test is about one way."""
    return str(pytestconfig.getoption("strategy"))


@pytest.fixture(scope="module")
def start_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Starts kernels such as people have, in which cells have run: their connection files.

    They end with the tests of the module. ``python`` is another interpreter than this one.
    """
    with ExitStack() as stack:

        def start(*cells: str, python: Path | None = None) -> str:
            folder = tmp_path_factory.mktemp("kernel")
            manager = KernelManager(
                kernel_name="python3",
                transport="ipc",
                ip=str(folder / "s"),
                connection_file=str(folder / "kernel-own.json"),
            )
            if python is not None:
                assert manager.kernel_spec is not None
                manager.kernel_spec.argv[0] = str(python)
            manager.start_kernel(cwd=str(folder), stdout=subprocess.DEVNULL)
            stack.callback(manager.shutdown_kernel, now=True)
            _run_cells(manager, cells)
            return str(manager.connection_file)

        yield start


def _run_cells(manager: KernelManager, cells: tuple[str, ...]) -> None:
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=_SECONDS)
        for cell in cells:
            ran = client.execute_interactive(cell, timeout=_SECONDS, output_hook=lambda _: None)
            assert ran["content"]["status"] == "ok"
    finally:
        client.stop_channels()
