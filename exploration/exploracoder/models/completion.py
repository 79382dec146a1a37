"""What a server answered: texts and calls, as they come in over one request or several."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from exploracoder.models.chat import ToolCall
from exploracoder.models.usage import Usage


@dataclass(slots=True)
class Answer:
    """Texts as they come in, over one request or several; the calls of the first."""

    texts: list[str] = field(default_factory=list)
    finish_reasons: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    calls: list[ToolCall] = field(default_factory=list)

    def take(self, chunk: Any) -> str:
        """Adds a piece of a streamed answer; returns what it adds to the first text."""
        self.model = getattr(chunk, "model", None) or self.model
        self.usage = _usage(chunk) or self.usage
        first = ""
        for choice in getattr(chunk, "choices", None) or ():
            while len(self.texts) <= choice.index:
                self.texts.append("")
                self.finish_reasons.append("")
            piece = (choice.delta.content if choice.delta else None) or ""
            self.texts[choice.index] += piece
            self.finish_reasons[choice.index] = (
                choice.finish_reason or self.finish_reasons[choice.index]
            )
            first += piece if choice.index == 0 else ""
        return first

    def joined_with(self, other: Answer) -> Answer:
        """This answer with the texts of a later one."""
        return Answer(
            self.texts + other.texts,
            self.finish_reasons + other.finish_reasons,
            self.usage + other.usage,
            self.model,
            self.calls,
        )

    def timed(self, seconds: float) -> Answer:
        """The same as one call that took so long."""
        usage = self.usage.model_copy(update={"calls": 1, "seconds": seconds})
        return dataclasses.replace(self, usage=usage)


def read_whole(completion: Any) -> Answer:
    """A completion that came in one piece; empty where it is none."""
    choices = getattr(completion, "choices", None) or ()
    return Answer(
        texts=[choice.message.content or "" for choice in choices],
        finish_reasons=[choice.finish_reason or "" for choice in choices],
        usage=_usage(completion) or Usage(),
        model=getattr(completion, "model", "") or "",
        calls=_calls(choices[0].message) if choices else [],
    )


def read_text(completion: Any) -> Answer:
    """A text that goes on where the prompt ended; empty where the answer is none."""
    choices = [one for one in getattr(completion, "choices", None) or () if hasattr(one, "text")]
    return Answer(
        texts=[choice.text or "" for choice in choices],
        finish_reasons=[choice.finish_reason or "" for choice in choices],
        usage=_usage(completion) or Usage(),
        model=getattr(completion, "model", "") or "",
    )


def _calls(message: Any) -> list[ToolCall]:
    """The functions that a turn wants called; calls of other kinds are passed over."""
    return [
        ToolCall(str(call.id or ""), call.function.name or "", call.function.arguments or "")
        for call in getattr(message, "tool_calls", None) or ()
        if getattr(call, "function", None) is not None
    ]


def _usage(completion: Any) -> Usage | None:
    reported = getattr(completion, "usage", None)
    if reported is None:
        return None
    details = getattr(reported, "prompt_tokens_details", None)
    return Usage(
        prompt_tokens=reported.prompt_tokens or 0,
        completion_tokens=reported.completion_tokens or 0,
        cached_tokens=getattr(details, "cached_tokens", None) or 0,
    )
