"""The chat client for any OpenAI-compatible server, hosted or local."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from exploracoder.effort import ReasoningEffort
from exploracoder.models.answer_text import LiveText, answer_in, answer_so_far
from exploracoder.models.chat import Message, OnText, OnWait, Reply, Sampling, Schema, ToolCall
from exploracoder.models.control_tokens import neutralise, restore
from exploracoder.models.dialect import Dialect
from exploracoder.models.dialect_memory import DialectMemory
from exploracoder.models.endpoint import Endpoint
from exploracoder.models.listening import Listener
from exploracoder.models.prompt_states import PromptStates
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.models.server_answer import Answer, parse, read_text, read_whole
from exploracoder.models.server_failures import (
    HttpReply,
    is_context_overflow,
    lacks_text,
    server_message,
)
from exploracoder.models.streaming import StreamReader

# No legitimate reply has more characters, whatever its tokens are.
_CHARS_PER_TOKEN, _SHORTEST_LIMIT = 32, 1 << 16
# Prefix of the embedded model's identity, wherever its server listens.
EMBEDDED = "embedded:"
# Fields that servers generate anew for every response.
_FLEETING = {"created", "permission"}
_CONVERSATION, _TEXT = "chat/completions", "completions"


class OpenAIChatModel:
    """One model at one endpoint; an async context manager, since it keeps connections open.

    What the server refuses (``n``, JSON schema, single fields) is remembered, and requested in a
    simpler way from then on. Rate limits, server errors, time limits of the server, and lost
    connections are retried with growing pauses. Replies are validated, and stripped of the key and
    of the model's reasoning; control tokens in requests are neutralised.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout_s: float = 300.0,
        max_retries: int = 3,
        cache: ReplyCache | None = None,
        server_identity: str | None = None,
        extra_body: Mapping[str, Any] | None = None,
        supports_n: bool = True,
        supports_grammar: bool = False,
        reasoning_effort: ReasoningEffort | None = None,
        dialects: Path | None = None,
        states: PromptStates | None = None,
    ) -> None:
        """Describes the endpoint; nothing is sent yet.

        Args:
            base_url: Usually ends in ``/v1``.
            api_key: May be empty for servers that want none.
            model: The model's name at that server.
            timeout_s: Deadline of one request, with its retries, in seconds.
            max_retries: How often a request is retried after a failure that may be temporary.
            cache: Where replies are looked up and kept.
            server_identity: Identifies the server in cache keys, instead of the base URL.
            extra_body: Additional fields for every request to this server.
            supports_n: False if the server is known to give only one reply per request.
            supports_grammar: True if the server is known to accept llama.cpp's ``grammar``.
            reasoning_effort: How long a reasoning model should think, if the server supports
                that; not sent if None.
            dialects: The file that keeps, for later clients, what servers refuse or need.
            states: The server's saved prompt states, if it supports them.

        Raises:
            InputError: The base URL or the key is invalid.
        """
        self._server = Endpoint(
            base_url, api_key, model, timeout_s=timeout_s, max_retries=max_retries
        )
        self._model = model
        self._cache = cache
        self._identity = server_identity or self.base_url
        # A server with a given identity need not be asked for its own.
        self._fingerprint = None if server_identity is None else fingerprint_of(model, ())
        self._extra_body = dict(extra_body or {})
        self._states = states
        self._dialect = Dialect(
            supports_n=supports_n,
            supports_grammar=supports_grammar,
            reasoning_effort=reasoning_effort,
        )
        if self.is_embedded:
            self._dialect.most_reserve = 0  # it does not reason, and what it writes takes its time
            dialects = None  # its needs are known, and its address changes each time
        self._memory: DialectMemory | None = None
        if dialects is not None:
            # What is refused, or slow, at one effort may not be at another.
            server = (self.base_url.rstrip("/"), model, reasoning_effort or "")
            self._memory = DialectMemory(dialects, *server)

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self.base_url!r}, {self._model!r})"

    @property
    def name(self) -> str:
        """The model's name at the server."""
        return self._model

    @property
    def supports_tools(self) -> bool:
        """Whether functions can be offered, as far as the server has said."""
        return self._dialect.supports_tools

    @property
    def is_embedded(self) -> bool:
        """Whether this is the embedded model, which the settings for small models suit."""
        return self._identity.startswith(EMBEDDED)

    @property
    def base_url(self) -> str:
        """The endpoint, without credentials."""
        return self._server.url

    @property
    def server(self) -> Endpoint:
        """The endpoint itself, for requests that this class does not cover."""
        return self._server

    @property
    def dialect(self) -> Dialect:
        """What the server is known to understand."""
        return self._dialect

    def forget(self) -> None:
        """Has the full API tried again, whatever the server refused before."""
        self._dialect.forget()

    async def __aenter__(self) -> OpenAIChatModel:
        if self._memory is not None:
            await asyncio.to_thread(self._memory.recall, self._dialect)
        await self._server.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.aclose()

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
        """Asks for ``sampling.n`` replies; see `ChatModel.complete`.

        Raises:
            PromptError: The prompt is too long.
            RefusedError: The server refused this request for another reason.
            AnswerTimeoutError: The deadline passed.
            ModelError: Unreachable, key rejected, unknown model, no such API.
        """
        offer = {"tools": list(tools)} if tools else {}
        plain = [_neutralised(message) for message in messages]
        turns = {"messages": [message.as_dict() for message in plain], "schema": schema}
        live = None
        if on_text is not None and sampling.n == 1 and schema is None:
            live = self._live(on_text, sampling)

        ask = partial(self._ask, plain, sampling, schema, tools, Listener(live, on_wait))
        reply = await self._remembered(offer | turns, sampling, ask)
        if live:
            live.tell(reply.text)
        return reply

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        """Asks for one continuation of ``prompt``; see `ChatModel.continue_text`.

        Raises:
            NoTextError: The server only supports chat completions.
            ModelError: As with `complete`.
        """
        plain = neutralise(prompt)
        ask = partial(self._ask_text, plain, sampling)
        return await self._remembered({"prompt": plain}, sampling, ask)

    async def identity(self) -> str:
        """The server's identity and the model's fingerprint; see `ChatModel.identity`.

        Raises:
            ModelError: The server could not be asked.
        """
        if self._fingerprint is None:
            self._fingerprint = fingerprint_of(self._model, await self._server.cards())
        return f"{self._identity}#{self._fingerprint}"

    async def _remembered(
        self,
        request: Mapping[str, Any],
        sampling: Sampling,
        ask: Callable[[], Awaitable[Reply]],
    ) -> Reply:
        """The cached reply, or else the server's, which is then cached."""
        if self._cache is None:
            return await ask()
        question = {
            **request,
            "server": self._identity,
            "model": self._model,
            "sampling": dataclasses.asdict(sampling),
            "extra_body": self._extra_body,
        }
        if self._dialect.reasoning_effort is not None:
            question["reasoning_effort"] = self._dialect.reasoning_effort
        key = self._cache.next_key(question)
        async with self._cache.asking(key):
            reply = await asyncio.to_thread(self._cache.get, key)
            if reply is None:
                reply = await ask()
                await asyncio.to_thread(self._cache.put, key, reply)
            return reply

    async def _ask_text(self, prompt: str, sampling: Sampling) -> Reply:
        def body() -> dict[str, Any]:
            extra = self._extra_body | self._dialect.extra_body(sampling, None)
            return self._dialect.text_body(self._model, prompt, sampling) | extra

        answer = await self._insist(_TEXT, body, read_text, Listener())
        self._keep_learnt()
        return self._reply(answer, sampling, restore)

    async def _ask(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        schema: Schema | None,
        tools: Sequence[Schema],
        listener: Listener,
    ) -> Reply:
        answer = await self._request(messages, sampling, schema, tools, listener)
        while len(answer.texts) < sampling.n:
            # One after another: the server has read the prompt already, so that each costs little
            # more than its own tokens.
            one = sampling.after(len(answer.texts), 1)
            more = await self._request(messages, one, schema, (), Listener(None, listener.on_wait))
            answer = answer.joined_with(more)
        return self._reply(answer, sampling, answer_in)

    def _live(self, on_text: OnText, sampling: Sampling) -> LiveText:
        """Reports the arriving text to ``on_text`` in the form that `_reply` would give it."""

        def answer(text: str) -> str:
            clean = str(parse(json.dumps(text), self._server.redactor.clean_so_far))
            reply_text = answer_so_far(clean, begins_in_thought=self._dialect.begins_in_thought)
            return reply_text[: _most_chars(sampling)]

        return LiveText(on_text, answer)

    def _reply(self, answer: Answer, sampling: Sampling, tidy: Callable[[str], str]) -> Reply:
        most = _most_chars(sampling)
        texts = [tidy(text) for text in answer.texts[: sampling.n]]
        reasons = zip(texts, answer.finish_reasons, strict=False)
        return Reply(
            texts=tuple(text[:most] for text in texts),
            finish_reasons=tuple("length" if len(text) > most else why for text, why in reasons),
            calls=tuple(
                ToolCall(call.id, call.name, restore(call.arguments)) for call in answer.calls
            ),
            usage=answer.usage,
            model=answer.model or self._model,
        )

    async def _request(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        schema: Schema | None,
        tools: Sequence[Schema],
        listener: Listener,
    ) -> Answer:
        if self._states is not None:
            await self._states.prepare(messages)
        reserve = 0

        def body() -> dict[str, Any]:
            nonlocal reserve
            reserve = self._dialect.reserve
            extra = self._extra_body | self._dialect.extra_body(sampling, schema)
            payload = self._dialect.body(self._model, messages, sampling, schema, tools)
            is_one = payload.get("n", 1) == 1
            if is_one and listener.wants_stream(is_shared=self._dialect.is_shared):
                payload |= self._dialect.stream_body()
            return payload | extra

        answer = await self._insist(_CONVERSATION, body, read_whole, listener)
        while self._dialect.learn_from(answer, reserve):
            again = await self._insist(_CONVERSATION, body, read_whole, listener)
            answer = dataclasses.replace(again, usage=answer.usage + again.usage)
        if sampling.n > 1 and self._dialect.supports_n and len(answer.texts) < sampling.n:
            self._dialect.supports_n = False
        self._keep_learnt()
        return answer

    def _keep_learnt(self) -> None:
        """Saves the dialect; call it after a request was answered, which proves it right."""
        # Rare and small, so it needs no thread, where an older state might overwrite a newer one.
        if self._memory is not None:
            self._memory.keep(self._dialect)

    async def _insist(
        self,
        path: str,
        make_body: Callable[[], dict[str, Any]],
        read: Callable[[object], Answer],
        listener: Listener,
    ) -> Answer:
        """The server's answer; a refused request is simplified and resent as long as that helps."""
        start = time.monotonic()
        async with self._server.within_deadline() as begin_anew:

            def hear(reader: StreamReader) -> None:
                if reader.before is not None:
                    begin_anew()
                listener.hear(reader)

            while True:
                body = make_body()
                on_more = hear if body.get("stream") else None
                reply = await self._server.post(path, body, on_more)
                self._dialect.is_shared = reply.is_shared
                if reply.status < 300:
                    answer = self._server.read(reply, read).timed(time.monotonic() - start)
                    if on_more and not reply.is_stream:
                        self._dialect.supports_stream = False
                    return answer
                if path == _TEXT and lacks_text(reply):
                    raise self._server.report.no_text(reply)
                if not self._has_learnt(reply, body):
                    break
        raise await self._server.refusal(reply)

    def _has_learnt(self, reply: HttpReply, body: dict[str, Any]) -> bool:
        if is_context_overflow(reply):
            return self._dialect.give_up_reserve(self._dialect.reserve)
        if reply.status not in (400, 422) and not ("tools" in body and reply.lacks_tools):
            return False
        return self._dialect.learn(server_message(reply), body)


def _most_chars(sampling: Sampling) -> int:
    return max(_SHORTEST_LIMIT, _CHARS_PER_TOKEN * sampling.max_tokens)


def _neutralised(message: Message) -> Message:
    calls = tuple(
        ToolCall(call.id, call.name, neutralise(call.arguments)) for call in message.calls
    )
    stable_chars = len(neutralise(message.content[: message.stable_chars]))
    content = neutralise(message.content)
    return Message(message.role, content, calls, message.call_id, stable_chars)


def fingerprint_of(model: str, cards: Iterable[Mapping[str, Any]]) -> str:
    """The hexadecimal SHA-256 of a model's name and its entry in the server's model list.

    Args:
        model: The name.
        cards: The entries that the server lists at ``/models``; other models' are ignored.
    """
    own = (card for card in cards if card.get("id") == model)
    facts = [{k: v for k, v in card.items() if k not in _FLEETING} for card in own]
    return hashlib.sha256(json.dumps([model, facts], sort_keys=True).encode()).hexdigest()
