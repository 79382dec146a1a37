"""Asks the model, within the user's limits, and counts each request for a part of the work."""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import anyio
from pydantic import BaseModel

from exploracoder.models.chat import (
    ChatModel,
    Message,
    OnText,
    OnWait,
    Reply,
    Sampling,
    Schema,
)
from exploracoder.models.counting import CountingModel
from exploracoder.models.model_functions import Tool, complete_with_tools
from exploracoder.models.structured import complete_json
from exploracoder.texts import Text

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench

ValueT = TypeVar("ValueT", bound=BaseModel)
_ASKING = "Asking the model"


@dataclass(frozen=True, slots=True)
class CountedModel:
    """The exploration's model, as the engine asks it.

    Every method that asks it raises BudgetError when a limit has been reached, and ModelError if
    the model cannot be asked.
    """

    bench: Workbench
    chat: ChatModel

    @property
    def name(self) -> str:
        """The model's name at its server."""
        return self.chat.name

    @property
    def supports_tools(self) -> bool:
        """Whether functions can be offered, as far as its server has said."""
        return self.chat.supports_tools

    def sampling(
        self, part: str, *, n: int = 1, number: int = 0, max_tokens: int, is_code: bool = False
    ) -> Sampling:
        """How drafts and solutions are sampled; each part of the work has its own seed."""
        settings = self.bench.settings
        has_grammar = is_code and settings.existing_names
        return Sampling(
            n=n,
            temperature=settings.temperature,
            top_p=settings.top_p,
            max_tokens=max_tokens,
            seed=self.seed(part, number),
            grammar=self.bench.libraries.code_grammar if has_grammar else None,
        )

    def seed(self, part: str, number: int = 0) -> int:
        """A reproducible seed: the same request always gets the same one."""
        key = f"{self.bench.exploration.seed}:{part}:{number}"
        return zlib.crc32(key.encode()) & 0x7FFFFFFF

    def for_part(self, part: str) -> ChatModel:
        """The model, with its requests counted for one part of the work."""
        return _PartModel(self.bench, self.chat, part)

    async def ask(
        self,
        part: str,
        messages: Sequence[Message],
        sampling: Sampling,
        tools: Sequence[Tool] = (),
        on_text: OnText | None = None,
    ) -> Reply:
        """Ask for replies; the model may first call ``tools``, and ``on_text`` follows along."""
        model = self.for_part(part)
        if not tools:
            return await model.complete(messages, sampling, on_text=on_text)
        return await complete_with_tools(model, messages, sampling, tools, on_text=on_text)

    async def ask_text(self, part: str, prompt: str, sampling: Sampling) -> Reply:
        """Ask it to continue ``prompt``; raises NoTextError if it only supports conversations."""
        return await self.for_part(part).continue_text(prompt, sampling)

    async def ask_json(
        self, part: str, messages: Sequence[Message], sampling: Sampling, form: type[ValueT]
    ) -> ValueT:
        """Ask for a value of ``form``; raises ReplyError if it does not give one."""
        return await complete_json(self.for_part(part), messages, sampling, form)


class _PartModel(CountingModel):
    """The model as one part of the work sees it: each request is checked and counted."""

    def __init__(self, bench: Workbench, chat: ChatModel, part: str) -> None:
        super().__init__(chat)
        self._bench = bench
        self._part = part

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        schema: Schema | None = None,
        tools: Sequence[Schema] = (),
        on_text: OnText | None = None,
        on_wait: OnWait | None = None,
    ) -> Reply:
        listener, waits = self._listener(on_text), on_wait or self._wait
        return await super().complete(
            messages, sampling, schema=schema, tools=tools, on_text=listener, on_wait=waits
        )

    def _wait(self, before: int | None) -> None:
        self._bench.wait(self._part, _ASKING if before is None else _place(before))

    def _listener(self, on_text: OnText | None) -> OnText | None:
        """A listener for the caller and for the surface, if that shows what is being written."""
        stream = self._bench.stream
        if stream is None:
            return on_text

        def listen(text: str) -> None:
            stream(self._part, text)
            if on_text is not None:
                on_text(text)

        return listen

    async def _counted(self, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        limits = self._bench.limits
        limits.check()
        self._bench.tell(self._part, _ASKING)
        try:
            # Do not wait for a reply that is still being written when the time is up.
            with anyio.fail_after(limits.seconds_left):
                reply = await super()._counted(ask)
        except TimeoutError:
            raise limits.out_of_time() from None
        limits.spend(self._part, reply)
        return reply


def _place(before: int) -> str:
    """The message for a user who waits for a model that others use, too."""
    if before == 0:
        return "The model is busy: your request is the next"
    if before == 1:
        return "The model is busy: 1 request is before yours"
    return Text("The model is busy: %1 requests are before yours", before)
