"""Asking a chat model: the values that go in and out, and the protocol all models follow."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from exploracoder.models.model_cost import Usage

Schema = Mapping[str, Any]
# Called with the text of a reply so far, all of it each time.
OnText = Callable[[str], None]
# Called with the number of requests ahead of this one; None once it no longer waits.
OnWait = Callable[[int | None], None]


def json_or_none(text: str) -> object:
    """The JSON value in ``text``; None if it is invalid or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function call that the model requests; ``arguments`` should be JSON, but is unchecked."""

    id: str
    name: str
    arguments: str

    def as_dict(self) -> dict[str, Any]:
        """The call in the OpenAI API's format.

        Arguments that are not an object, such as those cut off at the token limit, are left out:
        servers that parse them refuse the whole conversation.
        """
        is_valid = isinstance(json_or_none(self.arguments), dict)
        function = {"name": self.name, "arguments": self.arguments if is_valid else "{}"}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    An assistant turn may contain ``calls``; each is answered by a turn with the role ``tool`` and
    its ``call_id``. The first ``stable_chars`` characters, like the turns before this one, are the
    same for every task with a library, so a server can cache what it has read.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    stable_chars: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The turn in the OpenAI API's format."""
        turn: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.calls:
            turn["tool_calls"] = [call.as_dict() for call in self.calls]
        if self.role == "tool":
            turn["tool_call_id"] = self.call_id
        return turn


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample replies.

    Attributes:
        n: Number of replies, at least 1.
        max_tokens: Longest reply, in tokens.
        stop: The reply ends before the first of these strings.
        seed: Makes sampling reproducible if the server supports it; when n replies are requested
            one after another, reply i uses ``seed + i``.
        grammar: GBNF grammar for the reply. Sent only to servers known to support it (the embedded
            model does), and only without a JSON schema.
    """

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    seed: int | None = None
    grammar: str | None = None

    def after(self, count: int, n: int) -> Sampling:
        """How to sample ``n`` more replies after the first ``count``."""
        seed = None if self.seed is None else self.seed + count
        return dataclasses.replace(self, n=n, seed=seed)


class Reply(BaseModel):
    """What the model answered, without its reasoning and without secrets.

    ``texts`` has ``Sampling.n`` entries, and so has ``finish_reasons``: ``length`` means that the
    text was cut off at ``max_tokens``, ``content_filter`` that the model or a filter refused it,
    and that it is empty. ``calls`` are the function calls requested with the first text, if tools
    were offered. ``usage`` is the cost of the original request, even if the reply comes from the
    cache this time.
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
        """Whether functions can be offered; may be True until a server without them refuses."""
        ...

    async def identity(self) -> str:
        """An identifier that distinguishes models of the same name; never shown, only compared.

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
            messages: The conversation, oldest turn first; put what stays the same at the start.
            sampling: How to sample.
            schema: JSON schema that the replies should follow. Some servers are only told it in
                the prompt, so validate the reply, or use `structured.complete_json`.
            tools: Functions that the model may call, in the OpenAI API's format. They are left out
                for servers without tools; use `model_functions.complete_with_tools`.
            on_text: Called with a prefix of ``Reply.text``, at most 20 times a second while it
                arrives, and once with all of it. Starts over if the request is retried.
                Not called with ``n`` above 1, or with a schema.
            on_wait: Called with the request's place in the queue, if a shared server reports it.

        Raises:
            ModelError: The model could not be asked.
        """
        ...

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        """Asks for one continuation of ``prompt``, outside of any conversation.

        Args:
            prompt: The text so far; a server with a prefix cache only reads what is new in it.
            sampling: How to sample; ``n`` must be 1.

        Raises:
            NoTextError: The server only supports chat completions.
            ModelError: The model could not be asked.
        """
        ...
