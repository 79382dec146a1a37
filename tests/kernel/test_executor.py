"""Whatever runs the engine's code can be put in another's place."""

from __future__ import annotations

import inspect

import pytest
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.kernel.remote import RemoteSidecar
from exploracoder_kernel.sidecar import Sidecar

# The types of what they take and give are checked where the protocol is.
EXECUTORS: tuple[type[Executor], ...] = (Sidecar, RemoteSidecar)
PROMISED = [name for name in vars(Executor) if not name.startswith("_")]


@pytest.mark.parametrize("kind", EXECUTORS)
@pytest.mark.parametrize("name", [name for name in PROMISED if callable(vars(Executor)[name])])
def test_each_executor_takes_what_the_protocol_names(kind: type[Executor], name: str) -> None:
    promised = inspect.signature(getattr(Executor, name)).parameters
    given = inspect.signature(getattr(kind, name)).parameters

    own = [parameter for parameter in given.values() if parameter.name not in promised]
    assert list(given)[: len(promised)] == list(promised)
    assert all(parameter.default is not parameter.empty for parameter in own)


@pytest.mark.parametrize("kind", EXECUTORS)
def test_each_executor_says_what_it_is_before_it_is_opened(kind: type[Executor]) -> None:
    executor = kind()

    said = [getattr(executor, name) for name in PROMISED if not callable(vars(Executor)[name])]
    assert all(isinstance(value, str) for value in said)
