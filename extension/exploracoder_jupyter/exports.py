"""An exploration as a file to download."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from exploracoder import document
from exploracoder.errors import CommandError, InputError
from exploracoder.state import Exploration


@dataclass(frozen=True, slots=True)
class Download:
    """A file's name, its type, and what is in it."""

    name: str
    media_type: str
    text: str


async def export(exploration: Exploration, form: str) -> Download:
    """The solution (``py``), or all of it (``md``, ``ipynb``).

    Raises InputError for another form, CommandError when there is no solution yet.
    """
    if form == "py":
        if exploration.solution is None:
            raise CommandError("There is no solution yet. Synthesize it first.")
        text = _script(exploration)
        return Download("solution.py", "text/x-python; charset=utf-8", text)
    if form not in ("md", "ipynb"):
        raise InputError(f"An exploration can be exported as py, md or ipynb, not as {form!r}.")
    made = document.to_notebook(exploration)
    text = await asyncio.to_thread(_markdown if form == "md" else _notebook, made)
    media_type = "text/markdown; charset=utf-8" if form == "md" else "application/x-ipynb+json"
    return Download(f"exploration.{form}", media_type, text)


def _script(exploration: Exploration) -> str:
    assert exploration.solution is not None
    final = exploration.solution.final
    verdict = document.verification(exploration).replace("**", "")
    context = f"{exploration.task.context.strip()}\n\n" if exploration.task.context else ""
    heading = "\n".join(f"# {line}".rstrip() for line in verdict.splitlines())
    return f"{heading}\n\n{context}{final.code.strip()}\n"


def _notebook(made: Any) -> str:
    import nbformat

    return str(nbformat.writes(made, version=nbformat.NO_CONVERT)) + "\n"


def _markdown(made: Any) -> str:
    from nbconvert.exporters import MarkdownExporter
    from traitlets.config import Config

    # One file is downloaded: pictures stay in it.
    options = Config({"ExtractOutputPreprocessor": {"enabled": False}})
    exporter: Any = MarkdownExporter
    text, _ = exporter(config=options).from_notebook_node(made)
    return str(text)
