"""In which sandbox, and with which strategy, the tests run code: ``--sandbox`` and ``--strategy``.

By default the sandbox is strict where one can be had, and branches are made as is safe. Tests that
are marked ``thorough`` run with ``--thorough``, or when they are named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from exploracoder_kernel.errors import SandboxUnavailable
from exploracoder_kernel.sandbox import LEVELS, Sandboxing, choose


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sandbox", choices=LEVELS, default="auto", help="level of the sandbox")
    parser.addoption("--strategy", choices=("auto", "fork", "replay"), default="auto")
    parser.addoption("--thorough", action="store_true", help="run the long tests too")


def pytest_configure(config: pytest.Config) -> None:
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
    chosen = {"levels": config.getoption("sandbox"), "strategies": config.getoption("strategy")}
    chosen["levels"] = _sandboxing(config).level
    for item in items:
        for name, value in chosen.items():
            marker = item.get_closest_marker(name)
            if marker is not None and value not in marker.args:
                item.add_marker(pytest.mark.skip(reason=marker.kwargs["reason"]))


def _sandboxing(config: pytest.Config) -> Sandboxing:
    level = config.getoption("sandbox")
    try:
        return choose(level, python=sys.executable, cwd=Path.cwd())
    except SandboxUnavailable:
        if level != "auto":
            raise
        return choose("off", python=sys.executable, cwd=Path.cwd())


@pytest.fixture(scope="session")
def sandboxing(pytestconfig: pytest.Config) -> Sandboxing:
    """The sandbox that code of tests runs in, unless a test is about another."""
    return _sandboxing(pytestconfig)


@pytest.fixture(scope="session")
def strategy(pytestconfig: pytest.Config) -> str:
    """How branches are made, unless a test is about one way."""
    return str(pytestconfig.getoption("strategy"))
