"""What a run showed, for the front end to show as outputs of a cell.

A front end trusts the outputs of widgets, scripts in them too, but this code was not run by the
user: pictures, text and HTML without scripts get through, and nothing else.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from exploracoder.exporting.blocks import Image, Markup, Written, shown
from exploracoder.exporting.markup import harmless
from exploracoder_kernel.observation import Observation

from exploracoder_jupyter.magics.faces.text import plain

_MOST_CHARS = 20_000
_UNREADABLE = "A picture that cannot be read."


def outputs_of(observation: Observation | None) -> tuple[dict[str, Any], ...]:
    """Outputs of nbformat 4.5, in order."""
    return tuple(_outputs(observation)) if observation is not None else ()


def _outputs(observation: Observation) -> Iterator[dict[str, Any]]:
    for block in shown(observation):
        match block:
            case Written(text):
                if text.strip():
                    yield _text(text)
            case Image(kind, data):
                yield _image(kind, data)
            case Markup(html, text):
                yield _display({"text/html": harmless(html), "text/plain": plain(text)})


def _text(text: str) -> dict[str, Any]:
    cut = plain(text)[:_MOST_CHARS].rstrip("\n")
    return {"output_type": "stream", "name": "stdout", "text": f"{cut}\n"}


def _image(kind: str, data: str) -> dict[str, Any]:
    """A picture; one in SVG is the source of an image, in which no script runs."""
    try:
        whole = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return _text(_UNREADABLE)
    clean = base64.b64encode(whole).decode("ascii")
    if kind == "image/svg+xml":
        source = f"data:{kind};base64,{clean}"
        return _display({"text/html": f'<img alt="Output of the candidate" src="{source}">'})
    return _display({kind: clean})


def _display(data: dict[str, str]) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "data": {"text/plain": "A picture", **data},
        "metadata": {},
    }
