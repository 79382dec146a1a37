"""The chat client for any OpenAI-compatible server, hosted or local."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from exploracoder.errors import ModelError
from exploracoder.models.cache import ReplyCache
from exploracoder.models.chat import Message, OnToken, Reply, Sampling, Schema
from exploracoder.models.completion import Answer, read_text, read_whole
from exploracoder.models.dialect import Dialect
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

if TYPE_CHECKING:
    import openai

_CONNECT_TIMEOUT_S = 10.0
# The client insists on a key; servers without one do not look at it.
_NO_KEY = "none"


class OpenAIChatModel:
    """One model at one endpoint; an async context manager, since it keeps connections open.

    What the server refuses (``n``, JSON schema, streaming, single fields) is remembered and asked
    for in a plainer way from then on. Rate limits, server errors and lost connections are tried
    again with growing pauses; nothing else is.
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
        self._report = FailureReport(self._base_url, model, self._api_key)
        self._client: openai.AsyncOpenAI | None = None

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
        # The import takes most of a second: other tasks go on meanwhile.
        await asyncio.to_thread(importlib.import_module, "openai")
        self._client = self._connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        schema: Schema | None = None,
        on_token: OnToken | None = None,
        tools: Sequence[Schema] = (),
    ) -> Reply:
        """Asks for ``sampling.n`` replies; see `ChatModel.complete`.

        Raises:
            PromptError: The prompt is too long.
            RefusedError: The server refused this request for another reason.
            ModelError: Unreachable, key rejected, unknown model, deadline passed.
        """
        offered = {"tools": list(tools)} if tools else {}
        turns = {"messages": [message.as_dict() for message in messages], "schema": schema}

        async def ask() -> Reply:
            return await self._ask(messages, sampling, schema, on_token, tools)

        return await self._remembered(offered | turns, sampling, ask, on_token)

    async def continue_text(self, prompt: str, sampling: Sampling) -> Reply:
        """Asks for one text that goes on where ``prompt`` ends; see `ChatModel.continue_text`.

        Raises:
            NoTextError: The server only goes on with conversations.
            ModelError: As with `complete`.
        """

        async def ask() -> Reply:
            answer = await self._insist(
                lambda: (
                    self._dialect.text_body(self._model, prompt, sampling)
                    | {"extra_body": self._extra_body | self._dialect.extra_body(sampling, None)}
                ),
                self._send_text,
            )
            return self._reply(answer, 1)

        return await self._remembered({"prompt": prompt}, sampling, ask)

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
        import openai

        try:
            with anyio.fail_after(self._timeout_s):
                page = await self._opened().models.list()
            return tuple(model.id for model in page.data)
        except TimeoutError:
            raise self._report.timed_out(self._timeout_s) from None
        except (openai.OpenAIError, ValueError) as error:
            raise self._report.translate(error) from None
        except (AttributeError, TypeError):
            raise self._report.not_a_completion() from None

    async def _cards(self) -> Sequence[Mapping[str, Any]]:
        """What the server lists of its models; nothing where it lists none."""
        import openai

        try:
            with anyio.fail_after(self._timeout_s):
                page = await self._opened().models.list()
            return [card.model_dump() for card in page.data]
        except TimeoutError:
            raise self._report.timed_out(self._timeout_s) from None
        except (AttributeError, TypeError, ValueError):
            return []
        except openai.OpenAIError as error:
            if _says_nothing(error):
                return []
            raise self._report.translate(error) from None

    def _connect(self) -> openai.AsyncOpenAI:
        import openai

        timeout = openai.Timeout(self._timeout_s, connect=_CONNECT_TIMEOUT_S)
        # A proxy set for the outside world cannot reach this machine's loopback.
        is_local = urlsplit(self._base_url).hostname in ("127.0.0.1", "localhost", "::1")
        return openai.AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._api_key or _NO_KEY,
            timeout=timeout,
            max_retries=self._max_retries,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not is_local, timeout=timeout),
        )

    def _opened(self) -> openai.AsyncOpenAI:
        if self._client is None:
            raise RuntimeError("Use the model inside `async with`.")
        return self._client

    async def _remembered(
        self,
        asked: Mapping[str, Any],
        sampling: Sampling,
        ask: Callable[[], Awaitable[Reply]],
        on_token: OnToken | None = None,
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
            elif on_token is not None:
                on_token(reply.text)
            return reply

    async def _ask(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        schema: Schema | None,
        on_token: OnToken | None,
        tools: Sequence[Schema],
    ) -> Reply:
        answer = await self._request(messages, sampling, schema, on_token, tools)
        while len(answer.texts) < sampling.n:
            # One after another: the server has read the prompt already, so that each costs little
            # more than its own tokens.
            more = await self._request(messages, _next_single(sampling, answer), schema, None)
            answer = answer.joined_with(more)
        return self._reply(answer, sampling.n)

    def _reply(self, answer: Answer, n: int) -> Reply:
        return Reply(
            texts=tuple(answer.texts[:n]),
            finish_reasons=tuple(answer.finish_reasons[:n]),
            calls=tuple(answer.calls),
            usage=answer.usage,
            model=answer.model or self._model,
        )

    async def _request(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        schema: Schema | None,
        on_token: OnToken | None,
        tools: Sequence[Schema] = (),
    ) -> Answer:
        def body() -> dict[str, Any]:
            made = self._dialect.body(self._model, messages, sampling, schema, tools)
            made["extra_body"] = self._extra_body | self._dialect.extra_body(sampling, schema)
            # Calls are read whole: nothing of them is shown while they are written.
            if on_token is not None and not tools and self._dialect.supports_streaming:
                made |= {"stream": True, "stream_options": {"include_usage": True}}
            return made

        answer = await self._insist(body, lambda made: self._send(made, on_token))
        if sampling.n > 1 and self._dialect.supports_n and len(answer.texts) < sampling.n:
            self._dialect.supports_n = False
        return answer

    async def _insist(
        self,
        make_body: Callable[[], dict[str, Any]],
        send: Callable[[dict[str, Any]], Awaitable[Answer]],
    ) -> Answer:
        """What the server answers, asked in a plainer way as long as it refuses and that helps."""
        import openai

        while True:
            body = make_body()
            try:
                with anyio.fail_after(self._timeout_s):
                    return await send(body)
            except TimeoutError:
                raise self._report.timed_out(self._timeout_s) from None
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if is_context_overflow(error) or not self._dialect.learn(
                    server_message(error), body
                ):
                    raise self._report.translate(error) from None
                continue
            except openai.NotFoundError as error:
                raise self._report.translate(error, await self._offered_if_known()) from None
            except (openai.OpenAIError, ValueError) as error:
                raise self._report.translate(error) from None

    async def _offered_if_known(self) -> tuple[str, ...]:
        try:
            return await self.offered_models()
        except ModelError:
            return ()

    async def _send(self, body: dict[str, Any], on_token: OnToken | None) -> Answer:
        started = time.monotonic()
        create = self._opened().chat.completions.create
        if body.get("stream"):
            answer = await self._read_stream(await create(**body), on_token)
        else:
            answer = read_whole(await create(**body))
            if answer.texts and on_token is not None:
                on_token(answer.texts[0])
        if not answer.texts:
            raise self._report.not_a_completion()
        return answer.timed(time.monotonic() - started)

    async def _send_text(self, body: dict[str, Any]) -> Answer:
        import openai

        started = time.monotonic()
        try:
            answer = read_text(await self._opened().completions.create(**body))
        except openai.APIStatusError as error:
            if lacks_text(error):
                raise self._report.no_text(error) from None
            raise
        if not answer.texts:
            raise self._report.not_a_completion()
        return answer.timed(time.monotonic() - started)

    async def _read_stream(self, stream: Any, on_token: OnToken | None) -> Answer:
        import openai

        answer = Answer()
        if not isinstance(stream, AsyncIterator) and not hasattr(stream, "__aiter__"):
            return answer
        try:
            async with stream:
                async for chunk in stream:
                    piece = answer.take(chunk)
                    if piece and on_token is not None:
                        on_token(piece)
        except openai.APITimeoutError:
            raise
        except openai.APIConnectionError:
            raise self._report.connection_lost() from None
        return answer


def _says_nothing(error: openai.OpenAIError) -> bool:
    """Whether a failure to list the models is none of the model's.

    Some servers have no such page, or keep it from keys that may ask. One that is gone is no
    trouble as long as the reply cache has all the answers.
    """
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code < 500
    is_late = isinstance(error, openai.APITimeoutError)
    return isinstance(error, openai.APIConnectionError) and not is_late


def _next_single(sampling: Sampling, answer: Answer) -> Sampling:
    seed = None if sampling.seed is None else sampling.seed + len(answer.texts)
    return dataclasses.replace(sampling, n=1, seed=seed)
