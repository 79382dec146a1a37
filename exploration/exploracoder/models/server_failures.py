"""Turns a model server's failures into error messages that say what to do next."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from exploracoder_retrieval.web_access import without_credentials

from exploracoder.errors import (
    AnswerTimeoutError,
    InputError,
    ModelError,
    NoTextError,
    PromptError,
    RefusedError,
)
from exploracoder.models.certificates import untrusted
from exploracoder.models.chat import json_or_none
from exploracoder.models.redaction import Redactor
from exploracoder.models.server_answer import mapping, mappings
from exploracoder.texts import on_a_line

_SHOWN_CHARS = 300
_READ_CHARS = 4000
_SHOWN_MODELS = 20
_SHOWN_FAULTS = 5
_NAME_CHARS = 80
# Bad request, too large, unprocessable: the next one may be better.
_OF_THE_REQUEST = (400, 413, 422)
_PASSING = (408, 409, 429)
_OVERFLOW_KINDS = ("context_length_exceeded", "exceed_context_size_error")
_OVERFLOW = re.compile(
    r"context[ _](length|size|window)|exceeds? the (available|maximum) context|too many tokens"
    r"|prompt is too long",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"tools? param|tool use|support\w* (?:for )?(?:tool|function)", re.IGNORECASE
)
_TRY_AGAIN = re.compile(r"\b(?:try again|retry) in (\d+(?:\.\d+)?) ?s", re.IGNORECASE)
_PAGE = re.compile(r"<[!/?]?[a-z][^>]*>|<!--|&[a-z]+;|&#\d+;", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server answered; ``text`` is the body, truncated if it is too long.

    ``is_stream`` means that it was assembled from a stream, ``is_shared`` that it comes from our
    own shared server.
    """

    status: int
    text: str
    retry_after: str = ""
    is_stream: bool = False
    is_shared: bool = False

    @property
    def asked_pause_s(self) -> float | None:
        """How long the server asks to wait, in its header or in words; None if it does not say."""
        if (seconds := _seconds(self.retry_after)) is not None:
            return seconds
        match = _TRY_AGAIN.search(server_message(self)) if self.status == 429 else None
        return float(match[1]) if match else None

    @property
    def lacks_tools(self) -> bool:
        """Whether functions were refused, by a status that looks like another failure."""
        return self.status in (404, 500, 501) and bool(_NO_TOOLS.search(server_message(self)))

    @property
    def may_pass(self) -> bool:
        """Whether the failure may be temporary, so that the same request may succeed later."""
        return self.status in _PASSING or self.status >= 500


class FailureReport:
    """Error messages for one server and model; they never contain a secret or an HTML page."""

    def __init__(
        self, base_url: str, model: str, redactor: Redactor, *, has_key: bool = True
    ) -> None:
        self._url = without_credentials(base_url)
        self._model = model
        self._redactor = redactor
        self._has_key = has_key

    def __repr__(self) -> str:
        return f"FailureReport({self._url!r}, {self._model!r})"

    def refused(self, reply: HttpReply, models: tuple[str, ...] = ()) -> ModelError:
        """The error for an HTTP status other than success.

        Args:
            reply: What the server answered.
            models: The models that the server says it has, if it was asked.
        """
        status, quote = reply.status, self.quote(reply)
        if status in (401, 403) and not self._has_key:
            return ModelError(
                f"The model server at {self._url} wants an API key (HTTP {status}), and none is "
                "configured for it. Set OPENAI_API_KEY, or keep one with `exploracoder model key "
                "set`; in JupyterLab that is for the configured "
                "server, and c.ExploraCoder.key_variables names the keys of others. A key of "
                "OpenAI's is sent to OpenAI and to OPENAI_BASE_URL alone."
            )
        if status in (401, 403):
            return ModelError(
                f"The model server at {self._url} rejected the API key (HTTP {status}).{quote} "
                "Check OPENAI_API_KEY, the provider's own variable, or `exploracoder model key`."
            )
        if status == 404 and self._model not in models:
            return self._not_found(models, quote)
        if is_context_overflow(reply):
            return self._overflow(reply)
        if 300 <= status < 400:
            return ModelError(
                f"The model server at {self._url} sends its visitors elsewhere (HTTP {status}), "
                "which is not followed. Give the address itself with --base-url."
            )
        return self._failed(reply, quote)

    def _failed(self, reply: HttpReply, quote: str) -> ModelError:
        status = reply.status
        if status == 429:
            wait = f"Wait {pause:.0f} s" if (pause := reply.asked_pause_s) else "Wait"
            return ModelError(
                f"The model server at {self._url} is busy or a quota is used up (HTTP 429).{quote} "
                f"{wait}, or ask for fewer candidates."
            )
        if status >= 500:
            return ModelError(
                f"The model server at {self._url} failed (HTTP {status}).{quote} Look at its log, "
                "or try again."
            )
        kind = RefusedError if status in _OF_THE_REQUEST else ModelError
        return kind(
            f"The model server at {self._url} refused the request (HTTP {status}).{quote} Look at "
            "its log, or try another model."
        )

    def _not_found(self, models: tuple[str, ...], quote: str) -> ModelError:
        if models:
            names = [self._plain(name)[:_NAME_CHARS] for name in models[:_SHOWN_MODELS]]
            more = ", …" if len(models) > _SHOWN_MODELS else ""
            return ModelError(
                f"The server at {self._url} does not offer the model {self._model!r}. It offers: "
                f"{', '.join(names)}{more}. Choose one with --model."
            )
        return ModelError(
            f"There is no model {self._model!r}, or no OpenAI-compatible API, at {self._url} "
            f"(HTTP 404).{quote} Check --model and --base-url, which usually ends in /v1."
        )

    def _overflow(self, reply: HttpReply) -> PromptError:
        details = _details(reply)
        prompt, limit = details.get("n_prompt_tokens"), details.get("n_ctx")
        reason = self.quote(reply)
        if isinstance(prompt, int) and isinstance(limit, int):
            reason = f" It has {prompt} tokens, the model takes {limit} with the reply."
        return PromptError(
            f"The prompt is too long for {self._model}.{reason} Shorten the context, or lower the "
            "number of documents per subtask."
        )

    def unreachable(self) -> ModelError:
        """No connection could be made."""
        return ModelError(
            f"No model server can be reached at {self._url}. Start it, check --base-url, or "
            "see `exploracoder model status`."
        )

    def untrusted(self, fault: str) -> ModelError:
        """The server's certificate was refused."""
        return ModelError(untrusted(f"the model server at {self._url}", fault))

    def timed_out(self, timeout_s: float) -> AnswerTimeoutError:
        """The deadline passed, or the server was silent for too long."""
        return AnswerTimeoutError(
            f"The model {self._model} at {self._url} did not answer within {timeout_s:g} s. Try "
            "again, lower the number of tokens per reply, or choose a faster model."
        )

    def connection_lost(self) -> ModelError:
        """The connection ended before the reply was complete, or the reply was not HTTP."""
        return ModelError(
            f"The connection to the model server at {self._url} was lost before its reply was "
            "whole. Look at its log, or try again."
        )

    def no_text(self, reply: HttpReply) -> NoTextError:
        """The server has no text completions, or not for this model."""
        return NoTextError(
            f"The server at {self._url} does not go on with texts for {self._model!r} (HTTP"
            f" {reply.status} at /completions). Check --model, or use functions:"
            " --set search-calls=functions."
        )

    def not_a_completion(self, reply: HttpReply) -> ModelError:
        """What answered does not speak the API, or reported an error without an error status."""
        body = mapping(json_or_none(reply.text))
        if body.get("error") and (quote := self.quote(reply)):
            return ModelError(f"The model server at {self._url} did not answer.{quote}")
        return ModelError(
            f"What answers at {self._url} is not an OpenAI-compatible API. Check --base-url, which "
            "usually ends in /v1."
        )

    def quote(self, reply: HttpReply) -> str:
        """The server's own message, after a space, shortened, and ending in punctuation.

        Empty if it gave none, or sent an HTML page: that names the server's software, and does not
        help anybody who reads an error message.
        """
        words = self._plain(server_message(reply))
        if not words or _PAGE.search(words):
            return ""
        words = words if len(words) <= _SHOWN_CHARS else words[:_SHOWN_CHARS] + " …"
        return f" It says: {words}" + ("" if words.endswith((".", "!", "?", "…")) else ".")

    def _plain(self, text: str) -> str:
        """The server's text on one line, without secrets or terminal control characters."""
        return self._redactor.clean(" ".join(on_a_line(text[:_READ_CHARS]).split()))


def _seconds(retry_after: str) -> float | None:
    """The value of a ``Retry-After`` header, a number or a date, in seconds from now."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, OverflowError, OSError):
            return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def server_message(reply: HttpReply) -> str:
    """The server's error message; empty if it sent none as text."""
    body = json_or_none(reply.text)
    if isinstance(body, str):
        return body
    if not isinstance(body, dict):
        return "" if body is not None else reply.text.strip()
    details = _details(reply)
    fields = (_words(details.get(name)) for name in ("message", "detail", "error"))
    return next(filter(None, fields), "")


def _words(field: object) -> str:
    """One field of an error as text; servers that validate send a list of faults and places."""
    if isinstance(field, dict):
        field = field.get("detail")
    if not isinstance(field, list):
        return field if isinstance(field, str) else ""
    wrong = mappings(field[:_SHOWN_FAULTS])
    return "; ".join(f"{_place(one.get('loc'))}: {one.get('msg')}" for one in wrong)


def _place(loc: object) -> str:
    return ".".join(map(str, loc)) if isinstance(loc, list) else "request"


def _details(reply: HttpReply) -> dict[str, Any]:
    """The object that describes the error; some servers nest it under ``error``."""
    body = mapping(json_or_none(reply.text))
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def is_context_overflow(reply: HttpReply) -> bool:
    """Whether the request was refused because it is longer than the model's context."""
    details = _details(reply)
    if any(details.get(name) in _OVERFLOW_KINDS for name in ("code", "type")):
        return True
    return reply.status in _OF_THE_REQUEST and bool(_OVERFLOW.search(server_message(reply)))


def lacks_text(reply: HttpReply) -> bool:
    """Whether a text completion was refused because only chat completions are supported."""
    if reply.status in (404, 405, 501):
        return True
    message = server_message(reply).lower()
    return reply.status == 400 and bool(re.search(r"chat model|chat/completions", message))


def checked_base_url(url: str) -> str:
    """The base URL without surrounding white space, if it is valid.

    Raises:
        InputError: It is not an http or https URL with a host.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_usable = is_usable and (parts.port is None or parts.port > 0)
        is_usable = is_usable and url.isprintable() and " " not in url
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InputError(
            "The base URL of the model server must look like http://127.0.0.1:8000/v1; got "
            f"{url.rpartition('@')[2].partition('?')[0]!r}."
        )
    return url


def checked_api_key(api_key: str) -> str:
    """The key without surrounding white space.

    Raises:
        InputError: It has characters that are not allowed in an HTTP header.
    """
    api_key = api_key.strip()
    if not (api_key.isascii() and api_key.isprintable()):
        # If it were sent, the HTTP library's error message would contain it.
        raise InputError("The API key has characters that no key has. Check OPENAI_API_KEY.")
    return api_key
