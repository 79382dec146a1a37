"""The model client of one exploration: opened on first use, and reopened when lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from exploracoder.errors import ModelError, NoTextError, PromptError, RefusedError, ReplyError
from exploracoder.models.chat import (
    ChatModel,
    Message,
    OnText,
    OnWait,
    Reply,
    Sampling,
    Schema,
)

OpenModel = Callable[[], AbstractAsyncContextManager[ChatModel]]


class LazyModel:
    """A `ChatModel` that costs nothing until first asked.

    Args:
        name: The model's name to show until the client is open.
        open_model: Opens a client.
    """

    def __init__(self, name: str, open_model: OpenModel) -> None:
        self._name = name
        self._open_model = open_model
        self._open_lock = asyncio.Lock()
        self._manager: AbstractAsyncContextManager[ChatModel] | None = None
        self._model: ChatModel | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name if self._model is not None else self._name

    @property
    def supports_tools(self) -> bool:
        """Whether the model takes tools; assumed until its server says otherwise."""
        return self._model is None or self._model.supports_tools

    async def open(self) -> None:
        """Open a client now. Raises whatever opening one raises."""
        await self._client()

    async def identity(self) -> str:
        """What distinguishes it from others of its name. Raises ModelError when unreachable."""
        return await (await self._client()).identity()

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
        """Ask the model. Raises ModelError when it cannot be asked."""
        model = await self._client()
        request = model.complete(
            messages, sampling, schema=schema, tools=tools, on_text=on_text, on_wait=on_wait
        )
        return await self._answered(request)

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        """Ask for a text's continuation. Raises NoTextError, and ModelError like `complete`."""
        return await self._answered((await self._client()).continue_text(prompt, sampling))

    async def _answered(self, request: Awaitable[Reply]) -> Reply:
        try:
            return await request
        except (ReplyError, PromptError, RefusedError, NoTextError):
            raise
        except ModelError:
            # The server may have ended; the next request opens a new client.
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Close the client."""
        async with self._open_lock:
            manager, self._manager, self._model = self._manager, None, None
            if manager is not None:
                await manager.__aexit__(None, None, None)

    async def _client(self) -> ChatModel:
        async with self._open_lock:
            if self._model is None:
                manager = self._open_model()
                self._model = await manager.__aenter__()
                self._manager = manager
            return self._model
