"""HTML pages as Sphinx and mkdocstrings write them: descriptions of APIs, and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind
from exploracoder_retrieval.harvest.docs.code import ImportsSoFar
from exploracoder_retrieval.harvest.docs.pieces import (
    DOTTED,
    KINDS,
    Page,
    Passage,
    Piece,
    clean,
    guess_kind,
)
from exploracoder_retrieval.harvest.docstrings import code_fences, find_examples, summarise
from exploracoder_retrieval.harvest.signatures import clip_signature

if TYPE_CHECKING:
    from bs4 import Tag

# Elements that are not text, Sphinx's links beside names, mkdocstrings' labels and source code.
_NO_TEXT = (
    "script, style, nav, template, noscript, a.headerlink, .viewcode-link, .doc-labels, "
    "details.quote, details.mkdocstrings-source"
)
_HEADINGS = re.compile(r"^h[1-6]$")
_BLOCKS = ["p", "pre", "dt", "li", "dd"]
_SPACES = re.compile(r"([(\[])\s+|\s+([)\],])")
_MARKS = re.compile(r"[¶\uf0c1]|#\s*$")


def read_html(page: Page, text: str) -> Iterator[Piece]:
    """The APIs that a page describes, then its code and the paragraphs outside descriptions."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "html.parser")
    for tag in soup.select(_NO_TEXT):
        tag.decompose()
    body: Any = soup.select_one('[role="main"]') or soup.find("main") or soup.body or soup
    descriptions: list[Tag] = []
    for element in body.find_all(id=DOTTED):
        doc = _described(page, element)
        if doc is not None:
            descriptions.append(element.parent if element.name == "dt" else element)
            yield doc
    for element in descriptions:
        # An API's own description does not count as a mention of it.
        if element.name == "dl":
            element.extract()
    yield from _passages(page, body)


def _described(page: Page, element: Tag) -> ApiDoc | None:
    path = str(element["id"])
    if not DOTTED.fullmatch(path) or not path.startswith(f"{page.import_name}."):
        return None
    if element.name == "dt":
        kind = _kind(element.parent, path)
        block = element.find_next_sibling("dd")
        text = _text_of(block) if block else ""
    elif _HEADINGS.match(element.name):
        kind = guess_kind(path)
        text = _text_below(element)
    else:
        return None
    signature = _signature(_heading_signature(element) or element, path)
    return page.api(
        path,
        kind,
        page.place(element.sourceline, path),
        signature=signature,
        summary=summarise(text),
        doc=text,
        examples=find_examples(text),
    )


def _kind(owner: Tag | None, path: str) -> ApiKind:
    classes = _classes(owner) if owner is not None else []
    return next((KINDS[name] for name in classes if name in KINDS), guess_kind(path))


def _classes(element: Tag) -> list[str]:
    return [str(name) for name in element.get_attribute_list("class")]


def _heading_signature(heading: Tag) -> Tag | None:
    """The block below a heading in which mkdocstrings may put the signature."""
    block = heading.find_next(class_="doc-signature") if heading.name != "dt" else None
    if block is None or block.find_previous(_HEADINGS) is not heading:
        return None
    return block


def _signature(element: Tag, path: str) -> str:
    text = " ".join(_MARKS.sub("", element.get_text()).split()).replace("→", "->")
    text = _SPACES.sub(lambda match: match[1] or match[2], text)
    owner, _, name = path.rpartition(".")
    # Any words may precede the name: class, property, the module.
    name_match = re.search(rf"(?<!\w){re.escape(name)}\s*(?P<rest>[(:=].*|$)", text)
    rest = name_match["rest"] if name_match else ""
    call = f"{name} {rest}" if rest.startswith("=") else f"{name}{rest}"
    is_member = owner.rpartition(".")[2][:1].isupper()
    signature = f"{owner.rpartition('.')[2]}.{call}" if is_member else call
    return clip_signature(clean(signature))


def _text_of(block: Tag) -> str:
    """A description's paragraphs and code, without those of members described inside it."""
    lines = []
    for part in block.find_all(_BLOCKS):
        owner = part.find_parent("dl", class_="py")
        is_own = owner is None or owner is block.find_parent("dl")
        if is_own and _is_said(part):
            lines.append(_block(part))
    return clean("\n\n".join(line for line in lines if line)) or clean(
        block.get_text() if not block.find("dl") else ""
    )


def _text_below(heading: Tag) -> str:
    lines = []
    for part in heading.find_all_next([*_BLOCKS, re.compile(r"^h[1-6]$")]):
        if _HEADINGS.match(part.name):
            break
        if _is_said(part):
            lines.append(_block(part))
    return clean("\n\n".join(line for line in lines if line))


def _is_said(part: Tag) -> bool:
    """Whether a block has text that is neither in a block inside it nor a signature or bases."""
    if part.name in {"li", "dd"} and part.find(["p", "pre"]):
        return False
    is_signature = part.name == "pre" and part.find_parent(class_="doc-signature") is not None
    return not is_signature and not part.get_text().lstrip().startswith("Bases:")


def _block(part: Tag) -> str:
    if part.name == "pre":
        return f"```python\n{part.get_text().strip(chr(10))}\n```"
    for code in part.find_all("code"):
        if not code.find_parent("pre"):
            code.string = f"`{code.get_text()}`"
    text = " ".join(part.get_text().split())
    return f"- {text}" if part.name == "li" else text


def _passages(page: Page, body: Tag) -> Iterator[Passage]:
    title, imports = "", ImportsSoFar()
    for part in body.find_all([*_BLOCKS, re.compile(r"^h[1-6]$")]):
        place = page.place(part.sourceline, _anchor(part))
        if _HEADINGS.match(part.name):
            title = clean(_MARKS.sub("", part.get_text()))[:200]
        elif part.name == "pre" and _is_said(part):
            for _, code in code_fences(_block(part)):
                yield Passage("example", clean(code), title, place, imports.before(code))
        elif part.name in {"p", "li"} and part.find("code") and not part.find("p"):
            yield Passage("text", clean(_block(part)), title, place)


def _anchor(part: Tag) -> str:
    section = part.find_parent(["section", "div"], id=True)
    return str(section["id"]) if section is not None else ""
