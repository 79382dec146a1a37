"""The text of a model's answer, complete or still arriving.

Reasoning that precedes the answer is not part of it, and is removed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from exploracoder.models.chat import OnText
from exploracoder.models.control_tokens import restore, without_begun, without_end

_PAUSE_S = 0.05
# Long texts take a while to process: leave nine tenths of the time for other work.
_PAUSE_PER_WORK = 9.0

_NAMES = ("think", "thinking", "reasoning", "thought")
_NAME = f"(?:{'|'.join(_NAMES)})"
# A code block starts at the beginning of a line, or directly after a thought.
_START = "|".join(["^", *(f"(?<={name}>)" for name in _NAMES)])
# In this order: tags inside a code block do not count, nor do code blocks inside a thought.
_THOUGHT = re.compile(
    rf"(?P<code>(?:{_START})[ \t]*(?P<fence>`{{3,}}|~{{3,}})"
    r".*?(?:^[ \t]*(?P=fence)[`~]*[ \t\r]*$|\Z))"
    rf"|<{_NAME}>.*?(?:</{_NAME}>|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
# Removing a thought may leave parts that form another tag, though never by accident.
_PASSES = 5
_END = re.compile(rf"</{_NAME}>", re.IGNORECASE)
# Alone on its line, it ends a thought whose start was not seen, even with an open code block.
_LONE_END = re.compile(rf"\A.*^[ \t]*</{_NAME}>[ \t\r]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE)


def answer_in(text: str) -> str:
    """The answer in a chat reply, without reasoning and end tokens."""
    return restore(without_end(without_reasoning(text)))


def answer_so_far(text: str, *, begins_in_thought: bool = False) -> str:
    """A prefix of what `answer_in` will return, whatever follows ``text``.

    Only the end of a thought whose beginning was not seen can still change it. With
    ``begins_in_thought`` that end is expected, and the result is empty until it arrives.
    """
    answer = without_reasoning(f"<think>{text}" if begins_in_thought else text)
    # Trailing white space is dropped later if a thought or an end token follows.
    return restore(without_end(without_begun(answer)).rstrip())


def without_reasoning(text: str) -> str:
    """``text`` without its thoughts; an unclosed one extends to the end of the text.

    A closing tag without an opening one ends a thought that started before the text. Tags in code
    blocks are left alone, unless a thought can only end there.
    """
    for _ in range(_PASSES):
        answer = _without_tagged(text)
        if answer == text:
            return text
        text = answer.strip()
    return ""


def has_reasoning(text: str) -> bool:
    """Whether ``text`` contains thoughts."""
    return _without_tagged(text) != text


def begins_in_thought(text: str) -> bool:
    """Whether ``text`` starts inside a thought, which ends in it without an opening tag."""
    return has_reasoning(_without_whole(text))


def _without_whole(text: str) -> str:
    return _THOUGHT.sub(lambda match: match["code"] or "", text)


def _without_tagged(text: str) -> str:
    answer = _without_whole(text)
    outside = _THOUGHT.sub(lambda match: " " * len(match[0]), answer)
    ends = [match.end() for match in _END.finditer(outside)]
    return answer[ends[-1] :] if ends else _LONE_END.sub("", answer)


class LiveText:
    """Reports the text of a reply as it arrives, often enough to be read along."""

    def __init__(self, on_text: OnText, answer: Callable[[str], str]) -> None:
        """Sets the listener.

        Args:
            on_text: Called with the text so far, at most 20 times a second.
            answer: Returns the part of the received text that may be shown.
        """
        self._on_text = on_text
        self._answer = answer
        self._last_text: str | None = None
        self._next = 0.0

    def update(self, read_text: Callable[[], str]) -> None:
        """Handles new text; ``read_text`` returns all of it, called only when a report is due."""
        start = time.monotonic()
        if start < self._next:
            return
        text = self._answer(read_text())
        # A retried request mostly repeats its text, so do not let the text appear to shrink.
        if not (self._last_text or "").startswith(text):
            self.tell(text)
        end = time.monotonic()
        self._next = max(start + _PAUSE_S, end + _PAUSE_PER_WORK * (end - start))

    def tell(self, text: str) -> None:
        """Reports ``text``, unless it is the same as last time."""
        if text != self._last_text:
            self._last_text = text
            self._on_text(text)
