"""Texts that models take for commands, such as ``<|im_start|>``, made plain in what is sent.

A tokenizer turns them into the tokens that part one turn of a conversation from the next, wherever
they stand: docs or outputs with one in them could speak as the user. An invisible character breaks
each, and is taken out of replies again, so that code about such texts comes back as it was.
"""

from __future__ import annotations

import re

_BREAK = "\u200b"
_NAMES = (
    # Sentences and turns of Llama, Mistral and Gemma.
    r"</?s>",
    r"<</?SYS>>",
    r"<(?:bos|eos|pad|unk|mask|cls|sep)>",
    r"<(?:start|end)_of_(?:turn|image)>",
    r"<unused\d+>",
    r"\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|ARGS|CALL_ID"
    r"|PREFIX|MIDDLE|SUFFIX|IMG|IMG_BREAK|IMG_END|THINK)\]",
    # Functions, reasoning, and the pieces of repositories.
    r"</?(?:tool_calls?|tool_response|function_call|think|thinking)>",
    r"<(?:fim|jupyter|issue|commit|gh|file|repo)_\w{1,40}>",
    r"<(?:filename|reponame|empty_output|PRE|SUF|MID|EOT)>",
    # All between bars: ChatML, Llama 3, Phi, Command R, and DeepSeek, whose bars are wide.
    r"<\|[^|<>\n]{1,64}\|>",
    "<\uff5c[^\uff5c<>\n]{1,64}\uff5c>",
)


def _breakable(name: str) -> str:
    """The name, whole or broken after its first character, as often as it may be."""
    first = r"\[" if name.startswith(r"\[") else name[0]
    return f"{first}{_BREAK}*{name.removeprefix(first)}"


_TOKEN = re.compile("|".join(map(_breakable, _NAMES)), re.IGNORECASE)
# What may still become a token, a sign of the end, or the tag of a thought: a thought between its
# halves, too, is taken out before they meet.
_BEGUN = re.compile(
    rf"(?:<{_BREAK}*(?:/?\w{{0,48}}>?|\|[^|<>\n]{{0,64}}\|?|\uff5c[^\uff5c<>\n]{{0,64}}\uff5c?)){{1,5}}\Z"
    rf"|(?<=\[){_BREAK}+/?\w{{0,24}}\Z"
)
_ENDS = (
    *("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>"),
    *("</s>", "<end_of_turn>", "<\uff5cend▁of▁sentence\uff5c>"),
)


def neutralise(text: str) -> str:
    """``text`` without anything that a model takes for a command, or that is no Unicode."""
    text = text.encode("utf-8", "replace").decode()
    return _TOKEN.sub(lambda match: f"{match[0][0]}{_BREAK}{match[0][1:]}", text)


def restore(text: str) -> str:
    """What `neutralise` made of a text, as it was."""
    return _TOKEN.sub(lambda match: match[0][0] + match[0][1:].removeprefix(_BREAK), text)


def without_begun(text: str) -> str:
    """A text that will go on, without what at its end may be the first half of a token."""
    return _BEGUN.sub("", text)


def without_end(text: str) -> str:
    """A reply without the signs that it ends, which some servers leave in."""
    end = text.rstrip()
    while sign := next((one for one in _ENDS if end.endswith(one)), None):
        text = end = end.removesuffix(sign).rstrip()
    return text
