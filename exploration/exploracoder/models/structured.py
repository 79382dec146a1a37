"""Replies as validated values instead of text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from exploracoder.errors import ReplyError
from exploracoder.models.chat import ChatModel, Message, Reply, Sampling

MAX_CORRECTIONS = 2
_SHOWN_REPLY_CHARS = 400
_FENCE = re.compile(r"\A\s*```(?:json)?[ \t]*\n(?P<body>.*)\n[ \t]*```\s*\Z", re.DOTALL)

ValueT = TypeVar("ValueT", bound=BaseModel)


async def complete_json(
    model: ChatModel,
    messages: Sequence[Message],
    sampling: Sampling,
    schema_model: type[ValueT],
) -> ValueT:
    """Asks for one reply in the form of a pydantic model.

    A reply that does not validate is sent back to the model with its errors, at most
    `MAX_CORRECTIONS` times. It is never repaired here; only a code fence around it is removed.

    Args:
        model: The chat model to ask.
        messages: The conversation, oldest turn first.
        sampling: How to sample; ``n`` must be 1.
        schema_model: The pydantic model that the reply must match.

    Raises:
        ReplyError: The last correction was invalid as well.
        ModelError: The model could not be asked.
    """
    schema = schema_model.model_json_schema()
    conversation, problem = list(messages), ""
    for _ in range(1 + MAX_CORRECTIONS):
        reply = await model.complete(conversation, sampling, schema=schema)
        try:
            return schema_model.model_validate_json(without_fence(reply.text))
        except ValidationError as error:
            problem = _describe(error, reply)
        conversation = [*messages, Message("assistant", reply.text), _correction(problem, schema)]
    raise ReplyError(
        f"{model.name} did not answer in the form of a {schema_model.__name__} after "
        f"{1 + MAX_CORRECTIONS} tries: {problem} Its last answer began: "
        f"{reply.text[:_SHOWN_REPLY_CHARS]!r}. Try a stronger model, or a higher token limit."
    )


def without_fence(text: str) -> str:
    """A reply without the code fence around all of it, if there is one."""
    return _FENCE.sub(r"\g<body>", text)


def _describe(error: ValidationError, reply: Reply) -> str:
    if reply.finish_reasons[:1] == ("length",):
        return "The answer was cut off at the token limit; be shorter."
    faults = [
        f"{'.'.join(str(part) for part in fault['loc']) or 'the answer'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False)
    ]
    return "; ".join(faults[:5]) + "."


def _correction(problem: str, schema: dict[str, object]) -> Message:
    return Message(
        "user",
        f"That answer cannot be used. {problem}\nAnswer again, with one JSON value only, that "
        f"follows this JSON schema:\n{json.dumps(schema)}",
    )
