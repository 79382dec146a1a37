"""Real sandboxes of each kind that this machine has."""

from __future__ import annotations

import ast
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.errors import SandboxUnavailable
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.sandbox import ChosenSandbox, SandboxLimits, choose
from exploracoder_kernel.sidecar import Sidecar

Choose = Callable[..., ChosenSandbox]
Look = Callable[..., Awaitable[Observation]]


@pytest.fixture(params=["bubblewrap", "landlock"])
def mechanism(request: pytest.FixtureRequest) -> str:
    """Each that works here."""
    return str(request.param)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task's folder with an input in it."""
    folder = tmp_path / "task"
    (folder / "data").mkdir(parents=True)
    (folder / "input.txt").write_text("given")
    (folder / "data" / "more.txt").write_text("more")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home with secrets in it."""
    folder = tmp_path / "home"
    for name in (".ssh/id_rsa", ".aws/credentials", ".netrc", "notes.txt", ".config/gh/hosts.yml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("secret")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def boxed(mechanism: str, task: Path) -> Choose:
    """Chooses a sandbox of this mechanism; skips where there is none."""

    def chosen(
        level: str = "strict",
        *,
        cwd: Path = task,
        inputs: tuple[Path, ...] = (),
        limits: SandboxLimits | None = None,
        python: str | Path = sys.executable,
    ) -> ChosenSandbox:
        try:
            return choose(
                level,  # type: ignore[arg-type]
                python=python,
                cwd=cwd,
                inputs=inputs,
                limits=limits,
                mechanisms=(mechanism,),  # type: ignore[arg-type]
            )
        except SandboxUnavailable as error:
            pytest.skip(error.missing)

    return chosen


@pytest.fixture
def look(boxed: Choose, task: Path) -> Look:
    """Runs a snippet in a sandbox of its own and says what it showed."""

    async def run(
        code: str, level: str = "strict", *, cwd: Path = task, **options: Any
    ) -> Observation:
        python = options.get("python", sys.executable)
        launcher = boxed(level, cwd=cwd, **options).launcher
        async with Sidecar(python, cwd, launcher=launcher) as sidecar:
            return await sidecar.run(sidecar.root, code)

    return run


@pytest.fixture
def value_of() -> Callable[[Observation], Any]:
    """The value of a snippet's last expression, when it is made of Python's own types."""

    def value(observation: Observation) -> Any:
        assert observation.result is not None, observation
        return ast.literal_eval(observation.result)

    return value
