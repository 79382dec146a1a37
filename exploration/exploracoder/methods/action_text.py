"""Actions in text: how a model requests a function call if functions cannot be offered to it.

Source: ReAct (Yao et al. 2023): a thought, an action, and an observation that it does not write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from exploracoder.engine.reading.replies import code_block
from exploracoder.models.chat import ToolCall
from exploracoder.models.model_functions import Tool

# The model stops here: observations are not for it to write.
OBSERVATION = "Observation:"


def _label(words: str) -> re.Pattern[str]:
    """A pattern for a label at the beginning of a line, also in bold or in a list."""
    return re.compile(rf"^[ \t*#>-]*(?:{words})[ \t*]*:[ \t*]*", re.MULTILINE | re.IGNORECASE)


_ACTION, _INPUT, _ANSWER = _label("Action"), _label("Action Input"), _label("Final Answer")
_ANY = _label("Thought|Action|Action Input|Observation|Final Answer")
# The paper's own form: ``Search[query]``.
_IN_BRACKETS = re.compile(r"[\w`]+\s*[\[(](.*)[\])]\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Action:
    """A call, and the text up to its end; what the model wrote beyond that is made up."""

    call: ToolCall
    text: str


def action_in(text: str, tools: Sequence[Tool]) -> Action | None:
    """The first action in a text; None if there is none, or if an answer comes before it."""
    action, answer = _ACTION.search(text), _ANSWER.search(text)
    if action is None or (answer is not None and answer.start() < action.start()):
        return None
    line, end = _part(text, action.end())
    name = re.match(r"\W*(\w*)", line)
    inside, argument = _IN_BRACKETS.fullmatch(line.strip()), _INPUT.match(text, end)
    value = inside[1] if inside else ""
    if argument is not None:
        below, end = _part(text, argument.end())
        value = below.strip() or value
    tool_name = name[1] if name else ""
    call = ToolCall(tool_name, tool_name, _arguments(tool_name, value.strip(), tools))
    return Action(call, text[:end].rstrip())


def answer_in(text: str) -> str:
    """The text after the label ``Final Answer``, or all of a text without one."""
    answer = _ANSWER.search(text)
    return text[answer.end() :] if answer else text


def _part(text: str, start: int) -> tuple[str, int]:
    """The text from ``start`` to the next label, and where that is."""
    next_label = _ANY.search(text, start)
    end = next_label.start() if next_label else len(text)
    return text[start:end], end


def _arguments(name: str, value: str, tools: Sequence[Tool]) -> str:
    """An action's input as the one argument of its function, in JSON."""
    tool = next((one for one in tools if one.name == name), None)
    if tool is None:
        return "{}"
    (field,) = tool.form.model_fields
    try:
        data = json.loads(value)
    except ValueError:
        data = None
    if isinstance(data, dict):
        return value
    plain = data if isinstance(data, str) else value
    if field == "code":
        return json.dumps({field: code_block(plain) or plain})
    return json.dumps({field: plain.strip("`'\" \n")})
