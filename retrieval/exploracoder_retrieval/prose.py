"""Docs as Markdown: converts reStructuredText markup, directives and code, and escapes HTML."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_ROLE = re.compile(r":[a-zA-Z][\w:+-]{0,40}:`(?:[^`<]{0,200}<)?[~!]?([^`>]+)>?`")
_LINK = re.compile(r"`([^`<>]+?)\s*<(https?://[^>\s]+)>`__?")
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_DIRECTIVE = re.compile(r"(?P<indent> *)\.\. (?P<name>[\w-]+)::\s*(?P<rest>.*)")
_OPTION = re.compile(r"\s*:[\w-]+:")
# Directives that show something outside the text.
_PICTURES = frozenset({"figure", "image", "index", "plot", "only", "raw", "toctree"})
_CODE = frozenset({"code", "code-block", "sourcecode", "math", "parsed-literal"})


def as_markdown(text: str) -> str:
    """The text of a docstring, in any markup, as Markdown without HTML."""
    return "\n".join(_blocks(textwrap.dedent(text).strip("\n").splitlines())).strip()


def _blocks(lines: list[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        directive, fence = _DIRECTIVE.fullmatch(line), _FENCE.match(line)
        if fence:
            end = _end_of_fence(lines, place, fence[1])
            yield from lines[place:end]
            place = end
        elif directive:
            body, end = _indented(lines, place + 1, len(directive["indent"]))
            lines[place:end] = _directed(directive["name"], directive["rest"], body)
        elif line.lstrip().startswith(">>>"):
            end = next((n for n in range(place, len(lines)) if not lines[n].strip()), len(lines))
            yield from _fenced(lines[place:end], "python")
            place = end
        elif line.endswith("::"):
            body, place = _indented(lines, place + 1, len(line) - len(line.lstrip()))
            yield _line(line[:-1] if line.strip(": ") else "")
            yield from _fenced(body, "") if body else ()
        else:
            yield _line(line)
            place += 1


def _directed(name: str, rest: str, body: list[str]) -> list[str]:
    """The lines that replace a directive; they may contain directives themselves."""
    if name in _CODE:
        code = [line for line in body if not _OPTION.match(line)]
        return _fenced([rest, *code] if name == "math" and rest else code, "")
    if name in _PICTURES:
        return [""]
    title = name.replace("-", " ").capitalize()
    return ["", f"**{title}:** {rest}", *textwrap.dedent("\n".join(body)).splitlines(), ""]


def _line(line: str) -> str:
    line = _LINK.sub(r"[\1](\2)", _ROLE.sub(r"`\1`", line))
    parts, last = [], 0
    for span in _CODE_SPAN.finditer(line):
        parts += [_escaped(line[last : span.start()]), span[0]]
        last = span.end()
    return "".join([*parts, _escaped(line[last:])])


def _escaped(text: str) -> str:
    # A tag in the docs is one they talk about. Starred parameters are not emphasis.
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"(?<![\w*])(\*{1,2})(?=\w)(?![^*\n]*[^\s*]\*)", r"\\\1", text)


def _fenced(lines: list[str], language: str) -> list[str]:
    code = textwrap.dedent("\n".join(lines)).strip("\n")
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", code)), 3)
    return ["", f"{ticks}{language}", code, ticks, ""] if code else []


def _end_of_fence(lines: list[str], start: int, marks: str) -> int:
    for place in range(start + 1, len(lines)):
        if lines[place].strip().startswith(marks):
            return place + 1
    return len(lines)


def _indented(lines: list[str], start: int, margin: int) -> tuple[list[str], int]:
    """The lines from ``start`` on that are indented more than ``margin``, and where they end."""
    end = start
    while end < len(lines):
        line = lines[end]
        if line.strip() and len(line) - len(line.lstrip()) <= margin:
            break
        end += 1
    return lines[start:end], end
