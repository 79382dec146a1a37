"""The chat client for any OpenAI-compatible server, hosted or local."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import anyio

from exploracoder.errors import AnswerTimeoutError, ModelError
from exploracoder.models.answer_text import LiveText, answer_in, answer_so_far
from exploracoder.models.cache import ReplyCache
from exploracoder.models.chat import Message, OnText, Reply, Sampling, Schema, ToolCall
from exploracoder.models.completion import Answer, parse, read_cards, read_text, read_whole
from exploracoder.models.control_tokens import neutralise, restore
from exploracoder.models.dialect import Dialect
from exploracoder.models.endpoint import Endpoint, HttpReply
from exploracoder.models.failures import (
    FailureReport,
    checked_api_key,
    checked_base_url,
    is_context_overflow,
    lacks_text,
    server_message,
    without_credentials,
)
from exploracoder.models.identity import EMBEDDED, fingerprint_of
from exploracoder.models.redaction import Redactor, secrets_of

# No honest reply is longer, in characters, whatever its tokens are.
_CHARS_PER_TOKEN, _SHORTEST_LIMIT = 32, 1 << 16
_CONVERSATION, _TEXT = "chat/completions", "completions"

ValueT = TypeVar("ValueT")


class OpenAIChatModel:
    """One model at one endpoint; an async context manager, since it keeps connections open.

    What the server refuses (``n``, JSON schema, single fields) is remembered and asked for in a
    plainer way from then on. Rate limits, server errors and lost connections are tried again with
    growing pauses; nothing else is. Whatever the server sends is validated here, and comes out
    without the key and without what the model thought; whatever goes out has no control tokens.
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
    ) -> None:
        """Describes the endpoint; nothing is sent yet.

        Args:
            base_url: Usually ends in ``/v1``.
            api_key: May be empty for servers that want none.
            model: The model's name at that server.
            timeout_s: Deadline of one request, with its retries, in seconds.
            max_retries: How often a request is sent again after a failure that may pass.
            cache: Where replies are looked up and kept.
            server_identity: What stands for the server in cache keys, instead of the base URL.
            extra_body: More fields for every request, for this server only.
            supports_n: False if it is known that the server gives one reply a request.
            supports_grammar: True if it is known that the server takes llama.cpp's ``grammar``.

        Raises:
            InputError: The base URL or the key cannot be one.
        """
        self._base_url = checked_base_url(base_url)
        self._api_key = checked_api_key(api_key)
        self._model = model
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._cache = cache
        self._identity = server_identity or without_credentials(base_url)
        # A server that was named so is known for what it is.
        self._fingerprint = None if server_identity is None else fingerprint_of(model, ())
        self._extra_body = dict(extra_body or {})
        self._dialect = Dialect(supports_n=supports_n, supports_grammar=supports_grammar)
        if self.is_embedded:
            self._dialect.most_reserve = 0  # it does not reason, and what it writes takes its time
        self._redactor = Redactor(*secrets_of(self._base_url, self._api_key))
        self._report = FailureReport(self._base_url, model, self._redactor)
        self._endpoint: Endpoint | None = None

    def __repr__(self) -> str:
        return f"OpenAIChatModel({without_credentials(self._base_url)!r}, {self._model!r})"

    @property
    def name(self) -> str:
        """The model's name at the server."""
        return self._model

    @property
    def is_embedded(self) -> bool:
        """Whether it is the embedded model, so that the settings for small models suit it."""
        return self._identity.startswith(EMBEDDED)

    @property
    def base_url(self) -> str:
        """The endpoint, without credentials."""
        return without_credentials(self._base_url)

    async def __aenter__(self) -> OpenAIChatModel:
        # The import takes a moment: other tasks go on meanwhile.
        await asyncio.to_thread(importlib.import_module, "httpx")
        self._endpoint = Endpoint(
            self._base_url,
            self._api_key,
            timeout_s=self._timeout_s,
            max_retries=self._max_retries,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            await endpoint.aclose()

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        schema: Schema | None = None,
        tools: Sequence[Schema] = (),
        on_text: OnText | None = None,
    ) -> Reply:
        """Asks for ``sampling.n`` replies; see `ChatModel.complete`.

        Raises:
            PromptError: The prompt is too long.
            RefusedError: The server refused this request for another reason.
            AnswerTimeoutError: The deadline passed.
            ModelError: Unreachable, key rejected, unknown model, no such API.
        """
        offered = {"tools": list(tools)} if tools else {}
        plain = [_neutralised(message) for message in messages]
        turns = {"messages": [message.as_dict() for message in plain], "schema": schema}
        live = None
        if on_text is not None and sampling.n == 1 and schema is None:
            live = self._live(on_text, sampling)

        async def ask() -> Reply:
            return await self._ask(plain, sampling, schema, tools, live)

        reply = await self._remembered(offered | turns, sampling, ask)
        if live:
            live.tell(reply.text)
        return reply

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        """Asks for one text that goes on where ``prompt`` ends; see `ChatModel.continue_text`.

        Raises:
            NoTextError: The server only goes on with conversations.
            ModelError: As with `complete`.
        """
        plain = neutralise(prompt)

        async def ask() -> Reply:
            def body() -> dict[str, Any]:
                extra = self._extra_body | self._dialect.extra_body(sampling, None)
                return self._dialect.text_body(self._model, plain, sampling) | extra

            answer = await self._insist(_TEXT, body, read_text)
            return self._reply(answer, sampling, restore)

        return await self._remembered({"prompt": plain}, sampling, ask)

    async def identity(self) -> str:
        """The server and what it says of its model; see `ChatModel.identity`.

        Raises:
            ModelError: The server could not be asked.
        """
        if self._fingerprint is None:
            self._fingerprint = fingerprint_of(self._model, await self._cards())
        return f"{self._identity}#{self._fingerprint}"

    async def offered_models(self) -> tuple[str, ...]:
        """The names of the models that the server has.

        Raises:
            ModelError: The server could not be asked.
        """
        async with self._within_deadline():
            reply = await self._opened().get("models")
        if reply.status >= 300:
            raise self._report.refused(reply)
        return tuple(card["id"] for card in self._read(reply, read_cards))

    async def _cards(self) -> Sequence[Mapping[str, Any]]:
        """What the server lists of its models; nothing where it lists none.

        Some servers have no such page, or keep it from keys that may ask. One that is gone is no
        trouble as long as the reply cache has all the answers.
        """
        try:
            async with self._within_deadline():
                reply = await self._opened().get("models")
        except AnswerTimeoutError:
            raise
        except ModelError:
            return []
        if reply.status >= 500:
            raise self._report.refused(reply)
        try:
            return self._read(reply, read_cards)
        except ModelError:
            return []

    def _opened(self) -> Endpoint:
        if self._endpoint is None:
            raise RuntimeError("Use the model inside `async with`.")
        return self._endpoint

    @asynccontextmanager
    async def _within_deadline(self) -> AsyncIterator[None]:
        """Ends what takes too long, and says in our words what HTTP fails with."""
        import httpx

        try:
            with anyio.fail_after(self._timeout_s):
                yield
        except (TimeoutError, httpx.TimeoutException):
            raise self._report.timed_out(self._timeout_s) from None
        except (httpx.ConnectError, httpx.ProxyError):
            raise self._report.unreachable() from None
        except httpx.HTTPError:
            raise self._report.connection_lost() from None

    async def _remembered(
        self,
        asked: Mapping[str, Any],
        sampling: Sampling,
        ask: Callable[[], Awaitable[Reply]],
    ) -> Reply:
        """The reply from the cache, or else the server's, which is then kept there."""
        if self._cache is None:
            return await ask()
        question = {
            **asked,
            "server": self._identity,
            "model": self._model,
            "sampling": dataclasses.asdict(sampling),
            "extra_body": self._extra_body,
        }
        key = self._cache.next_key(question)
        async with self._cache.asking(key):
            reply = await asyncio.to_thread(self._cache.get, key)
            if reply is None:
                reply = await ask()
                await asyncio.to_thread(self._cache.put, key, reply)
            return reply

    async def _ask(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        schema: Schema | None,
        tools: Sequence[Schema],
        live: LiveText | None,
    ) -> Reply:
        answer = await self._request(messages, sampling, schema, tools, live)
        while len(answer.texts) < sampling.n:
            # One after another: the server has read the prompt already, so that each costs little
            # more than its own tokens.
            more = await self._request(messages, _next_single(sampling, answer), schema)
            answer = answer.joined_with(more)
        return self._reply(answer, sampling, answer_in)

    def _live(self, on_text: OnText, sampling: Sampling) -> LiveText:
        """Tells ``on_text`` of what comes only what `_reply` would make of it."""

        def answer(text: str) -> str:
            clean = str(parse(json.dumps(text), self._redactor.clean_so_far))
            said = answer_so_far(clean, begins_in_thought=self._dialect.begins_in_thought)
            return said[: _most_chars(sampling)]

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
        tools: Sequence[Schema] = (),
        live: LiveText | None = None,
    ) -> Answer:
        reserve = 0

        def body() -> dict[str, Any]:
            nonlocal reserve
            reserve = self._dialect.reserve
            extra = self._extra_body | self._dialect.extra_body(sampling, schema)
            asked = self._dialect.body(self._model, messages, sampling, schema, tools)
            return asked | (self._dialect.stream_body() if live else {}) | extra

        answer = await self._insist(_CONVERSATION, body, read_whole, live)
        while self._dialect.learn_from(answer, reserve):
            again = await self._insist(_CONVERSATION, body, read_whole, live)
            answer = dataclasses.replace(again, usage=answer.usage + again.usage)
        if sampling.n > 1 and self._dialect.supports_n and len(answer.texts) < sampling.n:
            self._dialect.supports_n = False
        return answer

    async def _insist(
        self,
        path: str,
        make_body: Callable[[], dict[str, Any]],
        read: Callable[[object], Answer],
        live: LiveText | None = None,
    ) -> Answer:
        """What the server answers, asked in a plainer way as long as it refuses and that helps."""
        started = time.monotonic()
        async with self._within_deadline():
            while True:
                body = make_body()
                on_more = live.update if live and body.get("stream") else None
                reply = await self._opened().post(path, body, on_more)
                if reply.status < 300:
                    answer = self._read(reply, read).timed(time.monotonic() - started)
                    if on_more and not reply.is_stream:
                        self._dialect.supports_stream = False
                    return answer
                if path == _TEXT and lacks_text(reply):
                    raise self._report.no_text(reply)
                if not self._has_learnt(reply, body):
                    break
        offered = await self._offered_if_known() if reply.status == 404 else ()
        raise self._report.refused(reply, offered)

    def _has_learnt(self, reply: HttpReply, body: dict[str, Any]) -> bool:
        if is_context_overflow(reply):
            return self._dialect.give_up_reserve(self._dialect.reserve)
        if reply.status not in (400, 422):
            return False
        return self._dialect.learn(server_message(reply), body)

    async def _offered_if_known(self) -> tuple[str, ...]:
        try:
            return await self.offered_models()
        except ModelError:
            return ()

    def _read(self, reply: HttpReply, read: Callable[[object], ValueT]) -> ValueT:
        """What stands in a reply. Raises ModelError where it is not what was asked for."""
        try:
            return read(parse(reply.text, self._redactor.clean))
        except (ValueError, RecursionError):
            raise self._report.not_a_completion(reply) from None


def _most_chars(sampling: Sampling) -> int:
    return max(_SHORTEST_LIMIT, _CHARS_PER_TOKEN * sampling.max_tokens)


def _neutralised(message: Message) -> Message:
    calls = tuple(
        ToolCall(call.id, call.name, neutralise(call.arguments)) for call in message.calls
    )
    return Message(message.role, neutralise(message.content), calls, message.call_id)


def _next_single(sampling: Sampling, answer: Answer) -> Sampling:
    seed = None if sampling.seed is None else sampling.seed + len(answer.texts)
    return dataclasses.replace(sampling, n=1, seed=seed)
