"""The code in a model's reply, or why there is none."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from exploracoder.engine.reading import syntax
from exploracoder.engine.reading.syntax import whole_statements
from exploracoder.errors import NoCodeError
from exploracoder.models.chat import Reply
from exploracoder.models.server_answer import REFUSED
from exploracoder.texts import on_a_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_PYTHON = re.compile(r"\W*(?:i?python|py)(?:[\d.]*|-?exec)\b", re.IGNORECASE)
_MARKDOWN = re.compile(r"\W*(?:markdown|md)\b", re.IGNORECASE)
# To Markdown, a fence in the middle of a line does not begin a block.
_BEGINS_LATE = re.compile(r"(?<=\S)[ \t]*(?=(?:`{3,}|~{3,})\w*[ \t]*$)", re.MULTILINE)
# `ast.unparse` and the like recurse for each level, and Python's recursion limit is 1000.
_DEEPEST = 150
_QUOTED_CHARS = 120
# Each block is parsed, some more than once.
_MOST_BLOCKS = 30


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block: its info string and its code."""

    info: str
    code: str

    @property
    def is_python(self) -> bool:
        return _PYTHON.match(self.info) is not None


def code_block(reply: str) -> str:
    """The Python code in a model's reply; empty if there is none that does anything.

    It is in a fenced Markdown block. One tagged as Python takes precedence over one without a tag,
    and that over one that has another tag but is Python all the same. Of several, the first that is
    valid Python counts; later ones belong to it as long as they read what it has bound and rebind
    none of it: otherwise they are an alternative, or output. Without a fence, the reply is code if
    it begins as Python that does something; prose is not.
    """
    text = reply.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    all_blocks = list(islice(_blocks(text), _MOST_BLOCKS))
    if not any(block.code for block in all_blocks):
        all_blocks = list(islice(_blocks(_BEGINS_LATE.sub("\n\n", text)), _MOST_BLOCKS))
    if blocks := [block for block in all_blocks if block.code]:
        return _joined(_best(blocks))
    code = text.strip("\n").rstrip()
    return code if _has_effect(whole_statements(code)) and not _is_too_deep(code) else ""


def codes(reply: Reply) -> list[str]:
    """The code of each text; one cut off at the token limit ends with a whole statement."""
    reasons = reply.finish_reasons or ("",) * len(reply.texts)
    blocks = [code_block(text) for text in reply.texts]
    return [
        whole_statements(code) if reason == "length" else code
        for code, reason in zip(blocks, reasons, strict=True)
    ]


def solution_in(reply: Reply, model: str) -> str:
    """The code of the first text; raises NoCodeError, saying what came instead, if it has none."""
    code = code_block(reply.text)
    if not code:
        raise no_code(model, reply.text, *reply.finish_reasons[:1])
    return code


def no_code(
    model: str, text: str, reason: str = "", *, limit: str = "solution-tokens"
) -> NoCodeError:
    """The error for a text that contains no solution and ended for ``reason``.

    ``limit`` is the setting that bounds such a text.
    """
    answer = text.strip()
    if reason == REFUSED:
        why = "refused to answer, or a filter of its server did"
    elif reason == "length" and not answer:
        why = f"used up the tokens of its reply before it answered: raise --set {limit}"
    elif not answer:
        why = "gave an empty answer"
    else:
        head = on_a_line(answer[:_QUOTED_CHARS])
        why = f"wrote no code but “{' '.join(head.split())}”"
    return NoCodeError(
        f"The model {model} {why}. Everything so far is saved; resume to ask again, or choose"
        " another model."
    )


def _blocks(text: str, *, is_whole: bool = True) -> Iterator[_Block]:
    """The fenced blocks, including those in a block that wraps the reply in Markdown once more.

    A fence in a docstring ends a block too early for Python: the block then extends to the first
    later fence that makes it valid.
    """
    lines, after = text.split("\n"), 0
    for token in _markdown().parse(text):
        if token.type != "fence" or token.map is None or token.map[0] < after:
            continue
        first, after = token.map
        if is_whole and _MARKDOWN.match(token.info):
            yield from _blocks(token.content, is_whole=False)
            continue
        code = token.content
        if not _parses(code):
            end = _later_end(lines, first, after, token.markup)
            code, after = ("\n".join(lines[first + 1 : end]), end + 1) if end else (code, after)
        yield _Block(token.info.strip(), code.strip("\n").rstrip())


def _later_end(lines: Sequence[str], first: int, after: int, fence: str) -> int | None:
    later = ((number, lines[number].strip()) for number in range(after, len(lines)))
    ends = (n for n, line in later if line.startswith(fence) and not line.strip(fence[0]))
    tries = islice(ends, _MOST_BLOCKS)
    return next((n for n in tries if _parses("\n".join(lines[first + 1 : n]))), None)


def _best(blocks: Sequence[_Block]) -> list[str]:
    """The code that counts, in order: all that is valid Python, or else the first as it is."""
    python = [one for one in blocks if one.is_python]
    other = [one for one in blocks if _has_effect(one.code)]
    plain = [one for one in other if not one.info]
    candidates = [one.code for one in python or plain or other]
    bare = [one.code for one in blocks if not one.info]
    valid = [code for code in candidates if _parses(code)]
    return valid or candidates[:1] or bare[:1]


def _joined(parts: Sequence[str]) -> str:
    code = parts[0] if parts else ""
    for part in parts[1:]:
        if not _goes_on(code, part):
            break
        code = f"{code}\n\n{part}"
    return "" if _is_too_deep(code) or does_nothing(code) else code


def _goes_on(code: str, part: str) -> bool:
    """Whether ``part`` reads what ``code`` binds and, imports aside, rebinds none of it."""
    first, then = _tree(code), _tree(part)
    if first is None or then is None:
        return False
    bound = syntax.bound(first)
    names = (node for node in ast.walk(then) if isinstance(node, ast.Name))
    again = (bound - set(syntax.imports(first))) & (syntax.bound(then) - set(syntax.imports(then)))
    return not again and any(one.id in bound and isinstance(one.ctx, ast.Load) for one in names)


def does_nothing(code: str) -> bool:
    """Whether it is Python with no statements other than ``pass`` and constants."""
    tree = _tree(code)
    return tree is not None and all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )


def _has_effect(code: str) -> bool:
    """Whether it is clearly Python; a single or hyphenated word is not, although it parses."""
    tree = _tree(code)
    effect_nodes = (ast.Call, ast.Subscript, ast.Attribute, ast.Await)
    return tree is not None and any(
        any(isinstance(inner, effect_nodes) for inner in ast.walk(node))
        if isinstance(node, ast.Expr)
        else not isinstance(node, ast.Pass)
        for node in tree.body
    )


def _is_too_deep(code: str) -> bool:
    try:
        level: list[ast.AST] = [ast.parse(textwrap.dedent(code))]
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True
    for _ in range(_DEEPEST):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
    return bool(level)


def _parses(code: str) -> bool:
    return _tree(code) is not None


def _tree(code: str) -> ast.Module | None:
    """The syntax tree of code that may be indented, such as a function's body."""
    return syntax.parsed(textwrap.dedent(code))


@lru_cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only blocks matter, and neither indentation nor an HTML tag may hide a fence.
    markdown = MarkdownIt("commonmark").disable(["code", "html_block"])
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return markdown
