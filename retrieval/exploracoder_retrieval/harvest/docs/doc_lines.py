"""Files of ApiDocs: one JSON object per line, plain or gzipped."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any, get_args

from pydantic import ValidationError

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind
from exploracoder_retrieval.files import open_regular, without_surrogates
from exploracoder_retrieval.harvest.docs.pieces import (
    DOTTED,
    Page,
    UnreadableDocs,
    clean,
    guess_kind,
)
from exploracoder_retrieval.harvest.docstrings import find_examples, summarise
from exploracoder_retrieval.harvest.signatures import clip_signature

MAX_LINE_BYTES = 2_000_000
MAX_LINES = 2_000_000
MAX_ALL_BYTES = 4_000_000_000
_KINDS = frozenset(get_args(ApiKind))


def read_lines(page: Page, on_skip: Callable[[str, str], None]) -> Iterator[ApiDoc]:
    """The ApiDocs of ``{path, kind, signature, summary, doc, …}`` lines.

    Unknown fields are ignored. ``library`` is always the page's, whatever a line says; a line that
    does not say where its text comes from counts as the place itself. An unusable line is skipped
    with a reason.

    Raises:
        UnreadableDocs: the file is damaged or too large.
        UnreadableSource: it cannot be opened.
    """
    line_of: dict[str, int] = {}
    for number, line in _numbered(page):
        if not line.strip():
            continue
        try:
            doc = _api(page, number, _object(line))
        except ValueError as error:
            on_skip(f"{page.path}:{number}", str(error))
            continue
        if doc.path in line_of:
            on_skip(f"{page.path}:{number}", f"{doc.path} is in line {line_of[doc.path]} already")
            continue
        line_of[doc.path] = number
        yield doc


def _numbered(page: Page) -> Iterator[tuple[int, bytes]]:
    is_packed = page.path.suffix == ".gz"
    try:
        with open_regular(page.path) as plain, gzip.open(plain) if is_packed else plain as file:
            left_bytes = MAX_ALL_BYTES
            for number in range(1, MAX_LINES + 1):
                line = file.readline(MAX_LINE_BYTES + 1)
                if not line:
                    return
                left_bytes -= len(line)
                if left_bytes < 0:
                    raise UnreadableDocs(f"it unpacks to more than {MAX_ALL_BYTES} bytes")
                if len(line) > MAX_LINE_BYTES:
                    raise UnreadableDocs(f"line {number} is longer than {MAX_LINE_BYTES} bytes")
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UnreadableDocs("it is damaged: it cannot be unpacked to its end") from None
    raise UnreadableDocs(f"it has more than {MAX_LINES} lines")


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
        if b"\\u" in line:  # an escape may stand for half a character
            value = json.loads(without_surrogates(json.dumps(value, ensure_ascii=False)))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON") from None
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value


def _api(page: Page, number: int, fields: dict[str, Any]) -> ApiDoc:
    path = fields.get("path")
    if not isinstance(path, str) or not DOTTED.fullmatch(path):
        raise ValueError("its path is no dotted Python name")
    texts = {key: fields.get(key) or "" for key in ("signature", "summary", "doc")}
    if wrong := [key for key, value in texts.items() if not isinstance(value, str)]:
        raise ValueError(f"its {wrong[0]} is no text")
    doc = clean(texts["doc"])
    kind = fields.get("kind")
    place = {key: fields[key] for key in ("file", "line", "url") if fields.get(key)}
    try:
        return ApiDoc(
            path=path,
            kind=kind if kind in _KINDS else guess_kind(path),
            library=page.library,
            signature=clip_signature(clean(texts["signature"])),
            summary=clean(texts["summary"]) or summarise(doc),
            doc=doc,
            examples=tuple(fields.get("examples") or ()) or find_examples(doc),
            aliases=tuple(fields.get("aliases") or ()),
            **(place if "file" in place or "url" in place else page.place(number)),
        )
    except (ValidationError, TypeError) as error:
        fault = error.errors()[0]["loc"][0] if isinstance(error, ValidationError) else "aliases"
        raise ValueError(f"its {fault} is not what an ApiDoc has there") from None
