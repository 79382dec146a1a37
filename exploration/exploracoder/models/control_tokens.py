"""Neutralises control tokens, such as ``<|im_start|>``, in the text that models are sent.

A tokenizer turns them into the tokens that separate the turns of a conversation, wherever they
occur: docs or outputs that contain one could speak as the user. An invisible character breaks each
up, and is removed from replies again, so that code about such tokens comes back unchanged.
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
    # Anything between bars: ChatML, Llama 3, Phi, Command R, and DeepSeek, with full-width bars.
    r"<\|[^|<>\n]{1,64}\|>",
    "<\uff5c[^\uff5c<>\n]{1,64}\uff5c>",
)


def _breakable(name: str) -> str:
    """A pattern for the name, intact or broken after its first character any number of times."""
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
    """``text`` with control tokens broken up and invalid Unicode replaced."""
    text = text.encode("utf-8", "replace").decode()
    return _TOKEN.sub(lambda match: f"{match[0][0]}{_BREAK}{match[0][1:]}", text)


def restore(text: str) -> str:
    """Reverses `neutralise`: makes the control tokens whole again."""
    return _TOKEN.sub(lambda match: match[0][0] + match[0][1:].removeprefix(_BREAK), text)


def without_begun(text: str) -> str:
    """An unfinished text without a trailing part that may be the first half of a token."""
    return _BEGUN.sub("", text)


def without_end(text: str) -> str:
    """A reply without trailing end tokens, which some servers leave in."""
    end = text.rstrip()
    while sign := next((one for one in _ENDS if end.endswith(one)), None):
        text = end = end.removesuffix(sign).rstrip()
    return text
