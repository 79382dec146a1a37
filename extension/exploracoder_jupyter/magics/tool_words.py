"""``%exploracoder tools …``: parses its words, and answers off the kernel's thread."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exploracoder import confined_interpreter
from exploracoder.errors import InputError
from exploracoder.repositories import Repositories
from exploracoder.workspace import Options, in_thread
from exploracoder_retrieval.errors import QuestionError
from exploracoder_retrieval.repotools.tool_questions import TOOL_NAMES, Question
from exploracoder_retrieval.repotools.tool_text import answer_text

from exploracoder_jupyter.magics import registry
from exploracoder_jupyter.magics.named_code import code_named

# The tools' arguments, by option.
_ARGUMENTS = {
    "class": "class_name",
    "name": "method_name",
    "file": "file",
    "code": "code",
}
_SHOWN_AS = {argument: f"--{option}" for option, argument in _ARGUMENTS.items()}


@dataclass(frozen=True, slots=True)
class ToolLookup:
    """A question, and where to look; ``root`` is empty for the libraries in use."""

    question: Question
    root: str = ""


def parse_tools(rest: str, names: Mapping[str, Any]) -> ToolLookup:
    """Parse what follows ``tools``. ``names`` is the user's namespace, to look up code in.

    Raises InputError, with the nearest known word, when it is not a valid question.
    """
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise InputError(f"tools: {error}. Close the quotes.") from error
    options: dict[str, str] = {}
    plain: list[str] = []
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            plain.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        option = registry.find_tool_option(name)
        if not equals and not words:
            raise InputError(f"--{option.name} needs a value: {option.line}.")
        options[option.name] = value if equals else words.pop(0)
    if not plain:
        raise InputError(f"Name a tool: {', '.join(TOOL_NAMES)}.")
    if "code" in options:
        options["code"] = code_named(options["code"], names, "--code")
    arguments: dict[str, object] = {_ARGUMENTS[k]: v for k, v in options.items() if k != "root"}
    if plain[1:]:
        arguments["query"] = " ".join(plain[1:])
    try:
        question = Question.of(plain[0], arguments, _SHOWN_AS | {"query": "a QUERY"})
    except QuestionError as error:
        raise InputError(str(error)) from error
    return ToolLookup(question, options.get("root", ""))


async def ask_tools(
    lookup: ToolLookup, roots: Sequence[str], options: Options
) -> tuple[tuple[str, str], ...]:
    """The answers as text, each with its root.

    Roots without an answer are left out. Raises InputError when there is no answer at all.
    """
    return await in_thread(_ask, lookup, roots, options)


def _ask(lookup: ToolLookup, roots: Sequence[str], options: Options) -> tuple[tuple[str, str], ...]:
    repositories = Repositories(confined_interpreter.find_interpreter(options.python))
    answers: list[tuple[str, str]] = []
    problems: list[InputError] = []
    for root in roots:
        try:
            answers.append((root, answer_text(repositories.ask(lookup.question, root))))
        except InputError as error:
            problems.append(error)
    if not answers:
        raise InputError(" ".join(dict.fromkeys(str(problem) for problem in problems)))
    return tuple(answers)
