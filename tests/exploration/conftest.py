"""A small invented library, an index of it, a scripted model, and the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from exploracoder import cli
from exploracoder.state import Exploration
from exploracoder.testing import Script, ScriptedModelServer
from exploracoder_kernel.sandbox import ChosenSandbox

from .scripted import CHECK, CONTEXT, TASK, TeaModel

PACKAGES = Path(__file__).with_name("packages")
_CONFIGURATION = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "EXPLORACODER_MODEL",
    "EXPLORACODER_REASONING_EFFORT",
    "PYTHONPATH",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed as JSON."""
        return json.loads(self.out)


Command = Callable[..., Outcome]
Serve = Callable[..., ScriptedModelServer]


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library in it and, beside it, a cache that all tests share."""
    folder = tmp_path_factory.mktemp("shelf")
    shutil.copytree(PACKAGES, folder / "project")
    return folder


@pytest.fixture
def library(shelf: Path) -> Path:
    """The library's project folder: not to be changed."""
    return shelf / "project"


@pytest.fixture
def own_library(tmp_path: Path) -> Path:
    """A copy of the library that a test may change."""
    shutil.copytree(PACKAGES, tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture(autouse=True)
def surroundings(
    shelf: Path,
    library: Path,
    sandboxing: ChosenSandbox,
    strategy: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No endpoint configured, no one's cache touched, the library importable from here."""
    for name in _CONFIGURATION:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EXPLORACODER_CACHE", str(shelf / "cache"))
    # A port may come again: what one test's server refuses says nothing of another's.
    (shelf / "cache" / "dialects.json").unlink(missing_ok=True)
    (shelf / "cache" / "capabilities.json").unlink(missing_ok=True)
    # What one test's exploration solved is no example of another's.
    shutil.rmtree(shelf / "cache" / "data" / "examples", ignore_errors=True)
    monkeypatch.setenv("EXPLORACODER_CONFIG", str(shelf / "config"))
    monkeypatch.setenv("EXPLORACODER_SANDBOX", sandboxing.level)
    monkeypatch.setenv("EXPLORACODER_STRATEGY", strategy)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.chdir(library)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts scripted models; they stop with the test."""
    # The cache is shared, and a port may come again: no test's model is another test's.
    card = {"meta": {"test": uuid.uuid4().hex}}
    with ExitStack() as stack:

        def start(script: Script | str | None = None, **options: Any) -> ScriptedModelServer:
            options = {"card": card, **options}
            server = ScriptedModelServer(script or TeaModel(), **options)
            return stack.enter_context(server)

        yield start


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line in this process, which saves its start."""

    def run(*words: object, stdin: str | bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["exploracoder", *map(str, words)])
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        output = capsys.readouterr()
        code = exit_info.value.code
        return Outcome(code if isinstance(code, int) else -1, output.out, output.err)

    return run


@pytest.fixture
def match() -> Callable[[str, str], bool]:
    """Whether a pattern is found in a message, however it was broken into lines."""
    return lambda pattern, text: re.search(pattern, " ".join(text.split())) is not None


@dataclass(frozen=True, slots=True)
class Explorer:
    """Explores the usual task with a scripted model, from the command line."""

    folder: Path
    run: Command
    notebook: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notebook", self.folder / "tea.ipynb")

    def words(self, server: ScriptedModelServer, *more: object, task: str = TASK) -> list[str]:
        """The command's words, without the program's name."""
        words: list[object] = ["explore", task, "--library", "tealeaf/", *model_words(server)]
        return [str(word) for word in (*words, "--output", self.notebook, "--quiet", *more)]

    def __call__(
        self, server: ScriptedModelServer, *more: object, check: str | None = CHECK
    ) -> Outcome:
        """Explore; ``check`` None leaves the check away."""
        return self.run(*self.words(server, *self.files(check), *more))

    def files(
        self,
        check: str | None = CHECK,
        context: str = CONTEXT,
        entry_point: str | None = "strong_names",
    ) -> list[object]:
        """The options that bring context and check along, and name what the check calls."""
        (self.folder / "context.py").write_text(context, encoding="utf-8")
        options: list[object] = ["--context", self.folder / "context.py"]
        if check is not None:
            (self.folder / "check.py").write_text(check, encoding="utf-8")
            options += ["--check", self.folder / "check.py"]
            options += ["--entry-point", entry_point] if entry_point else []
        return options

    @property
    def exploration(self) -> Exploration:
        """What was saved."""
        return saved(self.notebook)


@pytest.fixture
def explore(tmp_path: Path, command: Command) -> Explorer:
    return Explorer(tmp_path, command)


def model_words(server: ScriptedModelServer) -> Sequence[str]:
    """The options that name a scripted model."""
    return ["--base-url", server.base_url, "--model", server.model]


def saved(notebook: Path) -> Exploration:
    """The exploration in a notebook's metadata."""
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]["exploracoder"]
    return Exploration.model_validate(metadata)


def start_command(words: Sequence[object], folder: Path) -> subprocess.Popen[str]:
    """Runs the installed command in a process of its own."""
    program = Path(sys.executable).with_name("exploracoder")
    return subprocess.Popen(
        [program, *map(str, words)],
        cwd=folder,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
