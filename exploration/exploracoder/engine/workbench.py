"""What a method works with: the model, the index, the sidecar, and the exploration so far.

Whatever is asked or run goes through here, so that it is counted against the budgets and belongs to
a part of the work. Whatever is found out is recorded here, so that it is saved before the next
step.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import anyio
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation
from exploracoder_retrieval.apisearch.web import WebSearch
from exploracoder_retrieval.index import Index
from pydantic import BaseModel

from exploracoder.config import Settings
from exploracoder.engine.reading.known import KnownApis, names_used
from exploracoder.engine.reading.name_grammar import grammar_of
from exploracoder.errors import BudgetError
from exploracoder.memory import keep_solution
from exploracoder.models.chat import ChatModel, Message, OnText, Reply, Sampling, Schema
from exploracoder.models.structured import complete_json
from exploracoder.models.tools import Tool, complete_with_tools
from exploracoder.models.usage import Usage
from exploracoder.state import Exploration, Step

if TYPE_CHECKING:
    from exploracoder.engine.knowing.source_lookup import SourceLookup
    from exploracoder.engine.writing.cells_request import CellsRequest
    from exploracoder.repositories import Repositories

ValueT = TypeVar("ValueT", bound=BaseModel)
Record = Callable[[Exploration, str], Awaitable[None]]


# Which share of a limit exploring may use up.
_LATE = 0.6


@dataclass(slots=True)
class Workbench:
    """The tools of one exploration.

    ``root`` is the branch in which the context has run, ``branch`` the one that the chain goes on
    from; ``bases`` are the branches that each subtask started from. ``record`` saves an exploration
    and tells the surfaces, with a line on what happened. ``show`` is given a step whose candidates
    are still being tried, ``tell`` a part of the work and what is being done there; neither is
    saved. When somebody attends, ``is_review`` says whether they want to decide about each step,
    and the branches of candidates that were not chosen stay, by the candidate's id, in ``kept``.
    ``source`` reads the libraries' source, and ``repositories`` trees of files, once they were
    needed; ``web`` is there once the web was first asked (`engine/knowing/lookup.py`).
    ``cells_request`` is what each question about the cells begins with, once one was asked.
    ``notebook`` says where what is kept for later comes from, ``solution_kept`` is the last that
    was.
    """

    model: ChatModel
    index: Index
    sidecar: Executor
    exploration: Exploration
    record: Record
    root: str
    branch: str
    bases: dict[str, str] = field(default_factory=dict)
    show: Callable[[Step], None] = lambda step: None
    tell: Callable[[str, str], None] = lambda part, message: None
    is_attended: bool = False
    is_review: Callable[[], bool] = lambda: False
    kept: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    source: SourceLookup | None = None
    web: WebSearch | None = None
    repositories: Repositories | None = None
    cells_request: CellsRequest | None = None
    notebook: str = ""
    solution_kept: str = ""
    _known: KnownApis | None = None
    _code_grammar: str | None = None
    _used_names: frozenset[str] | None = None

    @property
    def settings(self) -> Settings:
        """The exploration's settings."""
        return self.exploration.settings

    @property
    def library_names(self) -> tuple[str, ...]:
        """The libraries as the index names them."""
        return tuple(library.name for library in self.exploration.libraries)

    @property
    def library_words(self) -> str:
        """The libraries as a prompt names them."""
        return " and ".join(library.import_name for library in self.exploration.libraries)

    @property
    def known(self) -> KnownApis:
        """All APIs of the libraries, by name."""
        if self._known is None:
            docs = [doc for name in self.library_names for doc in self.index.docs(name)]
            self._known = KnownApis(docs)
        return self._known

    @property
    def is_confined(self) -> bool:
        """Whether code that runs here reaches nothing but a scratch folder, no network above all.

        What nobody wrote, no person and no model, is tried only then: ``delete_item`` is a near
        name of ``get_item``.
        """
        return self.exploration.sandbox.startswith("strict")

    @property
    def used_names(self) -> frozenset[str]:
        """The names that the libraries' own examples use."""
        if self._used_names is None:
            infos = [self.index.info(name) for name in self.library_names]
            codes = [example.code for info in infos for example in info.examples]
            self._used_names = names_used(codes)
        return self._used_names

    def start_clock(self) -> None:
        """Work begins: the time that nobody worked in is not counted."""
        self.started = time.monotonic()

    async def update(self, exploration: Exploration, message: str) -> None:
        """Make ``exploration`` the current one, and save it; keep a solution that was accepted."""
        self.exploration = exploration.model_copy(
            update={"seconds_total": exploration.seconds_total + self._lap()}
        )
        await self.record(self.exploration, message)
        await keep_solution(self)

    def sampling(
        self, part: str, *, n: int = 1, number: int = 0, max_tokens: int, is_code: bool = False
    ) -> Sampling:
        """How drafts and solutions are drawn; each part of the work has a seed of its own."""
        return Sampling(
            n=n,
            temperature=self.settings.temperature,
            top_p=self.settings.top_p,
            max_tokens=max_tokens,
            seed=self.seed(part, number),
            grammar=self.code_grammar if is_code and self.settings.existing_names else None,
        )

    @property
    def code_grammar(self) -> str:
        """What a block of code is bound to where only names that exist are to be in it."""
        if self._code_grammar is None:
            task = self.exploration.task
            self._code_grammar = grammar_of(self.known.docs, [task.text, task.context, task.stub])
        return self._code_grammar

    def seed(self, part: str, number: int = 0) -> int:
        """A seed that is the same whenever the same thing is asked."""
        return zlib.crc32(f"{self.exploration.seed}:{part}:{number}".encode()) & 0x7FFFFFFF

    def metered(self, part: str) -> ChatModel:
        """The model as one part of the work asks it: within the limits, and counted."""
        return _MeteredModel(self, part)

    async def ask(
        self,
        part: str,
        messages: Sequence[Message],
        sampling: Sampling,
        tools: Sequence[Tool] = (),
        on_text: OnText | None = None,
    ) -> Reply:
        """Ask the model, which may use ``tools`` before it answers; ``on_text`` reads along.

        Raises BudgetError when a limit has been reached, ModelError when the model cannot be asked.
        """
        model = self.metered(part)
        if not tools:
            return await model.complete(messages, sampling, on_text=on_text)
        return await complete_with_tools(model, messages, sampling, tools, on_text=on_text)

    async def ask_text(self, part: str, prompt: str, sampling: Sampling) -> Reply:
        """Ask the model to go on where ``prompt`` ends.

        Raises NoTextError where it only answers conversations, else as `ask` does.
        """
        return await self.metered(part).continue_text(prompt, sampling)

    async def ask_json(
        self, part: str, messages: Sequence[Message], sampling: Sampling, form: type[ValueT]
    ) -> ValueT:
        """Ask the model for a value of ``form``; ReplyError when it does not give one."""
        value, _ = await complete_json(self.metered(part), messages, sampling, form)
        return value

    async def run(self, part: str, branch: str, code: str) -> Observation:
        """Run a snippet in a branch, and count its time."""
        self.check_budget()
        self.tell(part, "Running a snippet")
        before = time.monotonic()
        observation = await self.sidecar.run(branch, code)
        self._spend(part, seconds_execution=time.monotonic() - before)
        return observation

    @contextmanager
    def doing(self, words: str) -> Iterator[None]:
        """While this lasts, all that is told begins with ``words``; empty ones change nothing."""
        tell = self.tell
        if words:
            self.tell = lambda part, message: tell(part, f"{words}: {message}")
        try:
            yield
        finally:
            self.tell = tell

    async def base_of(self, step: Step) -> str:
        """The branch that a step started from; a resumed session builds it again."""
        known = self.bases.get(step.subtask.id)
        if known is not None:
            return known
        branch = await self.sidecar.fork(self.root)
        for earlier in self.exploration.steps:
            if earlier.subtask.id == step.subtask.id:
                break
            if earlier.status == "done" and earlier.candidate is not None:
                await self.sidecar.run(branch, earlier.candidate.code)
        self.bases[step.subtask.id] = branch
        return branch

    async def let_go(self) -> None:
        """Drop the branches that were kept."""
        while self.kept:
            _, branch = self.kept.popitem()
            await self.sidecar.drop(branch)

    @property
    def seconds_used(self) -> float:
        """How long this exploration has been worked on, all sessions together."""
        return self.exploration.seconds_total + time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """Until the user's limit; None without one."""
        limit = self.settings.max_seconds
        return None if limit is None else max(0.0, limit - self.seconds_used)

    def check_budget(self) -> None:
        """Raise BudgetError when the user's limit on seconds or tokens has been reached."""
        if self.seconds_left == 0.0:
            raise self.out_of_time()
        limit, tokens = self.settings.max_tokens, self._tokens_used()
        if limit is not None and tokens >= limit:
            raise BudgetError(
                f"The limit of {limit} tokens was reached with {tokens} tokens."
                " Everything so far is saved; resume with a higher --max-tokens."
            )

    def out_of_time(self) -> BudgetError:
        """What is raised when the limit on seconds has been reached."""
        return BudgetError(
            f"The limit of {self.settings.max_seconds:g} seconds was reached after"
            f" {self.seconds_used:.0f} s."
            " Everything so far is saved; resume with a higher --max-seconds."
        )

    @property
    def is_late(self) -> bool:
        """Whether so much of a limit is used up that the rest is needed for the solution."""
        return self.has_used(_LATE)

    def has_used(self, share: float) -> bool:
        """Whether that share of one of the exploration's limits is used up."""
        used = (
            (self.settings.max_seconds, self.seconds_used),
            (self.settings.max_tokens, self._tokens_used()),
        )
        return any(limit is not None and spent > share * limit for limit, spent in used)

    def _tokens_used(self) -> int:
        usage = self.exploration.usage
        return usage.prompt_tokens + usage.completion_tokens

    def _spend(self, part: str, reply: Reply | None = None, seconds_execution: float = 0.0) -> None:
        usage = reply.asked if reply else Usage()
        self.exploration = self.exploration.with_spending(part, usage, seconds_execution)

    def _lap(self) -> float:
        now = time.monotonic()
        seconds, self.started = now - self.started, now
        return seconds


@dataclass(frozen=True, slots=True)
class _MeteredModel:
    """The model as one part of the work sees it: each request is checked and counted."""

    bench: Workbench
    part: str

    @property
    def name(self) -> str:
        return self.bench.model.name

    async def identity(self) -> str:
        return await self.bench.model.identity()

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        schema: Schema | None = None,
        tools: Sequence[Schema] = (),
        on_text: OnText | None = None,
    ) -> Reply:
        return await self._counted(
            lambda: self.bench.model.complete(
                messages, sampling, schema=schema, tools=tools, on_text=on_text
            )
        )

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        return await self._counted(lambda: self.bench.model.continue_text(prompt, sampling))

    async def _counted(self, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        self.bench.check_budget()
        self.bench.tell(self.part, "Asking the model")
        try:
            # A reply that is being written when the time is up is not waited for.
            with anyio.fail_after(self.bench.seconds_left):
                reply = await ask()
        except TimeoutError:
            raise self.bench.out_of_time() from None
        self.bench._spend(self.part, reply)
        return reply
