"""An IPython shell with the magics, a scripted model, and the small library of the engine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from exploracoder.testing import ScriptedModelServer
from exploracoder_kernel.sandbox import ChosenSandbox
from exploration.scripted import (
    COLLECT,
    CONTEXT,
    GOALS,
    KEEP,
    READ,
    TASK,
    Model,
    TeaModel,
    fenced,
    script_of,
)
from exploration.scripted import NAMES_CHECK as CHECK
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__ = [
    "CHECK",
    "COLLECT",
    "CONTEXT",
    "GOALS",
    "KEEP",
    "READ",
    "TASK",
    "TeaModel",
    "fenced",
    "script_of",
]

TESTS = Path(__file__).parents[1]
SOLUTION = f"{READ}\n{KEEP}\n{COLLECT}"


@dataclass
class Stage:
    """What the tests of this folder share."""

    folder: Path
    model: Model
    server: ScriptedModelServer

    @property
    def configuration(self) -> str:
        """The line that makes the magics ask the scripted model."""
        return (
            f"%exploracoder config model={self.server.model} base-url={self.server.base_url}"
            " candidates=1 rerank=none"
        )


@pytest.fixture(scope="package")
def stage(
    tmp_path_factory: pytest.TempPathFactory, sandboxing: ChosenSandbox, strategy: str
) -> Iterator[Stage]:
    """A folder with the library, an index that is read once, and a model, in the environment."""
    folder = tmp_path_factory.mktemp("stage")
    shutil.copytree(TESTS / "exploration" / "packages", folder / "project")
    model = Model()
    with pytest.MonkeyPatch.context() as patch, ScriptedModelServer(model) as server:
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EXPLORACODER_MODEL"):
            patch.delenv(name, raising=False)
        patch.setenv("EXPLORACODER_CACHE", str(folder / "cache"))
        patch.setenv("EXPLORACODER_CONFIG", str(folder / "config"))
        patch.setenv("EXPLORACODER_SANDBOX", sandboxing.level)
        patch.setenv("EXPLORACODER_STRATEGY", strategy)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        yield Stage(folder / "project", model, server)


@dataclass
class Terminal:
    """A shell without a front end, whose lines are run as a person types them."""

    shell: InteractiveShell
    stage: Stage
    read: Callable[[], str]

    def type(self, cell: str) -> str:
        """Run a cell that goes well; what it printed."""
        self.read()
        result = self.shell.run_cell(cell)
        output = self.read()
        assert result.success, output
        return output

    def fail(self, cell: str) -> str:
        """Run a cell that is refused; the sentence that says why."""
        self.read()
        result = self.shell.run_cell(cell)
        output = self.read()
        assert not result.success, output
        assert "Traceback" not in output
        return " ".join(output.split("UsageError: ")[-1].split())

    @property
    def next_cell(self) -> str:
        """What was put into the next cell."""
        text, self.shell.rl_next_input = self.shell.rl_next_input, None
        return str(text)


@pytest.fixture
def terminal(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Terminal]:
    """A new shell, with the magics loaded; the library is in its folder."""
    monkeypatch.chdir(stage.folder)
    stage.model.script = TeaModel(solutions=(fenced(SOLUTION),))
    # A shell takes the place of the main module, of which copies of variables are made.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    settings = Config()
    settings.HistoryManager.enabled = False
    shell: Any = InteractiveShell.instance(config=settings)

    def read() -> str:
        streams = capsys.readouterr()
        return streams.out + streams.err

    try:
        shell.run_line_magic("load_ext", "exploracoder")
        shell.run_cell(stage.configuration)
        yield Terminal(shell, stage, read)
    finally:
        shell.run_line_magic("unload_ext", "exploracoder")
        shell.restore_sys_module_state()
        InteractiveShell.clear_instance()
