"""The answers as text, for people and models; the text says what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exploracoder_retrieval.facts.parameters import parameters_text
from exploracoder_retrieval.repotools.tool_answers import (
    Answer,
    BodiesAnswer,
    BodyAnswer,
    ClassAnswer,
    ClassesAnswer,
    ImportsAnswer,
    MemberInfo,
    SignatureAnswer,
    SignaturesAnswer,
    SnippetAnswer,
    SnippetsAnswer,
)

MAX_MEMBERS = 60
_DOC_LINES = 8


def answer_text(answer: Answer, *, members: int = MAX_MEMBERS) -> str:
    """An answer as text, with at most ``members`` members of each class.

    Unprintable characters are escaped: a file may contain terminal control sequences.
    """
    text = "\n".join([*_lines(answer, members), *_endnotes(answer)]).rstrip("\n")
    return "".join(char if char.isprintable() or char in "\n\t" else _escape(char) for char in text)


def member_line(member: MemberInfo) -> str:
    """One member on one line: its signature or declaration, and its summary."""
    words = [one for one in (_kind(member),) if one]
    prefix = f"{' '.join(words)} " if words else ""
    if member.signature:
        line = f"{prefix}{member.signature}" + (f"  # = {member.default}" if member.default else "")
    else:
        annotation = f": {member.annotation}" if member.annotation else ""
        default = f" = {member.default}" if member.default else ""
        line = f"{prefix}{member.name}{annotation}{default}"
    if member.settable:
        line += "  (can be set)"
    return line + (f"  # {member.summary}" if member.summary else "")


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _lines(answer: Answer, members: int) -> Iterator[str]:
    if isinstance(answer, ClassesAnswer):
        for one in answer.classes:
            yield from (*_class(one, members), "")
    elif isinstance(answer, SignaturesAnswer):
        for signature in answer.signatures:
            yield from (*_signature(signature), "")
    elif isinstance(answer, BodiesAnswer):
        for body in answer.bodies:
            yield from (*_body(body), "")
    elif isinstance(answer, ImportsAnswer):
        yield from _imports(answer)
    elif isinstance(answer, SnippetsAnswer):
        if not answer.snippets:
            yield "Nothing was found."
        for snippet in answer.snippets:
            yield from (*_snippet(snippet), "")


def _class(one: ClassAnswer, most: int) -> Iterator[str]:
    bases = f"({', '.join(one.bases)})" if one.bases else ""
    yield from (f"@{decorator}" for decorator in one.decorators)
    yield f"class {one.qualname}{bases}  # {_place(one.file, one.line)}"
    yield from (f"    {line}" for line in _doc(one.doc))
    if one.init is not None:
        yield f"    generated: __init__(self, {parameters_text(one.init)})"
    owner = ""
    for member in one.members[:most]:
        if member.defined_in != owner:
            owner = member.defined_in
            yield f"  {'its own' if owner == one.qualname else f'from {owner}'}:"
        yield from (f"    {overload}" for overload in member.overloads)
        yield f"    {member_line(member)}"
    left_out = one.left_out + max(0, len(one.members) - most)
    if left_out:
        yield f"  … {left_out} more members"
    if one.problem:
        yield f"  It cannot be made: {one.problem}"
    if one.unknown_bases:
        yield f"  Not found, so what they bring is missing: {', '.join(one.unknown_bases)}"


def _signature(one: SignatureAnswer) -> Iterator[str]:
    yield f"{one.qualname}  # {_place(one.file, one.line)}"
    yield from (f"    @{decorator}" for decorator in one.decorators)
    yield f"    {one.signature}"
    if one.note:
        yield f"    {one.note}"
    yield from (f"    {line}" for line in _doc(one.doc))


def _body(one: BodyAnswer) -> Iterator[str]:
    yield f"{one.qualname}  # {_place(one.file, one.def_line)}"
    if one.note:
        yield one.note
    yield from (f"@{decorator}" for decorator in one.decorators)
    yield one.source or one.signature
    if one.left_out:
        yield f"… {one.left_out} more lines"


def _imports(answer: ImportsAnswer) -> Iterator[str]:
    if not answer.symbols:
        yield "No name is undefined."
    for name, statements in answer.symbols.items():
        yield f"{name}:" if statements else f"{name}: no import defines it"
        yield from (f"    {statement}" for statement in statements)


def _snippet(one: SnippetAnswer) -> Iterator[str]:
    name = f"{one.kind} {one.name}" if one.name else one.kind
    yield f"{name}  # {one.file}:{one.start_line}-{one.end_line}"
    yield one.source
    if one.left_out:
        yield f"… {one.left_out} more lines"


def _endnotes(answer: Answer) -> Iterator[str]:
    if answer.left_out:
        yield f"… {answer.left_out} more results"
    if answer.skipped:
        count = len(answer.skipped) + answer.skipped_left_out
        first = answer.skipped[0]
        files = "1 file" if count == 1 else f"{count} files"
        yield f"{files} could not be read and so not be looked into: {first.file}: {first.reason}"


def _doc(doc: str) -> Sequence[str]:
    lines = doc.strip().splitlines()
    more = len(lines) - _DOC_LINES
    return lines if more <= 0 else [*lines[:_DOC_LINES], f"… {more} more lines"]


def _kind(member: MemberInfo) -> str:
    """The part of a member's kind that its signature does not show."""
    if member.kind in ("method", "class_var", "instance_var"):
        return "abstract" if member.is_abstract else ""
    return member.kind


def _place(file: str | None, line: int) -> str:
    return f"{file}:{line}" if file else "compiled"
