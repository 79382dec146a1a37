"""What an exploration works with, opened once: interpreter, sandbox, index, libraries, model."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from exploracoder_kernel.errors import SandboxUnavailable, SidecarError
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import Consent, LevelChoice, choose
from exploracoder_kernel.strategies import StrategyChoice
from exploracoder_retrieval.errors import RetrievalError
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
    """Where and with what an exploration works; the options mean the same on the command line.

    Attributes:
        base_url: An OpenAI-compatible endpoint.
        reasoning_effort: How long a reasoning model should think; defaults to
            ``EXPLORACODER_REASONING_EFFORT``, or what the server does by itself.
        cache: Answer repeated requests from the reply cache.
        replies: A reply cache to use instead of the user's.
        lora: An adapter for the embedded model.
        profile: The set of settings; defaults to the one that suits the model.
        settings: Individual settings, by name.
        method: The way from a task to a solution.
        seed: The seed of all sampling.
        python: The interpreter that snippets run in; defaults to this one.
        sandbox: What snippets are kept from; defaults to ``EXPLORACODER_SANDBOX``, or ``auto``.
        readable: More files and folders that snippets may read.
        consent: Called with what is missing if ``auto`` finds no sandbox; returns whether to go on
            without one. By default the answer is no.
        trust: Go on even with an exploration that was not made here.
        strategy: How branches are made; defaults to ``EXPLORACODER_STRATEGY``, or ``auto``.
        chroma_url: A chroma server instead of a folder.
        embeddings_url: An OpenAI-compatible endpoint that embeds.
        embeddings_model: The model of that endpoint.
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
        """The requested level of sandbox. Raises InputError if there is no such level."""
        level = self.sandbox or os.environ.get("EXPLORACODER_SANDBOX") or "auto"
        return cast(LevelChoice, _one_of("sandbox", level, get_args(LevelChoice)))

    @property
    def branching(self) -> StrategyChoice:
        """How to make branches. Raises InputError if there is no such strategy."""
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
        """Open the named model; one that is open already stays the caller's.

        Entering it raises what `prepare.open_model` raises.
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
        """Return an opener of scratch kernels here, in the requested sandbox, where the
        exploration's repository is readable. Raises SetupError if there is no sandbox and nobody
        agreed to go on without one, InputError if there is no such level or strategy."""
        here, target = Path.cwd(), exploration.task.target if exploration is not None else None
        readable = (*self.readable, *([Path(target.root)] if target is not None else []))
        find = partial(choose, python=python, cwd=here, inputs=readable)
        with raised_as(SetupError, SidecarError, OSError):
            try:
                sandbox = find(self.sandbox_level)
            except SandboxUnavailable as error:
                if self.sandbox_level != "auto" or not self.consent(error.missing):
                    raise
                Consent().give()
                sandbox = find("auto")
        return local_scratch(python, here, strategy=self.branching, sandbox=sandbox)


@dataclass(slots=True)
class Workspace:
    """Everything open for an exploration whose libraries are indexed, except the model.

    While it ``is_new``, a file at ``output`` is not its own, and makes room at the first save.
    """

    exploration: Exploration
    output: Path
    index: Index
    opening: Opening
    is_new: bool

    async def save(self, exploration: Exploration) -> None:
        """Write the notebook. Raises SetupError when it cannot be written, and InputError when a
        file in its place cannot make room."""
        # Not earlier: if nothing can be explored, the file stays where it is.
        aside = prepare.make_room(self.output) if self.is_new else None
        try:
            document.save(self.output, exploration)
        except SetupError:
            if aside is not None and not self.output.exists():
                with suppress(OSError):
                    aside.rename(self.output)
            raise
        self.is_new = False

    def session(
        self, kind: Callable[..., SessionT], model: ChatModel, **others: object
    ) -> SessionT:
        """Create a session of this kind for the exploration."""
        here = {"index": self.index, "opening": self.opening, "save": self.save}
        return kind(self.exploration, model=model, **here, **others)


@contextmanager
def open_workspace(
    exploration: Exploration,
    output: Path,
    options: Options,
    *,
    is_new: bool,
    source: AnySource | None,
    tell: Tell,
) -> Iterator[Workspace]:
    """Find the interpreter and the sandbox, and index the libraries; ``tell`` reports progress.

    If the exploration ``is_new``, whatever is at ``output`` is not its own.

    Raises:
        InputError: The interpreter, a library, or the notebook's folder cannot be used, or the
            exploration needs a ``source`` of variables.
        SetupError: The index or the sandbox is not available.
    """
    check_source(source, exploration.brought)
    # A link is replaced by a new notebook, but what it leads to goes on.
    _check_writable(output if is_new else Path(os.path.realpath(output)))
    interpreter = options.find_interpreter(exploration)
    python = str(interpreter.executable)
    scratch = options.find_scratch(python, exploration)
    with options.open_index() as index, raised_as(SetupError, RetrievalError):
        indexed_exploration = prepare.with_libraries(exploration, index, interpreter, progress=tell)
        yield Workspace(
            indexed_exploration,
            output,
            index,
            Opening(python, scratch, source, os.path.realpath(output)),
            is_new,
        )


@contextmanager
def open_libraries(
    targets: Sequence[str], options: Options, *, tell: Tell | None = None
) -> Iterator[tuple[Index, tuple[Library, ...]]]:
    """Yield the index, up to date for libraries.

    Raises InputError if one is not available, SetupError if the index fails now or in the block.
    """
    with options.open_index() as index, raised_as(SetupError, RetrievalError):
        interpreter = options.find_interpreter()
        yield index, prepare.index_libraries(index, targets, interpreter, progress=tell)


def prepare_replay(
    exploration: Exploration, folder: Path, options: Options, *, source: AnySource | None
) -> Callable[..., Coroutine[Any, Any, Replay]]:
    """Return a function that reruns an exploration's accepted cells in a fresh scratch kernel.

    It calls the ``tell`` it is given with each cell, and raises InputError or SetupError if
    variables that the exploration began with cannot be brought, SetupError if the kernel cannot be
    started or is lost. A library that has moved is looked for in ``folder``. Raises InputError or
    SetupError if the interpreter, a library or the sandbox is not available.
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
    agreed_digest: str = "",
    reads: Sequence[Path] = (),
) -> None:
    """Refuse an exploration that was not made here, unless the options say to trust it.

    ``agreed_digest`` is the digest of the preview that was agreed to, ``reads`` what else it could
    read. Raises UntrustedError with what it would run and read.
    """
    trust.check(
        exploration,
        name,
        python=options.python or prepare.interpreter_then(exploration) or sys.executable,
        sandbox=options.sandbox_level,
        reads=(Path.cwd(), *reads, *options.readable),
        agreed_digest=options.trust or agreed_digest,
    )


async def in_thread(function: Callable[..., ResultT], *arguments: Any) -> ResultT:
    """Run a blocking function in a thread. Cancellation waits for it, as its resources close."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        raise


def _check_writable(output: Path) -> None:
    """Raise InputError now rather than after an hour's work when ``output`` cannot be written."""
    folder = output.parent
    if not os.path.isdir(folder):
        raise InputError(f"There is no folder {folder} to save {output.name} in.")
    with raised_as(InputError, OSError):
        is_folder = output.is_dir()
    if is_folder:
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
