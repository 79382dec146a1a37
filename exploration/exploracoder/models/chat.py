"""Asking a chat model: the values that go in and out, and the protocol all models follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from exploracoder.models.model_cost import Usage

Schema = Mapping[str, Any]
# Told the text of a reply as far as it has come, all of it each time.
OnText = Callable[[str], None]
# Told how many requests are before this one; None when it waits no more.
OnWait = Callable[[int | None], None]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function that the model wants called; ``arguments`` is JSON, as far as the model knows."""

    id: str
    name: str
    arguments: str

    def as_dict(self) -> dict[str, Any]:
        """The call as the OpenAI API writes it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    An assistant's turn may hold ``calls``; each is answered by a turn of the role ``tool`` whose
    ``call_id`` names it. So many characters at its beginning, ``stable_chars``, are the same for
    every task with a library, and so are the turns before it: a server may keep what it has read.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    stable_chars: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The turn as the OpenAI API writes it."""
        turn: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.calls:
            turn["tool_calls"] = [call.as_dict() for call in self.calls]
        if self.role == "tool":
            turn["tool_call_id"] = self.call_id
        return turn


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to draw replies.

    Attributes:
        n: Number of replies, at least 1.
        max_tokens: Longest reply, in tokens.
        stop: The reply ends before the first of these strings.
        seed: Makes a draw repeatable where the server supports it; reply i of n that are asked
            one after another uses ``seed + i``.
        grammar: GBNF that the reply follows. For servers known to take it (the embedded model
            does), and only without a JSON schema; others are not told.
    """

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    seed: int | None = None
    grammar: str | None = None

    def after(self, count: int, n: int) -> Sampling:
        """How to draw ``n`` more, where so many were drawn."""
        seed = None if self.seed is None else self.seed + count
        return dataclasses.replace(self, n=n, seed=seed)


class Reply(BaseModel):
    """What the model answered: without what it thought before, and without secrets.

    ``texts`` has ``Sampling.n`` entries, and ``finish_reasons`` as many: ``length`` means that the
    text was cut off at ``max_tokens``, ``content_filter`` that the model or a filter refused it:
    then it is empty. ``calls`` are what the first text's turn wants called, where
    tools were offered. ``usage`` is what it cost when it was asked, also if it
    comes from the reply cache this time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: tuple[str, ...]
    usage: Usage
    model: str
    finish_reasons: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    from_cache: bool = False

    @property
    def text(self) -> str:
        """The first text."""
        return self.texts[0]

    @property
    def asked(self) -> Usage:
        """What this reply cost now: nothing if it comes from the cache."""
        return Usage() if self.from_cache else self.usage


class ChatModel(Protocol):
    """Anything that answers a conversation."""

    @property
    def name(self) -> str:
        """The model's name, as shown to people and kept in notebooks."""
        ...

    @property
    def supports_tools(self) -> bool:
        """Whether functions can be offered; a server that has none may still have to refuse."""
        ...

    async def identity(self) -> str:
        """What tells this model from another that answers to its name: never shown, only compared.

        Raises:
            ModelError: The model could not be asked.
        """
        ...

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
        """Asks for ``sampling.n`` replies.

        Args:
            messages: The conversation, oldest turn first; what stays the same belongs first.
            sampling: How to draw.
            schema: JSON schema that the replies should follow. A server may only be told about it
                in words, so check the reply, or use `structured.complete_json`.
            tools: Functions that the model may want called, as the OpenAI API writes them. Servers
                without tools are asked without; use `tools.complete_with_tools`.
            on_text: Told what ``Reply.text`` will begin with, at most 20 times a second while it
                comes, and once all of it. A request that is made again tells it from the start.
                Not called with ``n`` above 1, or with a schema.
            on_wait: Told the place of the request where a server that several people share says it.

        Raises:
            ModelError: The model could not be asked.
        """
        ...

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        """Asks for one text that goes on where ``prompt`` ends, outside of any conversation.

        Args:
            prompt: The text so far; a server that keeps prefixes reads only what is new in it.
            sampling: How to draw; ``n`` must be 1.

        Raises:
            NoTextError: The server only goes on with conversations.
            ModelError: The model could not be asked.
        """
        ...
