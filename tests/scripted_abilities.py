"""A scripted model that can do all that `exploracoder model test` asks for."""

from __future__ import annotations

import json

from exploracoder.testing import Call, Delay, Outcome, Raw, RecordedRequest

NUMBERS = " ".join(map(str, range(1, 41)))
SEA = '{"colour": "blue", "metres_deep": 3700}'
LOGPROBS = {"content": [{"token": "tea", "logprob": -0.1, "top_logprobs": []}]}


def capable(request: RecordedRequest) -> Outcome:
    """Answers each question as a server would that knows the whole API."""
    body, question = request.body, request.last_user_message
    if "logprobs" in body:
        message = {"role": "assistant", "content": "tea"}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": LOGPROBS}
        return Raw(json.dumps({"choices": [choice]}))
    if body.get("tools"):
        return Call("weather", '{"town": "Oslo"}')
    if "response_format" in body or "JSON schema" in question:
        return SEA
    # The first time the long prefix has to be read.
    return Delay(0.6, NUMBERS) if question.startswith("Store") and "numbers" in question else "tea"


def thoughtful(request: RecordedRequest) -> Outcome:
    """The same, by a model that thinks before it answers."""
    outcome = capable(request)
    outcome = outcome.then if isinstance(outcome, Delay) else outcome
    return f"<think>Hm.</think>{outcome}" if isinstance(outcome, str) else outcome


def plain(request: RecordedRequest) -> Outcome:
    """A model that answers all questions alike."""
    return "tea"
