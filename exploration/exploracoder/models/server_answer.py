"""What a server answered: the raw JSON, validated, as texts and calls."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from exploracoder.models.answer_text import begins_in_thought, has_reasoning
from exploracoder.models.chat import ToolCall
from exploracoder.models.model_cost import Usage

REFUSED = "content_filter"
_MOST_TOKENS = 1 << 53


@dataclass(slots=True)
class Answer:
    """Raw texts from one or several requests, and the function calls of the first.

    ``has_reasoned`` means that the model reasoned before it answered, visibly or not;
    ``begins_in_thought`` that a text started inside a thought, without an opening tag.
    """

    texts: list[str] = field(default_factory=list)
    finish_reasons: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    has_reasoned: bool = False
    begins_in_thought: bool = False

    @property
    def was_cut_off(self) -> bool:
        """Whether an answer hit the token limit, possibly because reasoning used it up."""
        return any(
            reason == "length" and (self.has_reasoned or not text.strip())
            for text, reason in zip(self.texts, self.finish_reasons, strict=True)
        )

    def joined_with(self, other: Answer) -> Answer:
        """This answer with the texts of a later one."""
        return dataclasses.replace(
            self,
            texts=self.texts + other.texts,
            finish_reasons=self.finish_reasons + other.finish_reasons,
            usage=self.usage + other.usage,
        )

    def timed(self, seconds: float) -> Answer:
        """This answer, counted as one call that took ``seconds``."""
        usage = self.usage.model_copy(update={"calls": 1, "seconds": seconds})
        return dataclasses.replace(self, usage=usage)


def plain_text(value: object) -> object:
    """The text of a message, which may come in parts; parts that are not text are skipped."""
    if value is None:
        return ""
    if not isinstance(value, list):
        return value
    parts = [one.get("text") if isinstance(one, dict) else one for one in value]
    return "".join(part for part in parts if isinstance(part, str))


def label(value: object) -> str:
    """A string; any other type counts as absent, as in the functions below."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    """A JSON object."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[dict[str, Any]]:
    """The objects of a JSON array."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _count(value: object) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < _MOST_TOKENS else 0  # type: ignore[operator,return-value]


def _arguments(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# What a reply can do without counts as absent if it has the wrong type.
_Text = Annotated[str, BeforeValidator(plain_text)]
_Label = Annotated[str, BeforeValidator(label)]
_Count = Annotated[int, BeforeValidator(_count)]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Call(_Form):
    id: _Label = ""
    name: _Label = Field("", validation_alias=AliasPath("function", "name"))
    arguments: Annotated[str, BeforeValidator(_arguments)] = Field(
        "{}", validation_alias=AliasPath("function", "arguments")
    )


class _Message(_Form):
    """A turn. Of the model's reasoning, only whether there was any matters."""

    content: _Text = ""
    reasoning_content: _Label = ""
    reasoning: _Label = ""
    refusal: _Label = ""
    tool_calls: Annotated[list[_Call], BeforeValidator(mappings)] = []


class _Choice(_Form):
    message: _Message
    finish_reason: _Label = ""

    @property
    def has_reasoned(self) -> bool:
        message = self.message
        return bool(message.reasoning_content or message.reasoning) or has_reasoning(
            message.content
        )

    @property
    def is_refused(self) -> bool:
        return bool(self.message.refusal) or self.finish_reason == REFUSED


class _TextChoice(_Form):
    text: _Text
    finish_reason: _Label = ""


class _Usage(_Form):
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    total_tokens: _Count = 0
    cached_tokens: _Count = Field(
        0, validation_alias=AliasPath("prompt_tokens_details", "cached_tokens")
    )
    reasoning_tokens: _Count = Field(
        0, validation_alias=AliasPath("completion_tokens_details", "reasoning_tokens")
    )

    @property
    def cost(self) -> Usage:
        # Some servers count what the model thinks in the total alone.
        completion_tokens = max(self.completion_tokens, self.total_tokens - self.prompt_tokens)
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=completion_tokens,
            cached_tokens=self.cached_tokens,
        )


class _Envelope(_Form):
    model: _Label = ""
    usage: Annotated[_Usage, BeforeValidator(mapping)] = _Usage()


class _Completion(_Envelope):
    choices: list[_Choice] = Field(min_length=1)


class _TextCompletion(_Envelope):
    choices: list[_TextChoice] = Field(min_length=1)


class _Card(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    id: str


class _Cards(_Form):
    data: list[_Card]


def parse(text: str, clean: Callable[[str], str]) -> object:
    """Parses JSON, with every string made valid Unicode and cleaned.

    Raises ValueError if it is not JSON, RecursionError if it is nested too deeply.
    """
    return _cleaned(json.loads(text), lambda one: clean(one.encode("utf-8", "replace").decode()))


def _cleaned(value: object, clean: Callable[[str], str]) -> object:
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(one, clean) for one in value]
        case dict():
            return {clean(key): _cleaned(one, clean) for key, one in value.items()}
    return value


def read_whole(completion: object) -> Answer:
    """Reads the texts and calls of a chat completion; raises ValidationError if it is not one.

    A choice that the model or a filter refused has an empty text and the finish reason `REFUSED`,
    whatever text preceded the refusal.
    """
    reply = _Completion.model_validate(completion)
    calls = reply.choices[0].message.tool_calls
    return Answer(
        texts=["" if one.is_refused else one.message.content for one in reply.choices],
        finish_reasons=[REFUSED if one.is_refused else one.finish_reason for one in reply.choices],
        usage=reply.usage.cost,
        model=reply.model,
        calls=[ToolCall(one.id, one.name, one.arguments) for one in calls],
        has_reasoned=reply.usage.reasoning_tokens > 0
        or any(one.has_reasoned for one in reply.choices),
        begins_in_thought=any(begins_in_thought(one.message.content) for one in reply.choices),
    )


def read_text(completion: object) -> Answer:
    """Reads a text completion; raises ValidationError if it is not one."""
    reply = _TextCompletion.model_validate(completion)
    return Answer(
        texts=[choice.text for choice in reply.choices],
        finish_reasons=[choice.finish_reason for choice in reply.choices],
        usage=reply.usage.cost,
        model=reply.model,
    )


def read_cards(listing: object) -> list[dict[str, Any]]:
    """Reads a server's list of models; raises ValidationError if it is not one."""
    return [card.model_dump() for card in _Cards.model_validate(listing).data]
