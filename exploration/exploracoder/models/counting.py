"""A model whose cost is added up."""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder.models.chat import ChatModel, Message, OnText, Reply, Sampling, Schema
from exploracoder.models.usage import Usage


class CountingModel:
    """A `ChatModel` that passes everything on to another; ``usage`` is what that has cost."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.usage = Usage()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def identity(self) -> str:
        """As `ChatModel.identity`."""
        return await self._model.identity()

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        schema: Schema | None = None,
        tools: Sequence[Schema] = (),
        on_text: OnText | None = None,
    ) -> Reply:
        """As `ChatModel.complete`."""
        return self._counted(
            await self._model.complete(
                messages, sampling, schema=schema, tools=tools, on_text=on_text
            )
        )

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        """As `ChatModel.continue_text`."""
        return self._counted(await self._model.continue_text(prompt, sampling))

    def _counted(self, reply: Reply) -> Reply:
        self.usage += reply.asked
        return reply
