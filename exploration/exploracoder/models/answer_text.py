"""The text of an answer: what a model says, whole, or as far as it has come."""

from __future__ import annotations

import time
from collections.abc import Callable

from exploracoder.models.chat import OnText
from exploracoder.models.control_tokens import restore, without_begun, without_end
from exploracoder.models.reasoning import without_reasoning

_PAUSE_S = 0.05
# Long texts take a while to read: nine tenths of the time are for something else.
_PAUSE_PER_WORK = 9.0


def answer_in(text: str) -> str:
    """What a model answers in a conversation, of all that it says."""
    return restore(without_end(without_reasoning(text)))


def answer_so_far(text: str, *, begins_in_thought: bool = False) -> str:
    """What `answer_in` will begin with, whatever follows ``text``.

    One thing that follows can still change it: the end of a thought whose beginning was not seen.
    With ``begins_in_thought`` that is expected, and nothing is answered before.
    """
    said = without_reasoning(f"<think>{text}" if begins_in_thought else text)
    # White space at the end goes when a thought, or a sign of the end, follows.
    return restore(without_end(without_begun(said)).rstrip())


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

    def update(self, come: Callable[[], str]) -> None:
        """More has come: ``come`` gives all of it, and is only asked when it is time to tell."""
        started = time.monotonic()
        if started < self._next:
            return
        text = self._answer(come())
        # What is asked for again is mostly said again: it is not seen to shrink.
        if not (self._told or "").startswith(text):
            self.tell(text)
        ended = time.monotonic()
        self._next = max(started + _PAUSE_S, ended + _PAUSE_PER_WORK * (ended - started))

    def tell(self, text: str) -> None:
        """Tells a text, unless it is what was told last."""
        if text != self._told:
            self._told = text
            self._on_text(text)
