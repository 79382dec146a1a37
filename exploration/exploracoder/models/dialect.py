"""What a particular OpenAI-compatible server understands, learnt from what it refuses."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from exploracoder.effort import ReasoningEffort
from exploracoder.models.chat import Message, Sampling, Schema
from exploracoder.models.server_answer import Answer, mappings

SchemaMode = Literal["json_schema", "json_object", "words"]
LimitName = Literal["max_tokens", "max_completion_tokens"]
OptionalField = Literal[
    "seed", "stop", "top_p", "temperature", "reasoning_effort", "stream_options"
]

_WEAKER_MODE: dict[SchemaMode, SchemaMode] = {"json_schema": "json_object", "json_object": "words"}
# Extra tokens for models that reason. The larger reserve is seldom needed, and is only tried if the
# smaller one was too small.
_RESERVES = (0, 4096, 16384)
_LIMIT_IS_TOO_HIGH = re.compile(r"too (?:large|high|big|many)|at most|exceed|maximum|less than|<=")
_DISPENSABLE: tuple[OptionalField, ...] = ("seed", "stop", "top_p", "temperature")
_OF_TOOLS = re.compile(r"\btools?\b|\btool_|function")
_OF_EFFORT = re.compile(r"reasoning[_. ](?:effort|value)|\bthink(?:ing)?\b")


class Learnt(BaseModel):
    """What was learnt about a server, as it is kept for later clients.

    Attributes:
        supports_n: Whether several replies can be asked for in one request.
        supports_tools: Whether functions can be offered to the model.
        supports_call_turns: Whether a request that offers no functions may contain calls and their
            results as such.
        supports_stream: Whether replies can be had as they are written.
        begins_in_thought: Whether replies were seen to begin amid a thought, without a tag.
        schema_mode: How a JSON schema is conveyed.
        token_limit_name: The name of the field that limits the reply's length.
        refused: Optional fields that the server does not take.
        is_shared: Whether our own server shares the embedded model there: that says in streams how
            many requests are before one, and takes a grammar.
        reserve: Tokens that a reply may have besides those of the answer: what a model thinks
            before it answers is not taken from the answer's limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    supports_n: bool = True
    supports_tools: bool = True
    supports_call_turns: bool = True
    supports_stream: bool = True
    begins_in_thought: bool = False
    schema_mode: SchemaMode = "json_schema"
    token_limit_name: LimitName = "max_tokens"
    refused: frozenset[OptionalField] = frozenset()
    is_shared: bool = False
    reserve: int = Field(0, ge=0, le=_RESERVES[-1])


class Dialect(Learnt):
    """How to put a request to one server; starts from the full API and only ever gets plainer.

    Attributes:
        supports_grammar: Whether replies can be bound to a GBNF grammar, which is not part of the
            API; has to be known beforehand.
        reasoning_effort: How long the model is to think; nothing is said of it if None.
        most_reserve: More than that the server does not grant. It is not kept: that may have been
            one long prompt's fault, and is soon found out again.
    """

    model_config = ConfigDict(frozen=False)

    supports_grammar: bool = False
    reasoning_effort: ReasoningEffort | None = None
    most_reserve: int = _RESERVES[-1]

    @property
    def learnt(self) -> Learnt:
        """What was learnt so far."""
        return Learnt.model_validate(self.model_dump(include=set(Learnt.model_fields)))

    def resume(self, learnt: Learnt) -> None:
        """Applies what was learnt before; fields that have their defaults change nothing."""
        for name in learnt.model_dump(exclude_defaults=True):
            setattr(self, name, getattr(learnt, name))

    def forget(self) -> None:
        """Starts from the full API again."""
        for name, value in Learnt():
            setattr(self, name, value)

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        sampling: Sampling,
        schema: Schema | None,
        tools: Sequence[Schema] = (),
    ) -> dict[str, Any]:
        """The fields of a completion request, as this server wants them."""
        in_words = schema is not None and self.schema_mode != "json_schema"
        has_tools = bool(tools) and self.supports_tools
        are_turns = has_tools or self.supports_call_turns
        turns = messages if are_turns else _with_calls_in_words(messages)
        turns = _with_schema_in_words(turns, schema) if in_words and schema else turns
        body: dict[str, Any] = {
            "model": model,
            "messages": [turn.as_dict() for turn in turns],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self.token_limit_name: sampling.max_tokens + self.reserve,
        }
        if sampling.n > 1 and self.supports_n:
            body["n"] = sampling.n
        if has_tools:
            body["tools"] = list(tools)
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if self.reasoning_effort is not None:
            body["reasoning_effort"] = self.reasoning_effort
        if schema is not None and self.schema_mode != "words":
            body["response_format"] = self._response_format(schema)
        return {name: value for name, value in body.items() if name not in self.refused}

    def text_body(self, model: str, prompt: str, sampling: Sampling) -> dict[str, Any]:
        """The fields of a text completion request, which always uses ``max_tokens``."""
        body = self.body(model, (), dataclasses.replace(sampling, n=1), None)
        for name in ("messages", "reasoning_effort", self.token_limit_name):
            body.pop(name, None)
        return body | {"prompt": prompt, "max_tokens": sampling.max_tokens}

    def stream_body(self) -> dict[str, Any]:
        """The fields that request streaming; empty if the server does not support it."""
        if not self.supports_stream:
            return {}
        options = {"stream_options": {"include_usage": True}}
        return {"stream": True} | ({} if "stream_options" in self.refused else options)

    def extra_body(self, sampling: Sampling, schema: Schema | None) -> dict[str, Any]:
        """Fields beyond the API that this request needs."""
        takes_grammar = self.supports_grammar or self.is_shared
        if sampling.grammar is None or schema is not None or not takes_grammar:
            return {}
        return {"grammar": sampling.grammar}

    def learn_from(self, answer: Answer, reserve: int) -> bool:
        """Learns from the answer to a request that allowed ``reserve`` tokens for reasoning.

        Returns:
            Whether it was cut off and should be requested again, with a larger reserve.
        """
        self.begins_in_thought |= answer.begins_in_thought
        if answer.has_reasoned:
            self.reserve = max(self.reserve, min(_RESERVES[1], self.most_reserve))
        if not answer.was_cut_off:
            return False
        if self.reserve <= reserve:
            more = [one for one in _RESERVES if reserve < one <= self.most_reserve]
            self.reserve = more[0] if more else self.reserve
        return self.reserve > reserve

    def give_up_reserve(self, reserve: int) -> bool:
        """Lowers the reserve after a request with ``reserve`` tokens for reasoning was too long.

        Returns:
            Whether there was a reserve to lower.
        """
        if not reserve:
            return False
        self.most_reserve = max(one for one in _RESERVES if one < reserve)
        self.reserve = min(self.reserve, self.most_reserve)
        return True

    def learn(self, refusal: str, body: dict[str, Any]) -> bool:
        """Learns from the refusal of a request.

        Args:
            refusal: The server's message.
            body: The refused request.

        Returns:
            Whether the next request will differ, so that a retry makes sense.
        """
        refusal = refusal.lower()
        if "stream_options" in body and re.search(r"stream_options|include_usage", refusal):
            self.refused |= {"stream_options"}
        elif "stream" in body and re.search(r"\bstream(?:ing|ed)?\b", refusal):
            self.supports_stream = False
        elif "reasoning_effort" in body and _OF_EFFORT.search(refusal):
            self.refused |= {"reasoning_effort"}
        elif body.get("n", 1) > 1 and re.search(r"\bn\b|choices", refusal):
            self.supports_n = False
        elif "tools" in body and _OF_TOOLS.search(refusal):
            self.supports_tools = False
        elif any("tool_calls" in turn for turn in _turns(body)) and _OF_TOOLS.search(refusal):
            self.supports_call_turns = False
        elif "response_format" in body and re.search(r"response_format|schema|json", refusal):
            # Weaken only the mode that was refused: a concurrent request may already have been
            # refused for the same reason.
            if body["response_format"]["type"] == self.schema_mode:
                self.schema_mode = _WEAKER_MODE[self.schema_mode]
        elif (
            self.reserve and self.token_limit_name in refusal and _LIMIT_IS_TOO_HIGH.search(refusal)
        ):
            return self.give_up_reserve(self.reserve)
        elif "max_completion_tokens" in refusal and self.token_limit_name in body:
            if self.token_limit_name == "max_completion_tokens":
                return False
            self.token_limit_name = "max_completion_tokens"
        else:
            fields = [name for name in _DISPENSABLE if name in body]
            named_fields = {name for name in fields if re.search(rf"\b{name}\b", refusal)}
            self.refused |= named_fields
            return bool(named_fields)
        return True

    def _response_format(self, schema: Schema) -> dict[str, Any]:
        if self.schema_mode == "json_object":
            return {"type": "json_object"}
        json_schema = {"name": "reply", "schema": dict(schema), "strict": True}
        return {"type": "json_schema", "json_schema": json_schema}


def _turns(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return mappings(body.get("messages"))


def _with_calls_in_words(messages: Sequence[Message]) -> list[Message]:
    """The conversation with calls and results as text; no two turns in a row have the same role."""
    turns = list[Message]()
    for message in messages:
        role: Literal["system", "user", "assistant"] = "user"
        content = f"The result:\n{message.content}"
        if message.role != "tool":
            calls = [f"I call {call.name}({call.arguments})." for call in message.calls]
            role, content = message.role, "\n".join(filter(None, [message.content, *calls]))
        if turns and turns[-1].role == role:
            turns[-1] = dataclasses.replace(turns[-1], content=f"{turns[-1].content}\n\n{content}")
        else:
            turns.append(Message(role, content, stable_chars=message.stable_chars))
    return turns


def _with_schema_in_words(messages: Sequence[Message], schema: Schema) -> list[Message]:
    last = messages[-1]
    words = (
        f"{last.content}\n\nAnswer with one JSON value only, that follows this JSON schema:\n"
        f"{json.dumps(dict(schema))}"
    )
    return [*messages[:-1], Message(last.role, words)]
