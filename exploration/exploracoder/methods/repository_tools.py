"""Asks the repository tools for a method: on its own account, or as the model requests.

Source: RepoClassBench, table 1 and appendix D: ``get_related_snippets`` is asked without the model,
the five others when it calls them; table 19: at most three calls at a time.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.repotools.tool_questions import Question
from exploracoder_retrieval.repotools.tool_text import answer_text
from pydantic import BaseModel, ConfigDict, Field

from exploracoder import confined_interpreter
from exploracoder.engine.reading.value_text import clip
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import InputError, ReplyError
from exploracoder.methods.class_writing import failed_words, tried, turns
from exploracoder.prompts import render
from exploracoder.repositories import Repositories
from exploracoder.state import Attempt
from exploracoder.texts import Text

_PART = "tools"
# The prompt says so too.
_CALLS = 3
_TOKENS = 500


class _Call(BaseModel):
    """One call; arguments that the tool does not take are left away."""

    model_config = ConfigDict(extra="forbid")

    tool: Literal[
        "get_imports", "get_class_info", "get_signature", "get_method_body", "get_relevant_code"
    ]
    class_name: str = ""
    method_name: str = ""
    query: str = ""


class _CallsReply(BaseModel):
    """The form that the model answers in."""

    model_config = ConfigDict(extra="forbid")

    thought: str
    calls: list[_Call] = Field(max_length=_CALLS)


_TAKES = {
    "get_imports": (),
    "get_class_info": ("class_name",),
    "get_signature": ("class_name", "method_name"),
    "get_method_body": ("class_name", "method_name"),
    "get_relevant_code": ("query",),
}


async def related_snippets(bench: Workbench, query: str) -> str:
    """The five pieces of the repository that are most similar to a description or to code."""
    return await _answer(bench, "get_related_snippets", {"query": query})


async def consult(bench: Workbench, attempt: Attempt) -> str:
    """The answers of the tools that the model calls, given an attempt and the oracle's feedback.

    Empty if it calls none, or if its reply does not have the requested form. Raises BudgetError
    and ModelError.
    """
    values = failed_words(bench, attempt)
    sampling = bench.model.sampling(_PART, number=len(tried(bench)), max_tokens=_TOKENS)
    messages = turns("calling", render("class", "tools", **values))
    try:
        reply = await bench.model.ask_json(_PART, messages, sampling, _CallsReply)
    except ReplyError:
        # Go on without: the reflection still has the oracle's feedback.
        return ""
    answers = [await _called(bench, call, values["code"], values["file"]) for call in reply.calls]
    return "\n\n".join(answers)


async def _called(bench: Workbench, call: _Call, code: str, file: str) -> str:
    fields = {name: getattr(call, name) for name in _TAKES[call.tool]}
    listing = ", ".join(f"{name}={value!r}" for name, value in fields.items())
    if call.tool == "get_imports":
        fields = {"code": code, "file": file}
    # Without a class name, it is a module's function.
    arguments = {name: value for name, value in fields.items() if value}
    return f"{call.tool}({listing}):\n{await _answer(bench, call.tool, arguments)}"


async def _answer(bench: Workbench, tool: str, arguments: dict[str, str]) -> str:
    """A tool's answer as text, cut to size, or the reason why there is none."""
    bench.tell(_PART, Text("Asking %1", tool))
    loop = asyncio.get_running_loop()

    def progress(words: str) -> None:
        loop.call_soon_threadsafe(bench.tell, _PART, words)

    def ask() -> str:
        if bench.libraries.repositories is None:
            interpreter = confined_interpreter.find_interpreter(bench.exploration.python or None)
            bench.libraries.repositories = Repositories(interpreter, progress)
        target = bench.exploration.task.target
        assert target is not None, "there is a class to write"
        try:
            question = Question.of(tool, arguments)
            return answer_text(bench.libraries.repositories.ask(question, target.root))
        except (RetrievalError, InputError) as error:
            return str(error)

    text = await asyncio.to_thread(ask)
    return clip(text, bench.settings.tool_chars)
