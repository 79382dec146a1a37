"""What a model thinks before it answers, taken out of its reply: it is no part of the answer."""

from __future__ import annotations

import re

_NAMES = ("think", "thinking", "reasoning", "thought")
_NAME = f"(?:{'|'.join(_NAMES)})"
# A block of code begins a line, or follows a thought at once.
_START = "|".join(["^", *(f"(?<={name}>)" for name in _NAMES)])
# In this order: what stands in a block of code is no tag, what stands in a thought no block.
_THOUGHT = re.compile(
    rf"(?P<code>(?:{_START})[ \t]*(?P<fence>`{{3,}}|~{{3,}})"
    r".*?(?:^[ \t]*(?P=fence)[`~]*[ \t\r]*$|\Z))"
    rf"|<{_NAME}>.*?(?:</{_NAME}>|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
# What is left of one tag and the next may be a tag again; nobody does that by chance.
_PASSES = 5
_END = re.compile(rf"</{_NAME}>", re.IGNORECASE)
# Alone on its line it ends a thought that began unseen, even if the thought opened a block of code.
_LONE_END = re.compile(rf"\A.*^[ \t]*</{_NAME}>[ \t\r]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """``text`` without its thoughts; one that does not end reaches to the end of the text.

    A tag without a beginning ends a thought that began with the text. Tags in blocks of code are
    left as they are, unless a thought can only end there.
    """
    for _ in range(_PASSES):
        answer = _without_tagged(text)
        if answer == text:
            return text
        text = answer.strip()
    return ""


def has_reasoning(text: str) -> bool:
    """Whether there are thoughts in it."""
    return _without_tagged(text) != text


def begins_in_thought(text: str) -> bool:
    """Whether a thought ends in it that began unseen, before the text."""
    return has_reasoning(_without_whole(text))


def _without_whole(text: str) -> str:
    return _THOUGHT.sub(lambda match: match["code"] or "", text)


def _without_tagged(text: str) -> str:
    answer = _without_whole(text)
    outside = _THOUGHT.sub(lambda match: " " * len(match[0]), answer)
    ends = [match.end() for match in _END.finditer(outside)]
    return answer[ends[-1] :] if ends else _LONE_END.sub("", answer)
