"""The text of an answer: what a model says, whole, or as far as it has come.

What it thinks before it answers is no part of that, and is taken out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from exploracoder.models.chat import OnText
from exploracoder.models.control_tokens import restore, without_begun, without_end

_PAUSE_S = 0.05
# Long texts take a while to read: nine tenths of the time are for something else.
_PAUSE_PER_WORK = 9.0

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


def answer_in(text: str) -> str:
    """What a model answers in a conversation, of all that it says."""
    return restore(without_end(without_reasoning(text)))


def answer_so_far(text: str, *, begins_in_thought: bool = False) -> str:
    """What `answer_in` will begin with, whatever follows ``text``.

    One thing that follows can still change it: the end of a thought whose beginning was not seen.
    With ``begins_in_thought`` that is expected, and nothing is answered before.
    """
    answer = without_reasoning(f"<think>{text}" if begins_in_thought else text)
    # White space at the end goes when a thought, or a sign of the end, follows.
    return restore(without_end(without_begun(answer)).rstrip())


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


class LiveText:
    """Tells the text of a reply that is still coming, often enough to be read along."""

    def __init__(self, on_text: OnText, answer: Callable[[str], str]) -> None:
        """Says who listens.

        Args:
            on_text: Told the text so far, at most 20 times a second.
            answer: What may be shown of what has come.
        """
        self._on_text = on_text
        self._answer = answer
        self._told: str | None = None
        self._next = 0.0

    def update(self, read_text: Callable[[], str]) -> None:
        """More has come: ``read_text`` gives all of it, and is called when it is time to tell."""
        start = time.monotonic()
        if start < self._next:
            return
        text = self._answer(read_text())
        # What is asked for again is mostly said again: it is not seen to shrink.
        if not (self._told or "").startswith(text):
            self.tell(text)
        end = time.monotonic()
        self._next = max(start + _PAUSE_S, end + _PAUSE_PER_WORK * (end - start))

    def tell(self, text: str) -> None:
        """Tells a text, unless it is what was told last."""
        if text != self._told:
            self._told = text
            self._on_text(text)
