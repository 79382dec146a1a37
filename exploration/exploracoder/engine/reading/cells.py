"""Cells in a model's reply: Markdown headings, each with its code below.

    ### 1. what the cell is for      a cell
    ### Solution                     the whole solution
    ### Calls                        calls of the function that the solution defines
    ### Done                         nothing needs to change

A reply without headings is the solution alone. It is read as it streams in: a part is complete when
the next heading, or the end of the reply, is there.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from exploracoder.engine.reading.replies import code_block
from exploracoder.engine.reading.syntax import (
    DEFINITIONS,
    IMPORTS,
    first_line,
    tree,
    whole_statements,
)
from exploracoder.engine.reading.value_text import cut

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
# A whole reply wrapped in one block.
_WRAPPED = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*(?:markdown|md)\b.*\n", re.IGNORECASE)
# A single ``#`` does not count: in code without a fence it is a comment.
_HEADING = re.compile(r"\s{0,3}#{2,6}\s+(?:\*\*)?(?P<words>\S.*?)\s*#*:?\s*$")
_BOLD = re.compile(r"\s{0,3}\*\*(?P<words>\S.*?)\s*(?:\*\*)?:?\s*$")
_NUMBERED = re.compile(
    r"(?:cell|step|zelle|schritt)?\s*(?P<number>\d{1,3})"
    r"\s*(?:[.:)\]*\u2013\u2014-]+(?!\d)\s*|\s+|$)(?P<goal>.*)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:the |final |complete |full |example )*(?P<name>solution|calls?|done)"
    r"\W*(?:[:(\u2013\u2014-].*)?$",
    re.IGNORECASE,
)
_GOAL_CHARS = 300
_MOST_CELLS = 40


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it was written; ``number`` counts from 1, and is None if the heading has none."""

    number: int | None
    goal: str
    code: str


@dataclass(frozen=True, slots=True)
class Script:
    """The contents of a reply: cells in order, the solution, calls of it.

    ``solution`` and ``calls`` are empty if the reply has none.
    """

    cells: tuple[Cell, ...] = ()
    solution: str = ""
    calls: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A heading's words, and the text below it."""

    words: str
    text: str


def read_script(reply: str, *, is_cut_off: bool = False) -> Script:
    """The script in a whole reply; if it was cut off, the last part ends at a whole statement."""
    text = _lines(reply)
    parts = list(_parts(text))
    if not any(part.words for part in parts):
        code = code_block(text)
        return Script(solution=whole_statements(code) if is_cut_off else code)
    return _script(parts, is_cut_off=is_cut_off)


def read_cells(reply: str) -> tuple[Cell, ...]:
    """The complete cells in a reply that is still being written."""
    return _script(list(_parts(_lines(reply)))[:-1]).cells


def cells_of(code: str) -> tuple[Cell, ...]:
    """Cut a program into cells, at the comments or else the blank lines that begin its parts.

    Empty if it ends in a definition, or is not Python.
    """
    body = tree(code).body
    if not body or isinstance(body[-1], DEFINITIONS):
        return ()
    lines = code.split("\n")
    starts = [_start(lines, node) for node in body]
    has_comments = any(lines[start].startswith("#") for start in starts[1:])
    cuts = [0]
    for number, start in enumerate(starts[1:], 1):
        # A statement that begins in the line where the one before ends stays with it.
        if start < (body[number - 1].end_lineno or 0):
            continue
        is_cut = lines[start].startswith("#") if has_comments else not lines[start - 1].strip()
        # Imports stay with what needs them.
        is_first = all(isinstance(node, IMPORTS) for node in body[:number])
        if is_cut and not is_first and len(cuts) < _MOST_CELLS:
            cuts.append(start)
    spans = zip(cuts, [*cuts[1:], len(lines)], strict=True)
    pieces = ("\n".join(lines[first:end]).strip("\n") for first, end in spans)
    return tuple(Cell(n, _goal_of(piece), piece) for n, piece in enumerate(pieces, 1))


def body_of(code: str, name: str, result: str) -> str:
    """A function's body as a program on variables named like its parameters.

    Its return value is assigned to ``result``, and the code above the function comes first. Empty
    if there is no such function, or if it returns anywhere but at its end.
    """
    functions = (one for one in tree(code).body if isinstance(one, ast.FunctionDef))
    function = next((one for one in functions if one.name == name), None)
    if function is None or not _returns_at_end(function):
        return ""
    lines = code.split("\n")
    above = lines[: _start(lines, function)]
    inside = lines[_start(lines, function.body[0]) : function.end_lineno]
    last = function.body[-1]
    index = last.lineno - _start(lines, function.body[0]) - 1
    # Column offsets in the tree count bytes.
    line = inside[index].encode()
    before, after = line[: last.col_offset].decode(), line[last.col_offset :].decode()
    inside[index] = before + after.replace("return", f"{result} =", 1)
    program = "\n".join([*above, textwrap.dedent("\n".join(inside))])
    return program if function.body[0].lineno > function.lineno else ""


def _returns_at_end(function: ast.FunctionDef) -> bool:
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    last = function.body[-1]
    return returns == [last] and isinstance(last, ast.Return) and last.value is not None


def _start(lines: list[str], node: ast.stmt) -> int:
    """The index of a statement's first line, the comments right above it included."""
    first = first_line(node) - 1
    while first and lines[first - 1].startswith(" " * node.col_offset + "#"):
        first -= 1
    return first


def _goal_of(piece: str) -> str:
    """The comment that a piece begins with, or else its first line that does something."""
    lines = [line.strip() for line in piece.split("\n") if line.strip()]
    goal_lines = [line for line in lines if not line.startswith(("import ", "from "))]
    first = (goal_lines or lines)[0]
    goal = cut(first.lstrip("# "), _GOAL_CHARS)
    return goal if first.startswith("#") else f"`{goal}`"


def heading_of(reply: str) -> str:
    """The latest heading of a reply that is being written; empty before the first."""
    parts = list(_parts(_lines(reply)))
    return parts[-1].words if parts else ""


def _script(parts: list[_Part], *, is_cut_off: bool = False) -> Script:
    cells: list[Cell] = []
    sections: dict[str, str] = {}
    for part in parts:
        code = code_block(part.text)
        if is_cut_off and part is parts[-1]:
            code = whole_statements(code)
        if name := _name(part.words):
            sections[name] = sections.get(name) or code
        elif part.words and code and len(cells) < _MOST_CELLS:
            cells.append(_cell(part.words, code))
    solution = sections.get("solution", "") or sections.get("done", "")
    return Script(tuple(cells), solution, sections.get("call", ""))


def _name(words: str) -> str:
    """``solution``, ``call`` or ``done`` where a heading says so, whatever its number."""
    number_match = _NUMBERED.match(words)
    name_match = _NAMED.match(number_match["goal"] if number_match else words)
    return name_match["name"].lower().rstrip("s") if name_match else ""


def _cell(words: str, code: str) -> Cell:
    match = _NUMBERED.match(words)
    number = int(match["number"]) if match else None
    goal = match["goal"] if match else words
    return Cell(number, cut(goal.strip(" *:"), _GOAL_CHARS) or f"Cell {number}", code)


def _parts(text: str) -> Iterator[_Part]:
    """The text before the first heading, and each heading with what is below it."""
    words, below, fence = "", list[str](), ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            is_end = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if is_end else fence
        elif mark:
            fence = mark[1]
        elif heading := _heading(line):
            yield _Part(words, "\n".join(below))
            words, below = heading, []
            continue
        below.append(line)
    yield _Part(words, "\n".join(below))


def _heading(line: str) -> str:
    """A heading's words; empty for other lines. A bold line is one if it has a number or name."""
    if match := _HEADING.match(line):
        return match["words"]
    match = _BOLD.match(line)
    is_told = match is not None and (_NUMBERED.match(match["words"]) or _name(match["words"]))
    return match["words"] if match is not None and is_told else ""


def _lines(reply: str) -> str:
    text = reply.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    match = _WRAPPED.match(text)
    return text[match.end() :] if match else text
