"""A handful of short questions that show what a model and its server can do."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

import anyio
from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder.errors import AnswerTimeoutError, ModelError, PromptError, RefusedError
from exploracoder.models.capabilities import Capabilities
from exploracoder.models.chat import Message, Reply, Sampling
from exploracoder.models.model_facts import facts_of
from exploracoder.models.model_functions import Tool
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.server_answer import mapping, mappings
from exploracoder.models.structured import without_fence

TIMEOUT_S = 180.0
# Some servers only cache prefixes of 1,024 tokens or more.
_PREFIX_LINES = 110
_COUNT_TO = 40
# Below that, the time depends more on the network than on the model.
_TELLING_S = 0.4
_FACTS_S = 15.0

Tell = Callable[[str], None]
Findings = dict[str, Any]


class _Sea(BaseModel):
    """A form that nobody fills in who was not told of it."""

    model_config = ConfigDict(extra="forbid")

    colour: Literal["blue", "green", "grey"]
    metres_deep: int


class _Town(BaseModel):
    town: str


async def probe(
    model: OpenAIChatModel, *, tell: Tell, timeout_s: float = TIMEOUT_S
) -> Capabilities:
    """Probes an open model; the full API is tried, whatever was refused before.

    Args:
        model: The model to probe; without a reply cache.
        tell: Called with what is being probed.
        timeout_s: How long the answer to each question may take, in seconds.

    Raises:
        AnswerTimeoutError: An answer took longer than that.
        ModelError: The model cannot be asked at all: no server, unknown model, rejected key.
    """
    model.forget()
    findings = Findings()
    for words, ask in _QUESTIONS.items():
        tell(words)
        async with _in_time(model, timeout_s):
            try:
                findings |= await ask(model)
            except PromptError:
                pass
            except RefusedError:
                # The first question is as simple as a request can be.
                if not findings:
                    raise
    findings["reasons"] = model.dialect.reserve > 0 or model.dialect.begins_in_thought
    return Capabilities.model_validate(findings)


@asynccontextmanager
async def _in_time(model: OpenAIChatModel, timeout_s: float) -> AsyncIterator[None]:
    try:
        with anyio.fail_after(timeout_s):
            yield
    except TimeoutError:
        raise AnswerTimeoutError(
            f"The model {model.name} at {model.base_url} is slow: one short question took more"
            f" than {timeout_s:g} s. Try again when the machine has less to do, or choose a faster"
            " model."
        ) from None


class _StreamTimer:
    """Measures the time to a reply's first text, and from there to its end."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._first: float | None = None

    def hear(self, text: str) -> None:
        if text and self._first is None:
            self._first = time.monotonic()

    def end(self) -> tuple[float, float]:
        now = time.monotonic()
        first = now if self._first is None else self._first
        return first - self._start, now - first


async def _stream_twice(model: OpenAIChatModel) -> Findings:
    """Speed, streaming, and whether the second prompt, which begins like the first, is faster."""
    # No earlier prompt has this prefix.
    lines = (f"{number}. The {number}th jar holds tea." for number in range(_PREFIX_LINES))
    prefix = f"Store {uuid.uuid4().hex}\n" + "\n".join(lines)
    count = f"Write the numbers from 1 to {_COUNT_TO}, with spaces between, and nothing else."
    first, before, write_s = await _streamed(model, f"{prefix}\n{count}", 160)
    second, again, _ = await _streamed(model, f"{prefix}\nAnswer with the word tea.", 8)
    is_streamed = model.dialect.supports_stream
    findings: Findings = {"streaming": is_streamed}
    thinks = model.dialect.reserve > 0 or model.dialect.begins_in_thought
    usage = first.usage
    if is_streamed and not thinks:
        findings |= _speed("prompt_tokens_per_s", usage.prompt_tokens, before)
        findings |= _speed("completion_tokens_per_s", usage.completion_tokens - 1, write_s)
    else:
        findings |= _speed("completion_tokens_per_s", usage.completion_tokens, usage.seconds)
    if second.usage.cached_tokens > 0:
        findings["prefix_cache"] = True
    elif is_streamed and not thinks and before > _TELLING_S:
        findings["prefix_cache"] = again < before / 2
    return findings


async def _streamed(model: OpenAIChatModel, text: str, most: int) -> tuple[Reply, float, float]:
    timer = _StreamTimer()
    messages = [Message("user", text)]
    reply = await model.complete(messages, Sampling(max_tokens=most), on_text=timer.hear)
    return reply, *timer.end()


def _speed(name: str, tokens: int, seconds: float) -> Findings:
    if tokens <= 0 or seconds < 1e-3:
        return {}
    return {name: round(tokens / seconds, 1) or 0.1}


async def _fill_in_a_form(model: OpenAIChatModel) -> Findings:
    messages = [Message("user", "Describe the sea in a few words.")]
    schema = _Sea.model_json_schema()
    reply = await model.complete(messages, Sampling(max_tokens=100), schema=schema)
    try:
        _Sea.model_validate_json(without_fence(reply.text))
    except ValidationError:
        return {"schema_mode": "ignored"}
    return {"schema_mode": model.dialect.schema_mode}


async def _call_a_function(model: OpenAIChatModel) -> Findings:
    async def answer(_: _Town) -> str:
        return ""

    tool = Tool("weather", "The weather in a town, now.", _Town, answer)
    messages = [Message("user", "What is the weather in Oslo? Call the function to find out.")]
    reply = await model.complete(messages, Sampling(max_tokens=100), tools=[tool.as_dict()])
    return {"tools": any(call.name == tool.name for call in reply.calls)}


async def _ask_for_several(model: OpenAIChatModel) -> Findings:
    if model.dialect.supports_n:
        messages = [Message("user", "Name a colour, in one word.")]
        await model.complete(messages, Sampling(n=2, temperature=1.0, max_tokens=8))
    return {"several": model.dialect.supports_n}


async def _ask_for_probabilities(model: OpenAIChatModel) -> Findings:
    """Sends the request itself, since the client does not support them."""
    messages = [Message("user", "Answer with the word tea.")]
    body = model.dialect.body(model.name, messages, Sampling(max_tokens=4), None)
    async with model.server.within_deadline():
        reply = await model.server.post("chat/completions", body | {"logprobs": True})
    if reply.status >= 300:
        return {"logprobs": False}
    choices = mappings(mapping(model.server.read(reply, lambda content: content)).get("choices"))
    return {"logprobs": any(mapping(one.get("logprobs")).get("content") for one in choices)}


async def _ask_for_facts(model: OpenAIChatModel) -> Findings:
    """A page that hangs or fails is no reason to lose the rest."""
    with anyio.move_on_after(_FACTS_S), suppress(ModelError):
        return dict(await facts_of(model.server, model.name))
    return {}


_QUESTIONS: dict[str, Callable[[OpenAIChatModel], Awaitable[Findings]]] = {
    "How fast it reads and writes": _stream_twice,
    "Whether it keeps to a JSON schema": _fill_in_a_form,
    "Whether it calls functions": _call_a_function,
    "Whether it gives several replies": _ask_for_several,
    "Whether it gives probabilities": _ask_for_probabilities,
    "How long its context is": _ask_for_facts,
}
