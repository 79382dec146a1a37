"""A scripted model behind a real HTTP server, for tests that must not depend on a model.

```python
from exploracoder.testing import Failure, Rule, ScriptedModelServer

rules = [
    Rule(r"plan", '{"subtasks": ["read", "sort"]}'),
    Rule(r"code", Failure(429, retry_after_s=0), "print(1)"),  # fails once, then answers
]
with ScriptedModelServer(rules) as server:
    ...  # point any OpenAI-compatible client at server.base_url
    assert server.requests[0].last_user_message.startswith("plan")
```
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# How much of a text a stream sends at a time.
PIECE_CHARS = 20
_MOST_HELD_S = 120.0


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it reached the server."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def is_text(self) -> bool:
        """Whether it asks to complete a text rather than a conversation."""
        return self.path.endswith("/completions") and "prompt" in self.body

    @property
    def is_stream(self) -> bool:
        """Whether it asks to stream the reply to a conversation."""
        return bool(self.body.get("stream")) and not self.is_text

    @property
    def last_user_message(self) -> str:
        """The content of the last user turn, or an empty string."""
        turns = [turn for turn in self.body.get("messages", ()) if turn["role"] == "user"]
        return str(turns[-1]["content"]) if turns else ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Answer with an HTTP error.

    Attributes:
        status: The HTTP status.
        message: The text of the error, as an OpenAI-compatible server words it.
        retry_after_s: Sent as ``Retry-After`` unless None.
        details: More fields of the ``error`` object, such as ``code`` or ``n_ctx``.
    """

    status: int
    message: str = "scripted failure"
    retry_after_s: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection without an answer."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Answer 200 with a body that need not be anything a model server would send."""

    body: str
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """Ask for a function to be called, with arguments as a model would write them."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait, then answer."""

    seconds: float
    then: Outcome


@dataclass(frozen=True, slots=True)
class Hold:
    """Wait until ``until`` is set, at most two minutes, then answer."""

    until: threading.Event
    then: Outcome


# A list of texts gives one text to each of the n choices; a single text is repeated.
Outcome = str | Sequence[str] | Failure | Drop | Raw | Delay | Hold | Call
Script = Callable[[RecordedRequest], Outcome]


class Rule:
    """Which requests to answer, and with what."""

    def __init__(self, when: str | Callable[[RecordedRequest], bool], *outcomes: Outcome) -> None:
        """Describes one rule.

        Args:
            when: A regular expression searched for in the last user message, or a predicate.
            outcomes: Used one after another; the last one is repeated.
        """
        if not outcomes:
            raise ValueError("A rule needs at least one outcome.")
        self._when = when
        self._outcomes = list(outcomes)

    def matches(self, request: RecordedRequest) -> bool:
        """Whether the rule applies to this request."""
        if isinstance(self._when, str):
            return re.search(self._when, request.last_user_message, re.DOTALL) is not None
        return self._when(request)

    def next_outcome(self) -> Outcome:
        """The outcome for the next matching request."""
        return self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]


@dataclass(eq=False)
class ScriptedModelServer:
    """An OpenAI-compatible server on loopback that answers from a script.

    It serves ``/v1/chat/completions`` (``n``, ``response_format``, ``stream``), ``/v1/completions``
    (one text, cut at ``stop`` and at ``max_tokens``), ``/v1/models`` and ``/v1/embeddings`` (four
    numbers made from the text's characters). Tokens are words. Use it as a context manager: it
    listens inside the ``with`` block, and keeps every request in ``requests``.

    Attributes:
        script: A function from request to outcome, rules tried in order, or one text for all.
        model: The only model it offers.
        first: Outcomes of the first requests, before the script takes over.
        ignore_n: Answer with one choice, whatever ``n`` says.
        refuse_n: Answer 400 if ``n`` is above 1.
        refuse_formats: Values of ``response_format.type`` that are answered with 400.
        refuse_tools: Answer 500 if ``tools`` are offered.
        refuse_texts: Answer 404 at ``/v1/completions``.
        refuse_stream: Answer 400 if ``stream`` is asked for.
        piece_pause_s: How long a stream pauses before each piece of a text, in seconds.
        most_stops: Answer 400 if ``stop`` has more strings than this; 0 allows none.
        report_usage: Whether answers carry token counts.
        finish_reason: Why each text ends; ``length`` simulates a reply that was cut off.
        require_key: The only key that is accepted; others get 401.
        require_model: Answer 404 if another model is asked for.
        card: What ``/v1/models`` tells about the model besides its name, or how that fails.
    """

    script: Script | Sequence[Rule] | str
    _: KW_ONLY
    model: str = "scripted"
    first: Sequence[Outcome] = ()
    ignore_n: bool = False
    refuse_n: bool = False
    refuse_formats: Sequence[str] = ()
    refuse_tools: bool = False
    refuse_texts: bool = False
    refuse_stream: bool = False
    piece_pause_s: float = 0.0
    most_stops: int | None = None
    report_usage: bool = True
    finish_reason: str = "stop"
    require_key: str | None = None
    require_model: bool = False
    card: Mapping[str, Any] | Failure | None = None
    requests: list[RecordedRequest] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._first = list(self.first)
        self._arrival = threading.Condition()
        self._httpd = _Listener(("127.0.0.1", 0), _Handler)
        self._httpd.owner = self
        self._thread = threading.Thread(
            target=self._httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def base_url(self) -> str:
        """The base URL for clients, including ``/v1``."""
        return f"http://127.0.0.1:{self._httpd.server_address[1]}/v1"

    @property
    def chat_requests(self) -> list[RecordedRequest]:
        """The requests for completions, without those for models or embeddings."""
        return [request for request in self.requests if request.path.endswith("/completions")]

    def wait_for_requests(self, count: int, timeout_s: float = 5.0) -> None:
        """Block until ``count`` requests have arrived.

        Raises:
            TimeoutError: Fewer arrived in time.
        """
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.requests) >= count, timeout_s):
                raise TimeoutError(f"{len(self.requests)} of {count} requests arrived.")

    def __enter__(self) -> ScriptedModelServer:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()
        self._thread.join()

    def outcome_for(self, request: RecordedRequest) -> Outcome:
        """Record the request and return how to answer it."""
        with self._recorded(request):
            if (refusal := self._refusal(request)) is not None:
                return refusal
            return self._first.pop(0) if self._first else self._scripted(request)

    def listed_for(self, request: RecordedRequest) -> list[dict[str, Any]] | Failure:
        """Record the request for the models on offer and return how to answer it."""
        with self._recorded(request):
            answer = self._refusal(request) or self.card or {}
        if isinstance(answer, Failure):
            return answer
        return [{"id": self.model, "object": "model", "created": 0, **answer}]

    @contextmanager
    def _recorded(self, request: RecordedRequest) -> Iterator[None]:
        with self._arrival:
            self.requests.append(request)
            self._arrival.notify_all()
            yield

    def _scripted(self, request: RecordedRequest) -> Outcome:
        if isinstance(self.script, str):
            return self.script
        if callable(self.script):
            return self.script(request)
        for rule in self.script:
            if rule.matches(request):
                return rule.next_outcome()
        return Failure(400, f"No rule matches: {request.last_user_message[:300]!r}")

    def _refusal(self, request: RecordedRequest) -> Failure | None:
        body = request.body
        form = body.get("response_format", {}).get("type")
        sent_key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.require_key is not None and sent_key != self.require_key:
            # Real servers quote the key they were sent, so this one does.
            return Failure(401, f"Incorrect API key provided: {sent_key}.")
        if self.require_model and body.get("model", self.model) != self.model:
            return Failure(404, f"The model {body['model']!r} does not exist.")
        if self.refuse_texts and request.is_text:
            return Failure(404, "This is a chat model.")
        stops = len(body.get("stop") or ())
        if self.most_stops is not None and stops > self.most_stops:
            return Failure(400, f"Invalid 'stop': {stops} strings, at most {self.most_stops}.")
        if self.refuse_n and body.get("n", 1) > 1:
            return Failure(400, "Field 'n': only one completion choice is allowed.")
        if form in self.refuse_formats:
            return Failure(400, f"response_format type {form!r} is not supported.")
        if self.refuse_tools and "tools" in body:
            return Failure(500, "tools param requires --jinja flag")
        if self.refuse_stream and body.get("stream"):
            return Failure(400, "Field 'stream' is not supported.")
        return None


class _Listener(ThreadingHTTPServer):
    owner: ScriptedModelServer
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, to keep the test output clean."""

    def do_GET(self) -> None:
        answer = self.server.owner.listed_for(self._record({}))
        if isinstance(answer, Failure):
            self._send_failure(answer)
        else:
            self._send_json(200, {"object": "list", "data": answer})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        request = self._record(json.loads(self.rfile.read(length)))
        if request.path.endswith("/embeddings"):
            self._send_json(200, _embeddings(request.body))
            return
        self._answer(request, self.server.owner.outcome_for(request))

    def _record(self, body: Mapping[str, Any]) -> RecordedRequest:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return RecordedRequest(self.path, headers, body)

    def _answer(self, request: RecordedRequest, outcome: Outcome) -> None:
        if isinstance(outcome, Delay):
            time.sleep(outcome.seconds)
            self._answer(request, outcome.then)
        elif isinstance(outcome, Hold):
            outcome.until.wait(_MOST_HELD_S)
            self._answer(request, outcome.then)
        elif isinstance(outcome, Failure):
            self._send_failure(outcome)
        elif isinstance(outcome, Drop):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif isinstance(outcome, Call):
            self._send_completion(request, self._call(request, outcome))
        elif isinstance(outcome, Raw):
            self._send(200, outcome.body.encode(), {"Content-Type": outcome.content_type})
        elif request.is_text:
            text = self._choices(request, outcome)[0]
            self._send_json(200, self._text_completion(request, text))
        else:
            texts = self._choices(request, outcome)
            self._send_completion(request, self._completion(request, texts))

    def _choices(self, request: RecordedRequest, outcome: str | Sequence[str]) -> list[str]:
        n = 1 if self.server.owner.ignore_n else int(request.body.get("n") or 1)
        texts = [outcome] if isinstance(outcome, str) else list(outcome)
        return [texts[index % len(texts)] for index in range(n)]

    def _completion(self, request: RecordedRequest, texts: Sequence[str]) -> dict[str, Any]:
        choices = [
            {
                "index": index,
                "finish_reason": self.server.owner.finish_reason,
                "message": {"role": "assistant", "content": text},
            }
            for index, text in enumerate(texts)
        ]
        return self._envelope("chat.completion", choices, request, texts)

    def _text_completion(self, request: RecordedRequest, text: str) -> dict[str, Any]:
        text, finish_reason = _bounded(text, request.body)
        choice = {"index": 0, "text": text, "finish_reason": finish_reason, "logprobs": None}
        return self._envelope("text_completion", [choice], request, [text])

    def _call(self, request: RecordedRequest, outcome: Call) -> dict[str, Any]:
        body = self._completion(request, [""])
        function = {"name": outcome.name, "arguments": outcome.arguments}
        call = {"id": f"call-{len(request.body['messages'])}", "type": "function"}
        calls = [call | {"function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        body["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
        return body

    def _envelope(
        self,
        kind: str,
        choices: list[dict[str, Any]],
        request: RecordedRequest,
        texts: Sequence[str],
    ) -> dict[str, Any]:
        model, is_counted = self.server.owner.model, self.server.owner.report_usage
        body = {"id": "scripted", "object": kind, "created": 0, "model": model, "choices": choices}
        return body | ({"usage": _usage(request, texts)} if is_counted else {})

    def _send_completion(self, request: RecordedRequest, completion: Mapping[str, Any]) -> None:
        if not request.is_stream:
            self._send_json(200, completion)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in _chunks(request, completion):
            if any(choice["delta"].get("content") for choice in chunk["choices"]):
                time.sleep(self.server.owner.piece_pause_s)
            self._send_part(f"data: {json.dumps(chunk)}\n\n".encode())
        self._send_part(b"data: [DONE]\n\n")
        self._send_part(b"")

    def _send_part(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _send_failure(self, failure: Failure) -> None:
        error = {"message": failure.message, "type": "scripted_error", **failure.details}
        wait = failure.retry_after_s
        headers = {} if wait is None else {"Retry-After": str(wait)}
        self._send_json(failure.status, {"error": error}, headers)

    def _send_json(
        self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] = {}
    ) -> None:
        all_headers = {"Content-Type": "application/json", **headers}
        self._send(status, json.dumps(body).encode(), all_headers)

    def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _bounded(text: str, body: Mapping[str, Any]) -> tuple[str, str]:
    """Cut a text at the request's limits; also return the reason why it ends there."""
    given = body.get("stop") or ()
    stops = [given] if isinstance(given, str) else given
    ends = [text.find(stop) for stop in stops if stop in text]
    text = text[: min(ends)] if ends else text
    pieces = re.findall(r"\s*\S+|\s+", text)
    most = int(body.get("max_tokens") or len(pieces))
    return ("".join(pieces[:most]), "length") if len(pieces) > most else (text, "stop")


def _chunks(request: RecordedRequest, completion: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A completion as the chunks of a stream: pieces of text, finish reasons, then usage."""
    head = {name: value for name, value in completion.items() if name not in ("choices", "usage")}
    head["object"] = "chat.completion.chunk"
    for choice in completion["choices"]:
        for delta in _deltas(choice["message"]):
            part = {"index": choice["index"], "delta": delta, "finish_reason": None}
            yield head | {"choices": [part]}
        end = {"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}
        yield head | {"choices": [end]}
    options = request.body.get("stream_options") or {}
    if options.get("include_usage") and "usage" in completion:
        yield head | {"choices": [], "usage": completion["usage"]}


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in _pieces(message["content"] or ""):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"] | {"arguments": ""}
        yield {"tool_calls": [call | {"index": index, "function": function}]}
        for piece in _pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE_CHARS):
        yield text[start : start + PIECE_CHARS]


def _usage(request: RecordedRequest, texts: Sequence[str]) -> dict[str, Any]:
    turns = [turn["content"] for turn in request.body.get("messages", ())]
    prompt = sum(len(str(content).split()) for content in [*turns, request.body.get("prompt", "")])
    completion = sum(len(text.split()) for text in texts)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
    data = [
        {"object": "embedding", "index": index, "embedding": _vector(text)}
        for index, text in enumerate(texts)
    ]
    words = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": words, "total_tokens": words}
    return {"object": "list", "model": body.get("model", ""), "data": data, "usage": usage}


def _vector(text: str) -> list[float]:
    return [float(1 + sum(map(ord, text[start::4])) % 97) for start in range(4)]
