"""Functions that a model may call before it answers, at most so many times."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from exploracoder.models.chat import ChatModel, Message, OnText, Reply, Sampling, Schema, ToolCall
from exploracoder.models.model_cost import Usage

MAX_CALLS = 5


@dataclass(frozen=True, slots=True)
class Tool:
    """A function for the model: ``form`` is what its arguments look like."""

    name: str
    description: str
    form: type[BaseModel]
    act: Callable[[Any], Awaitable[str]]

    def as_dict(self) -> Schema:
        """The function as the OpenAI API writes it."""
        schema = self.form.model_json_schema()
        function = {"name": self.name, "description": self.description, "parameters": schema}
        return {"type": "function", "function": function}


async def complete_with_tools(
    model: ChatModel,
    messages: Sequence[Message],
    sampling: Sampling,
    tools: Sequence[Tool],
    *,
    max_calls: int = MAX_CALLS,
    on_text: OnText | None = None,
) -> Reply:
    """Asks for replies; the model may have functions called first, and sees what they answer.

    After ``max_calls`` calls the functions are no longer offered. A call that names no function, or
    whose arguments are not of its form, is answered with what is wrong, and counts. A server that
    knows no functions is asked as if there were none.

    Args:
        model: Whom to ask.
        messages: The conversation, oldest turn first.
        sampling: How to draw; all n texts answer the same conversation, calls included.
        tools: What is offered.
        max_calls: Of all functions together.
        on_text: Told the text of each turn as it comes, as by `ChatModel.complete`.

    Returns:
        The texts, with the usage of every request that was made for them.

    Raises:
        ModelError: The model could not be asked.
    """
    conversation, usage, calls_left = list(messages), Usage(), max_calls
    first = dataclasses.replace(sampling, n=1)
    heard = on_text if sampling.n == 1 else None
    while True:
        schemas = [tool.as_dict() for tool in tools] if calls_left > 0 else []
        reply = await model.complete(conversation, first, tools=schemas, on_text=heard)
        usage += reply.asked
        if not (schemas and reply.calls):
            break
        conversation.append(Message("assistant", reply.text, calls=reply.calls))
        for call in reply.calls:
            result = await answer(tools, call) if calls_left > 0 else "No more calls: answer now."
            calls_left -= 1
            conversation.append(Message("tool", result, call_id=call.id))
    if sampling.n == 1:
        return reply.model_copy(update={"usage": usage, "from_cache": False})
    return await _more(model, conversation, sampling, reply, usage)


async def _more(
    model: ChatModel,
    conversation: Sequence[Message],
    sampling: Sampling,
    reply: Reply,
    usage: Usage,
) -> Reply:
    """A reply with the other texts of n, drawn after the same calls."""
    rest = await model.complete(conversation, sampling.after(1, sampling.n - 1))
    return Reply(
        texts=reply.texts + rest.texts,
        finish_reasons=reply.finish_reasons + rest.finish_reasons,
        usage=usage + rest.asked,
        model=reply.model,
    )


async def answer(tools: Sequence[Tool], call: ToolCall) -> str:
    """What the function that a call names answers, or what is wrong with the call."""
    tool = next((one for one in tools if one.name == call.name), None)
    if tool is None:
        names = ", ".join(one.name for one in tools)
        return f"There is no function {call.name[:80]!r}; there is {names}."
    try:
        arguments = tool.form.model_validate_json(call.arguments)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        return f"The arguments cannot be used: {fault['msg']}."
    return await tool.act(arguments)
