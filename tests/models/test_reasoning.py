"""What a model thinks is no part of what it answers."""

from __future__ import annotations

import pytest
from exploracoder.models.answer_text import without_reasoning

BLOCK = "```python\nx = 1\n```"
WRONG = "```python\nx = 2\n```"
REPLIES = {
    "none": (BLOCK, BLOCK),
    "before": (f"<think>\n{WRONG}\n</think>\n\n{BLOCK}", BLOCK),
    "another tag, in capitals": (f"<Thinking>{WRONG}</Thinking>{BLOCK}", BLOCK),
    "in the middle of a line": (f"Well <think>{WRONG}</think>so:\n{BLOCK}", f"Well so:\n{BLOCK}"),
    "two thoughts": (f"<think>a</think>{BLOCK}\n<think>\n{WRONG}\n</think>", BLOCK),
    "without an end": (f"<think>\n{WRONG}", ""),
    "after the answer, without an end": (f"{BLOCK}\n<think>\n{WRONG}", BLOCK),
    "without a beginning": (f"{WRONG}\nNo.</think>\n{BLOCK}", BLOCK),
    "without a beginning, in half a block": (f"{WRONG[:-4]}\n</think>\n{BLOCK}", BLOCK),
    "half a block in a thought": (f"<think>\n{WRONG[:-4]}\n</think>\n{BLOCK}", BLOCK),
    "a tag made of what is left": (f"<thi<think></think>nk>\n{WRONG}\n</think>\n{BLOCK}", BLOCK),
    "in code": ("```python\nx = '<think>'\ny = '</think>'\n```",) * 2,
    "in longer fences": ("````\n```\n<think>\n```\n````",) * 2,
    "nothing but tags": ("<think></think>" * 3, ""),
    "more tags than anybody writes": ("<thi" * 9 + "<think></think>" + "nk></think>" * 9, ""),
}


@pytest.mark.parametrize(("reply", "answer"), REPLIES.values(), ids=REPLIES)
def test_thoughts_are_put_aside(reply: str, answer: str) -> None:
    assert without_reasoning(reply) == answer
