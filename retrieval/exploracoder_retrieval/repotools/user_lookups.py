"""Look-ups that a person types: a name as it appears in code, or a few words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from exploracoder_retrieval.errors import QuestionError
from exploracoder_retrieval.repotools.six_tools import RepositoryTools
from exploracoder_retrieval.repotools.tool_answers import (
    Answer,
    BodiesAnswer,
    ClassesAnswer,
    SignaturesAnswer,
    SnippetsAnswer,
)
from exploracoder_retrieval.repotools.tool_text import answer_text

LookupKind = Literal["class", "signature", "source", "code"]


@dataclass(frozen=True, slots=True)
class LookupResult:
    """One class, definition or piece of code as text, and its location.

    ``file`` is named as in answers; None for compiled code.
    """

    name: str
    file: str | None
    line: int
    text: str


def look_up(tools: RepositoryTools, kind: LookupKind, text: str) -> Answer:
    """Ask the tool for this kind of look-up.

    The text may name a class, a function or ``Class.method``, with or without its module's path and
    a call's parentheses. For ``code``, any words will do.

    Raises:
        QuestionError: the text is empty or not a name.
        NameNotFound: nothing has that name; the message gives the nearest ones.
    """
    if not text.strip():
        raise QuestionError("Type a name, or what the code does.")
    if kind == "code":
        return tools.get_related_snippets(text)
    name = text.strip().removeprefix("@").partition("(")[0].strip().strip(".")
    if not name:
        raise QuestionError(f"{text.strip()!r} is no name. Type one as it stands in code.")
    if kind == "class":
        return tools.get_class_info(name)
    owner, _, last = name.rpartition(".")
    class_name = owner if owner and tools.has_class(owner) else None
    arguments = (class_name, last if class_name else name)
    return (
        tools.get_signature(*arguments)
        if kind == "signature"
        else tools.get_method_body(*arguments)
    )


def found_in(answer: Answer) -> list[LookupResult]:
    """The results of an answer, one by one.

    Among results of the same name, the one nearest to the library's top goes first: people usually
    mean it rather than a copy of an old version in a subfolder. A search keeps its order.
    """
    results = list(_found(answer))
    return results if isinstance(answer, SnippetsAnswer) else sorted(results, key=_depth)


def _depth(result: LookupResult) -> int:
    return (result.file or "").count("/")


def _found(answer: Answer) -> Iterator[LookupResult]:
    if isinstance(answer, ClassesAnswer):
        for one in answer.classes:
            yield LookupResult(
                one.qualname, one.file, one.line, answer_text(ClassesAnswer(classes=(one,)))
            )
    elif isinstance(answer, SignaturesAnswer):
        for signature in answer.signatures:
            text = answer_text(SignaturesAnswer(signatures=(signature,)))
            yield LookupResult(signature.path, signature.file, signature.line, text)
    elif isinstance(answer, BodiesAnswer):
        for body in answer.bodies:
            text = answer_text(BodiesAnswer(bodies=(body,)))
            yield LookupResult(body.path, body.file, body.def_line, text)
    elif isinstance(answer, SnippetsAnswer):
        for piece in answer.snippets:
            text = answer_text(SnippetsAnswer(snippets=(piece,)))
            yield LookupResult(piece.name or piece.kind, piece.file, piece.start_line, text)
