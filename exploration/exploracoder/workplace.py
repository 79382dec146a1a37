"""What an exploration works with, opened for Python and the magics: index, model, interpreter."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sandbox import LevelChoice, Sandboxing, choose
from exploracoder_kernel.strategies import StrategyChoice
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.interpreter import Interpreter

from exploracoder import confined, document, prepare, trust
from exploracoder.bringing import AnySource
from exploracoder.errors import InputError, SetupError
from exploracoder.methods import DEFAULT
from exploracoder.models.chat import ChatModel
from exploracoder.session import Place
from exploracoder.state import Exploration

ResultT = TypeVar("ResultT")
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Where and with what an exploration works. All of it means what it means on the command line.

    Attributes:
        base_url: An OpenAI-compatible endpoint.
        reasoning_effort: How long a model that reasons is to think; without one
            ``EXPLORACODER_REASONING_EFFORT``, or what the server does by itself.
        cache: Answer repeated requests from the reply cache.
        profile: The set of settings; without one it is that of the model.
        settings: Single settings, by their names.
        method: The way from a task to a solution.
        seed: Of all sampling.
        python: The interpreter that snippets run in; without one it is this one.
        sandbox: What snippets are kept from; without one ``EXPLORACODER_SANDBOX``, or ``auto``.
        readable: More files and folders that they may read.
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
    profile: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    method: str = DEFAULT
    seed: int = 0
    python: str | None = None
    sandbox: str | None = None
    readable: Sequence[Path] = ()
    trust: bool = False
    strategy: str | None = None
    chroma_url: str | None = None
    embeddings_url: str | None = None
    embeddings_model: str = ""
    import_compiled: bool = False

    @property
    def sandbox_level(self) -> LevelChoice:
        """The sandbox that is asked for. Raises InputError when there is no such level."""
        chosen = self.sandbox or os.environ.get("EXPLORACODER_SANDBOX") or "auto"
        return cast(LevelChoice, _one_of("sandbox", chosen, get_args(LevelChoice)))

    @property
    def branching(self) -> StrategyChoice:
        """How branches are to be made. Raises InputError when there is no such way."""
        chosen = self.strategy or os.environ.get("EXPLORACODER_STRATEGY") or "auto"
        return cast(StrategyChoice, _one_of("strategy", chosen, get_args(StrategyChoice)))


@dataclass(frozen=True, slots=True)
class Workplace:
    """All that is open for an exploration whose libraries are indexed."""

    exploration: Exploration
    output: Path
    model: ChatModel
    index: Index
    python: str
    folder: Path
    strategy: StrategyChoice
    sandboxing: Sandboxing

    async def save(self, exploration: Exploration) -> None:
        """Write the notebook. Raises SetupError when it cannot be written."""
        document.save(self.output, exploration)

    def for_session(self, source: AnySource | None) -> Place:
        """The same, for a session that works from beginning to end."""
        return Place(
            python=self.python,
            folder=self.folder,
            output=self.output,
            strategy=self.strategy,
            sandboxing=self.sandboxing,
            source=source,
        )


@asynccontextmanager
async def open_workplace(
    exploration: Exploration,
    output: Path,
    model: str | ChatModel | None,
    options: Options,
    *,
    tell: Tell,
) -> AsyncIterator[Workplace]:
    """Find the interpreter, index the libraries, open the model. ``tell`` is told of each.

    Raises:
        InputError: The interpreter or a library cannot be used.
        SetupError: Index, sandbox, or model cannot be had.
    """
    folder, strategy = Path.cwd(), options.branching
    interpreter, sandboxing = await in_thread(_surroundings, exploration, options, folder)
    async with open_index(options) as index:
        ready = await _indexed(exploration, index, interpreter, tell)
        tell("Starting the model")
        async with _opened(model, options) as chat:
            tell("Starting the scratch kernel")
            python = str(interpreter.executable)
            yield Workplace(ready, output, chat, index, python, folder, strategy, sandboxing)


@asynccontextmanager
async def open_index(options: Options) -> AsyncIterator[Index]:
    """The user's index. Raises SetupError when it cannot be opened."""
    index = await in_thread(
        lambda: prepare.open_index(
            chroma_url=options.chroma_url,
            embeddings_url=options.embeddings_url,
            embeddings_model=options.embeddings_model,
        )
    )
    try:
        yield index
    finally:
        index.close()


def check_trust(exploration: Exploration, name: str, options: Options, *, agreed: str = "") -> None:
    """Refuse an exploration that was not made here, unless the options say to trust it.

    ``agreed`` is the digest of what was shown and agreed to. Raises UntrustedError with what it
    would run and read.
    """
    trust.check(
        exploration,
        name,
        python=options.python or prepare.interpreter_then(exploration) or sys.executable,
        sandbox=options.sandbox_level,
        reads=(Path.cwd(), *options.readable),
        agreed=options.trust or agreed,
    )


async def in_thread(function: Callable[..., ResultT], *given: Any) -> ResultT:
    """Run what blocks in a thread. Who cancels waits for its end: what it uses is closed then."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *given))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        raise


async def _indexed(
    exploration: Exploration, index: Index, interpreter: Interpreter, tell: Tell
) -> Exploration:
    loop = asyncio.get_running_loop()

    def progress(message: str) -> None:
        loop.call_soon_threadsafe(tell, message)

    return await in_thread(
        lambda: prepare.with_libraries(exploration, index, interpreter, progress=progress)
    )


def _surroundings(
    exploration: Exploration, options: Options, folder: Path
) -> tuple[Interpreter, Sandboxing]:
    then = prepare.interpreter_then(exploration)
    interpreter = confined.find_interpreter(
        options.python or then, import_compiled=options.import_compiled
    )
    return interpreter, find_sandbox(options, interpreter, folder)


def find_sandbox(options: Options, interpreter: Interpreter, folder: Path) -> Sandboxing:
    """The sandbox that snippets run in. Raises SetupError when there is none."""
    try:
        return choose(
            options.sandbox_level,
            python=interpreter.executable,
            cwd=folder,
            inputs=options.readable,
        )
    except (SidecarError, OSError) as error:
        raise SetupError(str(error)) from error


@asynccontextmanager
async def _opened(model: str | ChatModel | None, options: Options) -> AsyncIterator[ChatModel]:
    """The model; one that is open already belongs to the caller."""
    if model is not None and not isinstance(model, str):
        yield model
        return
    async with prepare.open_model(
        model,
        options.base_url,
        cache=options.cache,
        reasoning_effort=options.reasoning_effort,
    ) as opened:
        yield opened


def _one_of(option: str, chosen: str, known: Sequence[str]) -> str:
    if chosen not in known:
        raise InputError(f"There is no {option} {chosen!r}. Known: {', '.join(known)}.")
    return chosen
