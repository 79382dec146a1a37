"""An exploration as a file to download."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from exploracoder import document, exporting
from exploracoder.errors import InputError
from exploracoder.state import Exploration


@dataclass(frozen=True, slots=True)
class Download:
    """A file's name, media type and content."""

    name: str
    media_type: str
    text: str


async def export(exploration: Exploration, form: str) -> Download:
    """Export the solution (``py``) or the whole exploration (``md``, ``ipynb``).

    Raises InputError for any other form, CommandError when there is no solution yet.
    """
    if form == "py":
        text = await asyncio.to_thread(exporting.export, exploration, "py")
        return Download("solution.py", "text/x-python; charset=utf-8", text)
    if form == "md":
        text = await asyncio.to_thread(exporting.export, exploration, "md")
        return Download("exploration.md", "text/markdown; charset=utf-8", text)
    if form != "ipynb":
        raise InputError(f"An exploration can be exported as py, md or ipynb, not as {form!r}.")
    text = await asyncio.to_thread(_notebook, document.to_notebook(exploration))
    return Download("exploration.ipynb", "application/x-ipynb+json", text)


def _notebook(notebook: Any) -> str:
    import nbformat

    return str(nbformat.writes(notebook, version=nbformat.NO_CONVERT)) + "\n"
