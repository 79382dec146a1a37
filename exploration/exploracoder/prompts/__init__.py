"""The prompts: one Markdown file each, a version in its head, a part for each message.

A file starts with ``version: N`` and an empty line; ``# name`` opens a part, whose text is a Jinja
template. What stays the same comes first in each conversation, so that a server's prefix cache
works. Docs, outputs and code are data, and so is what a model wrote of docs: templates put them
between fences or quotes, with the filters ``fenced`` and ``quoted``.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def render(name: str, part: str, **values: object) -> str:
    """The text of one part of the prompt ``name``; a value that is missing is an error."""
    template = _environment().from_string(_parts(name)[part])
    return re.sub(r"\n{3,}", "\n\n", template.render(**values)).strip()


def fenced(text: str, language: str, sign: str = "~") -> str:
    """``text`` between fences that are longer than any in it, so that it cannot end them."""
    longest = max((len(run) for run in re.findall(f"{sign}+", text)), default=0)
    fence = sign * max(3, 1 + longest)
    return f"{fence}{language}\n{text}\n{fence}"


def as_code(code: str, language: str = "python") -> str:
    """Code between backticks, as a model or a notebook has it."""
    return fenced(code, language, "`")


def quoted(text: str) -> str:
    """``text`` as one line between quotes, in which it can be nothing but data."""
    return json.dumps(text, ensure_ascii=False)


def fingerprint(name: str) -> str:
    """The version and the first digits of the SHA-256 of a prompt's file."""
    text = _text(name)
    version = text.split("\n", 1)[0].removeprefix("version:").strip()
    return f"{version}:{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def names() -> tuple[str, ...]:
    """The prompts there are."""
    return tuple(
        sorted(
            entry.name.removesuffix(".md")
            for entry in files(__package__).iterdir()
            if entry.name.endswith(".md") and entry.name != "README.md"
        )
    )


def fingerprints() -> dict[str, str]:
    """Every prompt's fingerprint, for the notebook's metadata."""
    return {name: fingerprint(name) for name in names()}


@lru_cache
def _text(name: str) -> str:
    return (files(__package__) / f"{name}.md").read_text(encoding="utf-8")


@lru_cache
def _parts(name: str) -> dict[str, str]:
    pieces = re.split(r"^# (\w+)$", _text(name), flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@lru_cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    # Prompts are plain text for a model, not HTML for a browser: escaping would change the code.
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters.update(fenced=fenced, quoted=quoted)
    return environment
