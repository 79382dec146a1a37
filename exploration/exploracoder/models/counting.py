"""A model wrapper that adds up costs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from exploracoder.models.chat import (
    ChatModel,
    Message,
    OnText,
    OnWait,
    Reply,
    Sampling,
    Schema,
)
from exploracoder.models.model_cost import Usage


class CountingModel(ChatModel):
    """Delegates to another model, and adds up the cost in ``usage``."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def supports_tools(self) -> bool:
        return self._model.supports_tools

    async def identity(self) -> str:
        return await self._model.identity()

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
        return await self._counted(
            lambda: self._model.complete(
                messages, sampling, schema=schema, tools=tools, on_text=on_text, on_wait=on_wait
            )
        )

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        return await self._counted(lambda: self._model.continue_text(prompt, sampling))

    async def _counted(self, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        reply = await ask()
        self.usage += reply.asked
        return reply
