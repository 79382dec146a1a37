"""Whatever runs the engine's code can be put in another's place."""

from __future__ import annotations

import inspect

import pytest
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.kernel.remote import RemoteSidecar
from exploracoder_kernel.sidecar import Sidecar

# The types of what they take and give are checked where the engine calls them.
EXECUTORS: tuple[type[Executor], ...] = (Sidecar, RemoteSidecar)
METHODS = (
    *("run", "fork", "drop", "promote", "interrupt", "measure"),
    *("variables", "resolve", "inspect", "unpickle"),
)


@pytest.mark.parametrize("name", METHODS)
def test_each_executor_takes_what_the_other_does(name: str) -> None:
    one, other = (inspect.signature(getattr(kind, name)).parameters for kind in EXECUTORS)

    shared = [parameter for parameter in one if parameter in other]
    own = [
        parameter
        for parameters in (one, other)
        for parameter in parameters.values()
        if parameter.name not in shared
    ]
    assert list(one)[: len(shared)] == list(other)[: len(shared)] == shared
    assert all(parameter.default is not parameter.empty for parameter in own)


@pytest.mark.parametrize("kind", EXECUTORS)
@pytest.mark.parametrize("name", ["root", "strategy", "strategy_reason", "python_version"])
def test_each_executor_says_what_it_is_before_it_is_opened(kind: type[Executor], name: str) -> None:
    assert isinstance(getattr(kind(), name), str)
