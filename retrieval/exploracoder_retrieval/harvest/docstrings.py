"""Extracts a docstring's first sentence and its code."""

from __future__ import annotations

import re
import textwrap
from functools import lru_cache

SUMMARY_LENGTH = 200

_ROLE = re.compile(r":[a-zA-Z][\w:+-]*:`(?:[^`<]*<)?[~!.]?([^`>]+)>?`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|`([^`<]+?)\s*<[^>]*>`__?")
_PLACEHOLDER = re.compile(r"%\(\w+\)s ?")
_DIRECTIVE = re.compile(r"^\s*(\.\.\s+[\w-]+::.*|#+\s*|=+|-{3,}|~{3,})\s*$")
_QUOTES = re.compile(r"`{1,2}([^`]+)`{1,2}_?|\*\*([^*]+)\*\*|(?<!\w)\*([^*\s][^*]*)\*(?!\w)")
# A sentence ends before a space or at the end, but not after "e.g." or inside a version number.
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)[.!?](?=\s|$)")
_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)```+[ \t]*(?P<language>[\w+.-]*)[^\n]*\n"
    r"(?P<code>.*?)^(?P=indent)```+[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_CODE_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?:\.\. code(?:-block)?::[ \t]*(?P<language>\w*)[ \t]*|[^\n.]*::)[ \t]*\n"
    r"(?:[ \t]*:\w+:[^\n]*\n)*[ \t]*\n(?P<code>(?:(?P=indent)[ \t]+[^\n]*\n?|[ \t]*\n)+)",
    re.MULTILINE,
)
# With its output, up to the next empty line.
_DOCTEST = re.compile(r"^[ \t]*>>>[^\n]*\n?(?:[ \t]*\S[^\n]*\n?)*", re.MULTILINE)
_DOCTEST_OPTION = re.compile(r"^>>>\s*#\s*x?doctest:")
_PYTHON = frozenset({"", "python", "py", "python3", "pycon", "doctest", "ipython", "ipython3"})


@lru_cache(maxsize=4096)  # an inherited docstring comes up once for each class
def summarise(doc: str) -> str:
    """The first sentence in plain words, at most 200 characters; empty for an empty docstring."""
    words = " ".join(strip_markup(_first_paragraph(doc)).split())
    end = _SENTENCE_END.search(words)
    sentence = words[: end.end()] if end else words
    if len(sentence) > SUMMARY_LENGTH:
        sentence = sentence[: SUMMARY_LENGTH - 1].rsplit(" ", 1)[0] + "…"
    return sentence


def strip_markup(text: str) -> str:
    """Text without reStructuredText and Markdown markup, but with its words."""
    text = _PLACEHOLDER.sub("", _ROLE.sub(r"\1", text))
    text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    return _QUOTES.sub(lambda match: match[1] or match[2] or match[3], text)


@lru_cache(maxsize=4096)
def find_examples(doc: str) -> tuple[str, ...]:
    """Python code in a docstring: doctests without prompts and outputs, fences, code blocks."""
    fences = [code for _, code in code_fences(doc)]
    rest = _FENCE.sub("", doc)
    blocks = [
        textwrap.dedent(match["code"]).strip("\n")
        for match in _CODE_BLOCK.finditer(rest)
        if (match["language"] or "").lower() in _PYTHON and ">>>" not in match["code"]
    ]
    return tuple(dict.fromkeys([*fences, *_doctests(rest), *filter(None, blocks)]))


def without_examples(doc: str) -> str:
    """A docstring without the code that `find_examples` finds and without doctest output."""
    doc = _FENCE.sub(lambda match: "" if match["language"].lower() in _PYTHON else match[0], doc)
    doc = _CODE_BLOCK.sub(_without_code, doc)
    return _DOCTEST.sub("", doc)


def code_fences(text: str) -> list[tuple[int, str]]:
    """The Python code fences in Markdown, each with the offset at which it starts."""
    fences = []
    for match in _FENCE.finditer(text):
        if match["language"].lower() in _PYTHON:
            code = textwrap.dedent(match["code"]).strip("\n")
            code = "\n".join(_doctests(code)) if ">>>" in code else code
            if code:
                fences.append((match.start(), code))
    return fences


def _without_code(block: re.Match[str]) -> str:
    head = block[0].partition("\n")[0]
    if (block["language"] or "").lower() not in _PYTHON:
        return block[0]
    return "" if head.lstrip().startswith("..") else f"{head.rstrip()[:-1]}\n\n"


def _first_paragraph(doc: str) -> str:
    lines: list[str] = []
    for line in doc.strip().splitlines():
        if not line.strip() or _DIRECTIVE.match(line):
            if lines:
                break
            continue
        lines.append(line.strip())
    return " ".join(lines)


def _doctests(text: str) -> list[str]:
    blocks: list[list[str]] = [[]]
    in_source = False
    for line in text.splitlines():
        content = line.strip()
        if _DOCTEST_OPTION.match(content):
            continue
        if content.startswith(">>>") or (in_source and content.startswith("...")):
            blocks[-1].append(content[4:])
            in_source = True
        else:
            in_source = False
            # Outputs do not end an example; an empty line followed by prose does.
            if content and blocks[-1] and _is_prose(content):
                blocks.append([])
    return ["\n".join(block).rstrip() for block in blocks if any(block)]


def _is_prose(line: str) -> bool:
    return line.endswith((":", ".")) and " " in line and line[0].isupper()
