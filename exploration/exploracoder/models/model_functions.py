"""Functions that a model may call before it answers, up to a limit."""

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
    """A function offered to the model; ``form`` is the pydantic model of its arguments."""

    name: str
    description: str
    form: type[BaseModel]
    act: Callable[[Any], Awaitable[str]]

    def as_dict(self) -> Schema:
        """The function in the OpenAI API's format."""
        schema = self.form.model_json_schema()
        schema.pop("title", None)  # our class's name
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
    """Asks for replies; the model may call functions first, and sees their results.

    After ``max_calls`` calls the functions are no longer offered. A call to an unknown function, or
    with invalid arguments, is answered with an error message, and counts. A server without function
    calling is asked as if there were no functions.

    Args:
        model: The model to ask.
        messages: The conversation, oldest turn first.
        sampling: How to sample; all n texts answer the same conversation, calls included.
        tools: The functions on offer.
        max_calls: Limit for all functions together.
        on_text: Called with the text of each turn as it arrives, as in `ChatModel.complete`.

    Returns:
        The reply, with the usage of all requests that were made for it.

    Raises:
        ModelError: The model could not be asked.
    """
    conversation, usage, calls_left = list(messages), Usage(), max_calls
    first = dataclasses.replace(sampling, n=1)
    listener = on_text if sampling.n == 1 else None
    while True:
        schemas = [tool.as_dict() for tool in tools] if calls_left > 0 else []
        reply = await model.complete(conversation, first, tools=schemas, on_text=listener)
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
    """The reply with the remaining texts of n, sampled after the same calls."""
    rest = await model.complete(conversation, sampling.after(1, sampling.n - 1))
    return Reply(
        texts=reply.texts + rest.texts,
        finish_reasons=reply.finish_reasons + rest.finish_reasons,
        usage=usage + rest.asked,
        model=reply.model,
    )


async def answer(tools: Sequence[Tool], call: ToolCall) -> str:
    """The result of the called function, or an error message if the call is invalid."""
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
