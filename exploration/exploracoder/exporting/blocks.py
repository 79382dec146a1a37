"""What a report is made of. Texts in it are plain: each writer escapes them in its own way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exploracoder_kernel.observation import Observation


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; ``level`` counts from 1."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list; each item is a text and, where it has one, the address that it leads to."""

    items: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Python code."""

    code: str


@dataclass(frozen=True, slots=True)
class Fold:
    """What is shown on demand where that is possible."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Flowchart:
    """A picture in the words of Mermaid."""

    mermaid: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a run wrote: a stream, a value, an error."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that a run showed; ``data`` is base64."""

    kind: str
    data: str


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML that a run showed, and the text that stands for it."""

    html: str
    text: str


Block = Heading | Text | Items | Code | Fold | Flowchart | Written | Image | Markup
_PICTURES = ("image/png", "image/jpeg", "image/gif")


def shown(observation: Observation) -> Iterator[Block]:
    """What a run showed, in order; of one thing in several forms the richest that is harmless."""
    from exploracoder_kernel.branch.text import without_colours

    for output in observation.outputs:
        match output["output_type"]:
            case "stream":
                yield Written(without_colours(_joined(output["text"])))
            case "error":
                yield Written(f"{output['ename']}: {output['evalue']}")
            case _:
                yield _best(output["data"])
    if not observation.ran and not any(
        output["output_type"] == "error" for output in observation.outputs
    ):
        error = observation.error
        yield Written(
            f"{error.ename}: {error.evalue}" if error else f"It ended as {observation.status}."
        )


def _best(data: dict[str, object]) -> Block:
    from base64 import b64encode

    plain = _joined(data.get("text/plain", ""))
    for kind in _PICTURES:
        if kind in data:
            return Image(kind, "".join(_joined(data[kind]).split()))
    if "image/svg+xml" in data:
        # As the source of an image nothing in it can run.
        return Image("image/svg+xml", b64encode(_joined(data["image/svg+xml"]).encode()).decode())
    if "text/html" in data:
        return Markup(_joined(data["text/html"]), plain)
    return Written(plain or f"({', '.join(data) or 'nothing'})")


def _joined(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list | tuple) else str(text)
