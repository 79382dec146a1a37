"""What an exploration works with, opened once: interpreter, sandbox, index, libraries, model."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from exploracoder_kernel.errors import SandboxUnavailable, SidecarError
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import Consent, LevelChoice, choose
from exploracoder_kernel.strategies import StrategyChoice
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter

from exploracoder import confined_interpreter, document, prepare, trust
from exploracoder.errors import InputError, SetupError, raised_as
from exploracoder.installed import find_libraries, import_paths, version_changes
from exploracoder.methods import DEFAULT
from exploracoder.models.chat import ChatModel
from exploracoder.opening import Opening, OpenScratch, local_scratch
from exploracoder.replay import Replay, ReplayedCell, replay
from exploracoder.state import Exploration, Library
from exploracoder.user_variables import AnySource, bring, check_source

if TYPE_CHECKING:
    from exploracoder.models.reply_cache import ReplyCache

ResultT = TypeVar("ResultT")
SessionT = TypeVar("SessionT")
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Where and with what an exploration works. All of it means what it means on the command line.

    Attributes:
        base_url: An OpenAI-compatible endpoint.
        reasoning_effort: How long a model that reasons is to think; without one
            ``EXPLORACODER_REASONING_EFFORT``, or what the server does by itself.
        cache: Answer repeated requests from the reply cache.
        replies: A reply cache of one's own.
        lora: An adapter for the embedded model.
        profile: The set of settings; without one it is that of the model.
        settings: Single settings, by their names.
        method: The way from a task to a solution.
        seed: Of all sampling.
        python: The interpreter that snippets run in; without one it is this one.
        sandbox: What snippets are kept from; without one ``EXPLORACODER_SANDBOX``, or ``auto``.
        readable: More files and folders that they may read.
        consent: Asked whether to go on without a sandbox where ``auto`` finds none, and given what
            is missing; without one the answer is no.
        trust: Go on with an exploration, too, that was not made here.
        strategy: How branches are made; without one ``EXPLORACODER_STRATEGY``, or ``auto``.
        chroma_url: A chroma server instead of a folder.
        embeddings_url: An OpenAI-compatible endpoint that embeds.
        embeddings_model: Its model.
        import_compiled: Import the compiled modules of folders named as libraries, in a sandbox.
    """

    base_url: str | None = None
    reasoning_effort: str | None = None
    cache: bool = False
    replies: ReplyCache | None = None
    lora: Path | None = None
    profile: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    method: str = DEFAULT
    seed: int = 0
    python: str | None = None
    sandbox: str | None = None
    readable: Sequence[Path] = ()
    consent: Callable[[str], bool] = lambda missing: False
    trust: bool = False
    strategy: str | None = None
    chroma_url: str | None = None
    embeddings_url: str | None = None
    embeddings_model: str = ""
    import_compiled: bool = False

    @property
    def sandbox_level(self) -> LevelChoice:
        """The sandbox that is asked for. Raises InputError when there is no such level."""
        level = self.sandbox or os.environ.get("EXPLORACODER_SANDBOX") or "auto"
        return cast(LevelChoice, _one_of("sandbox", level, get_args(LevelChoice)))

    @property
    def branching(self) -> StrategyChoice:
        """How branches are to be made. Raises InputError when there is no such way."""
        strategy = self.strategy or os.environ.get("EXPLORACODER_STRATEGY") or "auto"
        return cast(StrategyChoice, _one_of("strategy", strategy, get_args(StrategyChoice)))

    def open_index(self) -> Index:
        """The user's index, a context manager. Raises SetupError when it cannot be opened."""
        return prepare.open_index(
            chroma_url=self.chroma_url,
            embeddings_url=self.embeddings_url,
            embeddings_model=self.embeddings_model,
        )

    def open_model(self, model: str | ChatModel | None) -> AbstractAsyncContextManager[ChatModel]:
        """The model that is named; one that is open already belongs to the caller.

        What is raised on entering is what `prepare.open_model` raises.
        """
        if model is not None and not isinstance(model, str):
            return nullcontext(model)
        return prepare.open_model(
            model,
            self.base_url,
            cache=self.cache,
            replies=self.replies,
            lora=self.lora,
            reasoning_effort=self.reasoning_effort,
        )

    def find_interpreter(self, exploration: Exploration | None = None) -> Interpreter:
        """The interpreter that snippets run in: the one named, or else that of an exploration.

        Raises InputError when it cannot be used.
        """
        then = prepare.interpreter_then(exploration) if exploration is not None else None
        return confined_interpreter.find_interpreter(
            self.python or then, import_compiled=self.import_compiled
        )

    def find_scratch(
        self, python: str | Path, exploration: Exploration | None = None
    ) -> OpenScratch:
        """What opens scratch kernels here, in the sandbox that is asked for; the exploration's
        repository is readable there. Raises SetupError when there is no sandbox, and nobody agreed
        to go on without, InputError when there is no such level or way to make branches."""
        here, target = Path.cwd(), exploration.task.target if exploration is not None else None
        readable = (*self.readable, *([Path(target.root)] if target is not None else []))
        find = partial(choose, python=python, cwd=here, inputs=readable)
        with raised_as(SetupError, SidecarError, OSError):
            try:
                sandboxing = find(self.sandbox_level)
            except SandboxUnavailable as error:
                if self.sandbox_level != "auto" or not self.consent(error.missing):
                    raise
                Consent().give()
                sandboxing = find("auto")
        return local_scratch(python, here, strategy=self.branching, sandboxing=sandboxing)


@dataclass(frozen=True, slots=True)
class Workspace:
    """All that is open for an exploration whose libraries are indexed, the model excepted."""

    exploration: Exploration
    output: Path
    index: Index
    opening: Opening

    async def save(self, exploration: Exploration) -> None:
        """Write the notebook. Raises SetupError when it cannot be written."""
        document.save(self.output, exploration)

    def session(
        self, kind: Callable[..., SessionT], model: ChatModel, **others: object
    ) -> SessionT:
        """A session of this kind, which works on the exploration here."""
        here = {"index": self.index, "opening": self.opening, "save": self.save}
        return kind(self.exploration, model=model, **here, **others)


@contextmanager
def open_workspace(
    exploration: Exploration,
    output: Path,
    options: Options,
    *,
    source: AnySource | None,
    tell: Tell,
) -> Iterator[Workspace]:
    """Find the interpreter and the sandbox, index the libraries. ``tell`` is told of each.

    Raises:
        InputError: The interpreter, a library, or the notebook's folder cannot be used, or the
            exploration needs a ``source`` of variables.
        SetupError: Index or sandbox cannot be had.
    """
    check_source(source, exploration.brought)
    _check_writable(output)
    interpreter = options.find_interpreter(exploration)
    python = str(interpreter.executable)
    scratch = options.find_scratch(python, exploration)
    with options.open_index() as index:
        indexed_exploration = prepare.with_libraries(exploration, index, interpreter, progress=tell)
        yield Workspace(
            indexed_exploration, output, index, Opening(python, scratch, source, str(output))
        )


@contextmanager
def open_libraries(
    targets: Sequence[str], options: Options, *, tell: Tell | None = None
) -> Iterator[tuple[Index, tuple[Library, ...]]]:
    """The index with libraries in it, up to date. Raises InputError when one cannot be had."""
    with options.open_index() as index:
        interpreter = options.find_interpreter()
        yield index, prepare.index_libraries(index, targets, interpreter, progress=tell)


def prepare_replay(
    exploration: Exploration, folder: Path, options: Options, *, source: AnySource | None
) -> Callable[..., Coroutine[Any, Any, Replay]]:
    """What runs the accepted cells of an exploration again, in a scratch kernel of their own.

    It tells of each cell to a ``tell`` that it is given, and raises InputError when variables that
    the exploration began with cannot be brought, SetupError when the kernel cannot be started or
    was lost. A library that is not where it was is looked for in ``folder``. Raises InputError and
    SetupError when the interpreter, a library or the sandbox cannot be had.
    """
    check_source(source, exploration.brought)
    interpreter = options.find_interpreter(exploration)
    libraries = find_libraries(exploration, interpreter, (Path.cwd(), folder))
    versions = tuple(version_changes(exploration, libraries))
    limits = Limits(wall_seconds=exploration.settings.run_seconds)
    scratch = options.find_scratch(interpreter.executable, exploration)

    async def run(tell: Callable[[ReplayedCell], None] = lambda cell: None) -> Replay:
        cells = []
        with raised_as(SetupError, SidecarError):
            async with scratch(
                limits, import_paths(one.home for one in libraries)
            ) as scratch_kernel:
                await bring(scratch_kernel.executor, source, exploration.brought)
                async for cell in replay(scratch_kernel.executor, exploration, versions):
                    tell(cell)
                    cells.append(cell)
        return Replay(versions=versions, cells=tuple(cells))

    return run


def check_trust(
    exploration: Exploration,
    name: str,
    options: Options,
    *,
    agreed: str = "",
    reads: Sequence[Path] = (),
) -> None:
    """Refuse an exploration that was not made here, unless the options say to trust it.

    ``agreed`` is the digest of what was shown and agreed to, ``reads`` what it could read besides.
    Raises UntrustedError with what it would run and read.
    """
    trust.check(
        exploration,
        name,
        python=options.python or prepare.interpreter_then(exploration) or sys.executable,
        sandbox=options.sandbox_level,
        reads=(Path.cwd(), *reads, *options.readable),
        agreed=options.trust or agreed,
    )


async def in_thread(function: Callable[..., ResultT], *arguments: Any) -> ResultT:
    """Run what blocks in a thread. Who cancels waits for its end: what it uses is closed then."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        raise


def _check_writable(output: Path) -> None:
    """Raise InputError now rather than after an hour's work when ``output`` cannot be written."""
    folder = output.parent
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder} to save {output.name} in.")
    if output.is_dir():
        raise InputError(f"{output} is a folder; give a file name that ends in .ipynb.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _one_of(option: str, choice: str, names: Sequence[str]) -> str:
    if choice not in names:
        raise InputError(f"There is no {option} {choice!r}. Known: {', '.join(names)}.")
    return choice
