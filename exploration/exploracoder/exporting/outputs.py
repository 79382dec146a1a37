"""Sanitize the outputs of a run, for viewing elsewhere."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

from exploracoder_kernel.observation import Observation

from exploracoder.texts import whole_text

_PICTURES = ("image/png", "image/jpeg", "image/gif")
_TAGS = (
    "a abbr b blockquote br caption code dd div dl dt em h1 h2 h3 h4 h5 h6 hr i li ol p pre small"
    " span strong sub sup table tbody td tfoot th thead tr ul"
)
_ATTRIBUTES = {"a": ["href", "title"], "td": ["colspan", "rowspan"], "th": ["colspan", "rowspan"]}
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


def harmless_outputs(observation: Observation) -> Iterator[dict[str, Any]]:
    """Yield nbformat 4.5 outputs in order, each in the richest of its forms that is safe.

    They are text streams, pictures, and HTML without active content.
    """
    from exploracoder_kernel.branch.text import without_colours

    said_error = False
    for output in observation.outputs:
        match output["output_type"]:
            case "stream":
                yield _text(without_colours(whole_text(output["text"])))
            case "error":
                said_error = True
                yield _text(f"{output['ename']}: {output['evalue']}")
            case _:
                yield _best(output["data"])
    if not observation.ran and not said_error:
        error = observation.error
        yield _text(
            f"{error.ename}: {error.evalue}" if error else f"It ended as {observation.status}."
        )


def _best(data: dict[str, object]) -> dict[str, Any]:
    plain = whole_text(data.get("text/plain", ""))
    for kind in _PICTURES:
        if kind in data:
            return _picture(kind, whole_text(data[kind]))
    if "image/svg+xml" in data:
        # Nothing in an SVG can run when it is the source of an image.
        source = b64encode(whole_text(data["image/svg+xml"]).encode()).decode()
        return _display("text/html", image("image/svg+xml", source), "A picture")
    if "text/html" in data:
        return _display("text/html", _harmless(whole_text(data["text/html"])), plain)
    return _text(plain or f"({', '.join(data) or 'nothing'})")


def _picture(kind: str, data: str) -> dict[str, Any]:
    try:
        whole = b64decode("".join(data.split()), validate=True)
    except ValueError:
        return _text("A picture that cannot be read.")
    return _display(kind, b64encode(whole).decode(), "A picture")


def image(kind: str, data: str) -> str:
    """HTML that shows a picture; ``data`` is base64."""
    return f'<img alt="Output" src="data:{kind};base64,{data}">'


def _harmless(markup: str) -> str:
    from nbconvert.preprocessors.sanitize import SanitizeHTML

    cleaner = SanitizeHTML(tags=_TAGS.split(), attributes=_ATTRIBUTES, strip=True)
    # The sanitizer would leave the contents of scripts and styles behind as text.
    return str(cleaner.sanitize_html_tags(_UNSEEN.sub("", markup)))


def _text(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _display(kind: str, content: str, plain: str) -> dict[str, Any]:
    data = {"text/plain": plain, kind: content}
    return {"output_type": "display_data", "data": data, "metadata": {}}
