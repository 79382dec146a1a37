"""How an endpoint can misbehave, and what an exploration with it ends with."""

from __future__ import annotations

import gzip
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator

from .raw_endpoint import Answer, Request, bomb, complete, completion, response, says, with_choice
from .scripted import SOLUTION, WRONG_SOLUTION, fenced

KEY = "sk-Ab3dEf6hIj9kLm2nOp5q/Rs+8t=="
GOOD = fenced(SOLUTION)
# As a candidate this would leave a trace: the check fails.
BAD = fenced(WRONG_SOLUTION)
PAGE = (
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><center><h1>Bad</h1>"
    "</center><hr><center>nginx/1.18.0 (Ubuntu)</center></body></html>"
)
DEEP = "[" * 100_000 + "]" * 100_000
USUAL = {"prompt_tokens": 5, "completion_tokens": 7}


def _echo(make: Callable[[str], object]) -> Answer:
    """Answers with what ``make`` makes of the key, as JSON."""
    return lambda request: [response(json.dumps(make(request.key)))]


def _error_with_key(request: Request) -> Iterable[bytes]:
    error = {"error": {"message": f"{request.key} is no key", "code": [request.key]}}
    return [response(json.dumps(error), status="400 Bad Request")]


def _headers_with_key(request: Request) -> Iterable[bytes]:
    headers = {"X-Request-Id": request.key, "Set-Cookie": f"key={request.key}"}
    return [response(json.dumps(completion(GOOD)), status=f"200 {request.key}", headers=headers)]


def _chunked(request: Request) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    for char in json.dumps(completion(GOOD)):
        yield b"1\r\n%s\r\n" % char.encode()
    yield b"0\r\n\r\n"


def endless(request: Request) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    yield from itertools.repeat(b" " * 65536)


def drip(request: Request) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    for _ in range(600):
        time.sleep(0.05)
        yield b" "


def _busy_first(request: Request) -> Iterable[bytes]:
    if request.number == 1:
        return [response("{}", status="429 Too Many", headers={"Retry-After": "0"})]
    return [response(json.dumps(completion(GOOD)))]


def _redirect(status: str, place: str) -> Answer:
    return says("", status=status, headers={"Location": place})


# Oddities that a good reply survives: the solution is there, verified.
SOLVED: dict[str, Answer] = {
    "usage a text": complete(GOOD, usage="much"),
    "usage a list": complete(GOOD, usage=[1, 2]),
    "usage of wrong counts": complete(
        GOOD, usage={"prompt_tokens": -5, "completion_tokens": "7", "prompt_tokens_details": 3}
    ),
    "usage beyond all numbers": says(
        json.dumps(completion(GOOD, usage=1)).replace(
            '"usage": 1', '"usage": {"prompt_tokens": 1e999, "completion_tokens": 1%s}' % ("0" * 40)
        )
    ),
    "usage not a number": complete(GOOD, usage={"prompt_tokens": float("nan")}),
    "model a number": complete(GOOD, model=5),
    "fields that nobody knows": complete(GOOD, id=None, created="now", choice=[[]]),
    "a reason that is an object": with_choice(message={"content": GOOD}, finish_reason={"a": 1}),
    "calls of the wrong type": with_choice(message={"content": GOOD, "tool_calls": "f()"}),
    "calls without functions": with_choice(message={"content": GOOD, "tool_calls": [{}, 3]}),
    "content in parts": complete(
        [
            {"type": "text", "text": GOOD[:20]},
            {"type": "image"},
            {"type": "text", "text": GOOD[20:]},
        ]
    ),
    "plain text as type": says(json.dumps(completion(GOOD)), kind="text/plain"),
    "HTML as type": says(json.dumps(completion(GOOD)), kind="text/html; charset=utf-16"),
    "no type": says(json.dumps(completion(GOOD)), kind=None),
    "a byte order mark": says("\ufeff" + json.dumps(completion(GOOD))),
    "packed, though not asked to": says(
        gzip.compress(json.dumps(completion(GOOD)).encode()), headers={"Content-Encoding": "gzip"}
    ),
    "byte by byte": _chunked,
    "busy at first": _busy_first,
    "a lone surrogate": says(
        json.dumps(completion("Sure \x00" + GOOD)).replace("\\u0000", r"\ud800 \n")
    ),
    "thoughts with code": complete(f"<think>\nPerhaps:\n{BAD}\n</think>\n{GOOD}"),
    "thoughts in another tag": complete(f"<thinking>{BAD}</thinking>{GOOD}"),
    "thoughts after the answer": complete(f"{GOOD}\n<think>\n{BAD}\n"),
    "thoughts that began unseen": complete(f"Perhaps:\n{BAD}\nNo.\n</think>\n{GOOD}"),
    "thoughts with half a block": complete(f"Perhaps:\n{BAD[:-4]}\n</think>\n{GOOD}"),
    "thoughts beside": with_choice(
        message={"content": GOOD, "reasoning_content": BAD, "reasoning": BAD}
    ),
    "CRLF": complete(GOOD.replace("\n", "\r\n")),
    "another tag": complete(GOOD.replace("```python", '``` Python3 title="x"')),
    "tildes": complete(GOOD.replace("```", "~~~")),
    "several blocks": complete(f"```bash\npip install x\n```\n\n{GOOD}\n\n```text\n['a']\n```"),
    "a fence in a docstring": complete(
        fenced(SOLUTION.replace("(text):\n", '(text):\n    """So:\n\n```\n1\n```\n"""\n'))
    ),
    "the end of a turn": complete(f"{GOOD}<|im_end|>\n<|endoftext|>"),
    "the key in the code": _echo(
        lambda key: completion(GOOD.replace("import", f"# {key}\nimport"))
    ),
    "the key in every field": _echo(
        lambda key: completion(GOOD, id=key, model=key, usage={key: key}, system_fingerprint=key)
    ),
    "the key as a reason": _echo(
        lambda key: {"choices": [{"message": {"content": GOOD}, "finish_reason": key}]}
    ),
    "the key in headers": _headers_with_key,
}
# What comes is no completion: one sentence, exit code 2.
USELESS: dict[str, Answer] = {
    "choices an object": says('{"choices": {"0": {}}}'),
    "choices missing": says('{"id": "x"}'),
    "choices empty": says('{"choices": []}'),
    "choices null": says('{"choices": null}'),
    "a choice that is a text": says('{"choices": ["hello"]}'),
    "no message": with_choice(),
    "message null": with_choice(message=None),
    "message a text": with_choice(message=GOOD),
    "content a number": complete(42),
    "content true": complete(True),
    "content an object": complete({"text": GOOD}),
    "nested too deep": says(DEEP),
    "nested too deep inside": says(json.dumps(completion(0)).replace("0", DEEP, 1)),
    "a list": says("[]"),
    "a text": says('"hello"'),
    "nothing": says(""),
    "no content": says("", status="204 No Content"),
    "half a JSON": says(json.dumps(completion(GOOD))[:60]),
    "no JSON": says("hello there"),
    "a page": says(PAGE, kind="text/html"),
    "no UTF-8": says(b"\xff\xfe\x00{"),
    "events": says('data: {"choices": []}\n\ndata: [DONE]\n\n', kind="text/event-stream"),
    "packed in an unknown way": says(b"\x1b\x00", headers={"Content-Encoding": "br"}),
    "packed wrongly": says(b"hello", headers={"Content-Encoding": "gzip"}),
    "packed twice": says(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip, gzip"}),
    "a bomb": says(bomb(1 << 28), headers={"Content-Encoding": "gzip"}),
    "without an end": endless,
}
# Failures that have a sentence of their own: exit code 2.
FAILED: dict[str, tuple[Answer, str]] = {
    "an error in a success": (
        says('{"error": {"message": "Out of credits", "code": 402}}'),
        "did not answer. It says: Out of credits.",
    ),
    "502 and a page": (
        says(PAGE, status="502 Bad Gateway", kind="text/html"),
        r"failed \(HTTP 502\)\. Look at its log",
    ),
    "500 and a page as JSON": (
        says(json.dumps({"error": {"message": PAGE}}), status="500 Error"),
        r"failed \(HTTP 500\)\. Look at its log",
    ),
    "400 and a page": (
        says(PAGE, status="400 Bad", kind="text/html"),
        r"refused the request \(HTTP 400\)\. Look",
    ),
    "403 and a page": (says(PAGE, status="403 No", kind="text/html"), "rejected the API key"),
    "404 and a page": (says(PAGE, status="404 No", kind="text/html"), "no OpenAI-compatible API"),
    "413 and a page": (says(PAGE, status="413 Long", kind="text/html"), r"\(HTTP 413\)"),
    "418 in words": (says("I am a teapot", status="418 Tea", kind="text/plain"), "I am a teapot"),
    "599": (says("{}", status="599 Odd"), r"failed \(HTTP 599\)\. Look"),
    "999": (says("{}", status="999 Odd"), r"failed \(HTTP 999\)\. Look"),
    "an error of objects": (
        says('{"error": {"message": {"a": 1}, "code": {"b": 2}, "type": []}}', status="400 Bad"),
        r"refused the request \(HTTP 400\)\. Look",
    ),
    "an error with control characters": (
        says(json.dumps({"error": "\x1b]8;;http://x\x07no\u202e"}), status="400 Bad"),
        r"It says: \]8;;http://x no\.",
    ),
    "an error nested too deep": (says(DEEP, status="400 Bad"), r"\(HTTP 400\)"),
    "figures that are none": (
        says(
            json.dumps({"error": {"type": "exceed_context_size_error", "n_ctx": PAGE}}),
            status="400 Bad",
        ),
        "The prompt is too long",
    ),
    "busy for good": (says(PAGE, status="429 Busy", kind="text/html"), r"\(HTTP 429\)"),
    "the key in an error": (_error_with_key, r"It says: \[key\] is no key\."),
    "a redirect to itself": (_redirect("302 Found", "/v1/chat/completions"), "not followed"),
    "a redirect of the request": (_redirect("307 Moved", "http://127.0.0.1:9/"), "not followed"),
    "a redirect in circles": (_redirect("308 Moved", "?again"), r"elsewhere \(HTTP 308\)"),
    "a redirect without a place": (says("", status="301 Moved"), "not followed"),
    "closed at once": (lambda request: [], "was lost before its reply was whole"),
    "closed in the headers": (lambda request: [b"HTTP/1.1 200 OK\r\nConte"], "was lost"),
    "closed in the body": (says("{", length=900), "was lost before its reply was whole"),
    "another protocol": (lambda request: [b"SSH-2.0-OpenSSH_9.2\r\n"], "was lost"),
}
# Answers without a solution in them: exit code 1, and everything so far is saved.
SILENT: dict[str, tuple[Answer, str]] = {
    "an empty text": (complete(""), "gave an empty answer"),
    "no text": (complete(None), "gave an empty answer"),
    "no parts": (complete([]), "gave an empty answer"),
    "white space": (complete(" \n\t "), "gave an empty answer"),
    "prose": (complete("I am sorry, but I cannot help with that."), "wrote no code"),
    "a word": (complete("Sorry"), "wrote no code"),
    "comments": (complete("```python\n# I cannot do that.\n```"), "wrote no code"),
    "a value": (complete('```json\n{"a": 1}\n```'), "wrote no code"),
    "commands": (complete("```bash\nrm -rf ~\n```"), "wrote no code"),
    "code deeper than Python goes": (complete(fenced(f"x = {'-' * 9000}1")), "wrote no code"),
    "a refusal": (with_choice(message={"content": None, "refusal": "No."}), "refused to answer"),
    "a filter": (
        with_choice(message={"content": BAD}, finish_reason="content_filter"),
        "refused to answer",
    ),
    "thoughts alone": (complete(f"<think>{GOOD}</think>"), "gave an empty answer"),
    "thoughts without an end": (complete(f"<think>\n{GOOD}"), "gave an empty answer"),
    "thoughts that took all tokens": (
        with_choice(message={"content": f"<think>\n{GOOD}"}, finish_reason="length"),
        "raise --set solution-tokens",
    ),
    "thoughts beside nothing": (
        with_choice(message={"content": "", "reasoning_content": GOOD}),
        "gave an empty answer",
    ),
    "the key in prose": (_echo(lambda key: completion(f"Your key {key}?")), r"Your key \[key\]\?"),
}
CASES: dict[str, tuple[Answer, int, str]] = {
    **{name: (answer, 0, "Verified") for name, answer in SOLVED.items()},
    **{name: (answer, 2, "is not an OpenAI-compatible API") for name, answer in USELESS.items()},
    **{name: (answer, 2, said) for name, (answer, said) in FAILED.items()},
    **{
        name: (answer, 1, f"No solution yet. The model scripted .*{said}")
        for name, (answer, said) in SILENT.items()
    },
}
