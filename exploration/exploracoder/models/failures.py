"""Turns what the openai client raises into sentences that say what to do next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from exploracoder.errors import InputError, ModelError, NoTextError, PromptError, RefusedError

if TYPE_CHECKING:
    import openai

_SHOWN_CHARS = 300
# Bad request, too large, unprocessable: the next one may be better.
_OF_THE_REQUEST = (400, 413, 422)
_OVERFLOW = re.compile(
    r"context[ _](length|size|window)|exceeds? the (available|maximum) context|too many tokens"
    r"|prompt is too long",
    re.IGNORECASE,
)


class FailureReport:
    """Words for the failures of one server and model; never with the key in them."""

    def __init__(self, base_url: str, model: str, api_key: str) -> None:
        self._url = without_credentials(base_url)
        self._model = model
        self._api_key = api_key

    def __repr__(self) -> str:
        return f"FailureReport({self._url!r}, {self._model!r})"

    def translate(
        self, error: openai.OpenAIError | ValueError, offered: tuple[str, ...] = ()
    ) -> ModelError:
        """The error in words.

        Args:
            error: What the openai client raised.
            offered: The models that the server says it has, if it was asked.
        """
        import openai

        if isinstance(error, openai.APITimeoutError):
            return self.timed_out()
        if isinstance(error, openai.APIConnectionError):
            return ModelError(
                f"No model server can be reached at {self._url}. Start it, check --base-url, or "
                "see `exploracoder model status`."
            )
        if isinstance(error, openai.APIStatusError):
            return self._refused(error, offered)
        return self.not_a_completion()

    def _refused(self, error: openai.APIStatusError, offered: tuple[str, ...]) -> ModelError:
        status, said = error.status_code, self.quote(error)
        if status in (401, 403):
            return ModelError(
                f"The model server at {self._url} rejected the API key (HTTP {status}). Check "
                "OPENAI_API_KEY."
            )
        if status == 404:
            return self._not_found(offered)
        if is_context_overflow(error):
            return self._overflow(error)
        if status == 429:
            return ModelError(
                f"The model server at {self._url} is busy or a quota is used up (HTTP 429): {said} "
                "Wait, or ask for fewer candidates."
            )
        if status >= 500:
            return ModelError(
                f"The model server at {self._url} failed (HTTP {status}): {said} Look at its log, "
                "or try again."
            )
        kind = RefusedError if status in _OF_THE_REQUEST else ModelError
        return kind(f"The model server at {self._url} refused the request (HTTP {status}): {said}")

    def _not_found(self, offered: tuple[str, ...]) -> ModelError:
        if offered:
            return ModelError(
                f"The server at {self._url} does not offer the model {self._model!r}. It offers: "
                f"{', '.join(offered)}. Choose one with --model."
            )
        return ModelError(
            f"There is no model {self._model!r}, or no OpenAI-compatible API, at {self._url} "
            "(HTTP 404). Check --model and --base-url, which usually ends in /v1."
        )

    def _overflow(self, error: openai.APIStatusError) -> PromptError:
        details = error.body if isinstance(error.body, dict) else {}
        prompt, limit = details.get("n_prompt_tokens"), details.get("n_ctx")
        if prompt and limit:
            said = f"the prompt has {prompt} tokens, the model takes {limit} with the reply."
        else:
            said = self.quote(error)
        return PromptError(
            f"The prompt is too long for {self._model}: {said} Shorten the context, or lower the "
            "number of documents per subtask."
        )

    def timed_out(self, timeout_s: float | None = None) -> ModelError:
        """The deadline passed, or the server was silent for too long."""
        within = f" within {timeout_s:g} s" if timeout_s is not None else " in time"
        return ModelError(
            f"The model {self._model} at {self._url} did not answer{within}. Raise the model "
            "time-out, lower the number of tokens per reply, or choose a faster model."
        )

    def connection_lost(self) -> ModelError:
        """The server went away in the middle of a streamed reply."""
        return ModelError(
            f"The connection to the model server at {self._url} was lost in the middle of a reply. "
            "Look at its log, or try again."
        )

    def no_text(self, error: openai.APIStatusError) -> NoTextError:
        """The server does not go on with texts, or not with this model."""
        return NoTextError(
            f"The server at {self._url} does not go on with texts for {self._model!r} (HTTP"
            f" {error.status_code} at /completions). Check --model, or use functions:"
            " --set search-calls=functions."
        )

    def not_a_completion(self) -> ModelError:
        """Something answered that does not speak the API."""
        return ModelError(
            f"What answers at {self._url} is not an OpenAI-compatible API. Check --base-url, which "
            "usually ends in /v1."
        )

    def quote(self, error: openai.APIStatusError) -> str:
        """The server's own words on one line, shortened, ending in a full stop."""
        words = " ".join(server_message(error).split())
        if self._api_key:
            words = words.replace(self._api_key, "[key]")
        words = words if len(words) <= _SHOWN_CHARS else words[:_SHOWN_CHARS] + " …"
        return words if words.endswith((".", "!", "?", "…")) else words + "."


def server_message(error: openai.APIStatusError) -> str:
    """What the server wrote, without what the client adds to it."""
    body: Any = error.body
    if isinstance(body, dict):
        for field in ("message", "detail", "error"):
            if body.get(field):
                return str(body[field])
    return str(body or error.message)


def is_context_overflow(error: openai.APIStatusError) -> bool:
    """Whether the request was refused because it is longer than the model's context."""
    details = error.body if isinstance(error.body, dict) else {}
    kinds = {details.get("code"), details.get("type")}
    if kinds & {"context_length_exceeded", "exceed_context_size_error"}:
        return True
    return error.status_code in (400, 413, 422) and bool(_OVERFLOW.search(server_message(error)))


def lacks_text(error: openai.APIStatusError) -> bool:
    """Whether a request for a text was refused because there are only conversations."""
    if error.status_code in (404, 405, 501):
        return True
    said = server_message(error).lower()
    return error.status_code == 400 and bool(re.search(r"chat model|chat/completions", said))


def without_credentials(url: str) -> str:
    """The URL without user name, password and query, fit to be shown."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def checked_base_url(url: str) -> str:
    """The base URL as it is, if it is one.

    Raises:
        InputError: It is not an http or https URL with a host.
    """
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_usable = is_usable and (parts.port is None or parts.port > 0)
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InputError(
            "The base URL of the model server must look like http://127.0.0.1:8000/v1; got "
            f"{url.rpartition('@')[2]!r}."
        )
    return url


def checked_api_key(api_key: str) -> str:
    """The key without surrounding white space.

    Raises:
        InputError: It has characters that cannot stand in an HTTP header.
    """
    api_key = api_key.strip()
    if not (api_key.isascii() and api_key.isprintable()):
        # Sent as it is, it would come back inside the HTTP library's error message.
        raise InputError("The API key has characters that no key has. Check OPENAI_API_KEY.")
    return api_key
