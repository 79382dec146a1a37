"""A model server, asked within a deadline; what fails there comes out in our words."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

from exploracoder.errors import AnswerTimeoutError, ModelError
from exploracoder.models.completion import parse, read_cards
from exploracoder.models.endpoint import Endpoint, HttpReply
from exploracoder.models.failures import (
    FailureReport,
    checked_api_key,
    checked_base_url,
    without_credentials,
)
from exploracoder.models.redaction import Redactor, secrets_of

ValueT = TypeVar("ValueT")


class ModelServer:
    """A server, its address and key, and what it offers; open between `open` and `aclose`."""

    def __init__(
        self, base_url: str, api_key: str, model: str, *, timeout_s: float, max_retries: int
    ) -> None:
        """Describes the server; nothing is sent yet.

        Args:
            base_url: Usually ends in ``/v1``.
            api_key: May be empty.
            model: The model that failures are about.
            timeout_s: Deadline of one request, with its retries, in seconds.
            max_retries: How often a request is sent again after a failure that may pass.

        Raises:
            InputError: The base URL or the key cannot be one.
        """
        self._base_url = checked_base_url(base_url)
        self._api_key = checked_api_key(api_key)
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self.url = without_credentials(base_url)
        self.redactor = Redactor(*secrets_of(self._base_url, self._api_key))
        self.report = FailureReport(self._base_url, model, self.redactor)
        self._endpoint: Endpoint | None = None

    def __repr__(self) -> str:
        return f"ModelServer({self.url!r}, {self.report!r})"

    async def open(self) -> None:
        """Makes connections possible."""
        # The import takes a moment: other tasks go on meanwhile.
        await asyncio.to_thread(importlib.import_module, "httpx")
        self._endpoint = Endpoint(
            self._base_url,
            self._api_key,
            timeout_s=self._timeout_s,
            max_retries=self._max_retries,
        )

    async def aclose(self) -> None:
        """Closes the connections."""
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            await endpoint.aclose()

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go. Raises RuntimeError while it is not open."""
        if self._endpoint is None:
            raise RuntimeError("Use the model inside `async with`.")
        return self._endpoint

    @asynccontextmanager
    async def within_deadline(self) -> AsyncIterator[None]:
        """Ends what takes too long, and says in our words what HTTP fails with."""
        import httpx

        try:
            with anyio.fail_after(self._timeout_s):
                yield
        except (TimeoutError, httpx.TimeoutException):
            raise self.report.timed_out(self._timeout_s) from None
        except (httpx.ConnectError, httpx.ProxyError):
            raise self.report.unreachable() from None
        except httpx.HTTPError:
            raise self.report.connection_lost() from None

    def read(self, reply: HttpReply, read: Callable[[object], ValueT]) -> ValueT:
        """What stands in a reply. Raises ModelError where it is not what was asked for."""
        try:
            return read(parse(reply.text, self.redactor.clean))
        except (ValueError, RecursionError):
            raise self.report.not_a_completion(reply) from None

    async def offered_models(self) -> tuple[str, ...]:
        """The names of its models. Raises ModelError when it could not be asked."""
        async with self.within_deadline():
            reply = await self.endpoint.get("models")
        if reply.status >= 300:
            raise self.report.refused(reply)
        return tuple(card["id"] for card in self.read(reply, read_cards))

    async def cards(self) -> Sequence[Mapping[str, Any]]:
        """What it lists of its models; nothing where it lists none.

        Some servers have no such page, or keep it from keys that may ask. One that is gone is no
        trouble as long as the reply cache has all the answers.

        Raises:
            ModelError: It did not answer in time, or failed.
        """
        try:
            async with self.within_deadline():
                reply = await self.endpoint.get("models")
        except AnswerTimeoutError:
            raise
        except ModelError:
            return []
        if reply.status >= 500:
            raise self.report.refused(reply)
        try:
            return self.read(reply, read_cards)
        except ModelError:
            return []

    async def refusal(self, reply: HttpReply) -> ModelError:
        """The error for a request that was refused, with the models on offer where that helps."""
        offered: tuple[str, ...] = ()
        if reply.status == 404:
            try:
                offered = await self.offered_models()
            except ModelError:
                offered = ()
        return self.report.refused(reply, offered)
