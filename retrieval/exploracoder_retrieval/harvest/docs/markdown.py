"""Markdown and MyST: directives and headings that describe an API, code, and prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.harvest.docs.code import ImportsSoFar
from exploracoder_retrieval.harvest.docs.pieces import (
    KINDS,
    Page,
    Passage,
    Piece,
    Place,
    clean,
    guess_kind,
    split_call,
)
from exploracoder_retrieval.harvest.docstrings import code_fences, find_examples, summarise
from exploracoder_retrieval.harvest.signatures import clip_signature

if TYPE_CHECKING:
    from markdown_it.token import Token

_DIRECTIVE = re.compile(
    r"^\{(?:py:)?(?P<kind>function|class|method|classmethod|staticmethod|exception|property|"
    r"attribute|data|decorator)\}\s*(?P<call>.+)$"
)
_CODE = re.compile(r"^\{(?:code-block|code-cell|code|doctest|testcode|sourcecode)\}\s*(?P<of>\S*)")
_OPTION = re.compile(r"^:[\w-]+:.*\n?", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def read_markdown(page: Page, text: str) -> Iterator[Piece]:
    """APIs from directives and from headings such as ``lib.f(a, b)``, code, and paragraphs."""
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(text)
    if front:  # replaced by empty lines, so that line numbers stay right
        text = "\n" * front[0].count("\n") + text[front.end() :]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    yield from _headed(page, text, tokens)
    title, imports = "", ImportsSoFar()
    for number, token in enumerate(tokens):
        place = page.place(token.map[0] + 1) if token.map else page.place()
        if token.type == "fence":
            yield from _fence(page, token, title, place, imports)
        elif token.type == "inline" and tokens[number - 1].type == "heading_open":
            title = clean(token.content)[:200]
        elif token.type == "inline" and "`" in token.content:
            yield Passage("text", clean(token.content), title, place)


def _fence(
    page: Page, token: Token, title: str, place: Place, imports: ImportsSoFar
) -> Iterator[Piece]:
    info = token.info.strip()
    directive, code = _DIRECTIVE.match(info), _CODE.match(info)
    if directive:
        doc = _defined(page, directive["call"], token.content, place, directive["kind"])
        if doc is not None:
            yield doc
        return
    language = code["of"] or "python" if code else info.partition(" ")[0]
    content = _OPTION.sub("", token.content) if code else token.content
    for _, each in code_fences(f"```{language}\n{content.rstrip()}\n```\n"):
        yield Passage("example", clean(each), title, place, imports.before(each))


def _headed(page: Page, text: str, tokens: list[Token]) -> Iterator[ApiDoc]:
    """The APIs named by headings, each with the text up to the next heading."""
    lines = text.splitlines()
    starts = [number for number, token in enumerate(tokens) if token.type == "heading_open"]
    for number, next_start in zip(starts, [*starts[1:], None], strict=True):
        first = tokens[number].map
        last = tokens[next_start].map if next_start is not None else None
        call = tokens[number + 1].content.replace("\\_", "_").strip("` ")
        if first is None or not call.startswith(f"{page.import_name}."):
            continue
        body = "\n".join(lines[first[1] : last[0] if last else None])
        doc = _defined(page, call, body, page.place(first[0] + 1), "")
        if doc is not None:
            yield doc


def _defined(page: Page, call: str, text: str, place: Place, kind: str) -> ApiDoc | None:
    parts = split_call(call.split("{", 1)[0].strip())
    if parts is None:
        return None
    path, signature = parts
    if not path.startswith(f"{page.import_name}."):
        path = f"{page.import_name}.{path}"
    doc = clean(_OPTION.sub("", text))
    return page.api(
        path,
        KINDS.get(kind) or guess_kind(path, is_call=bool(signature)),
        place,
        signature=clip_signature(clean(signature) or path.rpartition(".")[2]),
        summary=summarise(doc),
        doc=doc,
        examples=find_examples(doc),
    )
