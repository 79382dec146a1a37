"""Members that several classes share: what is found ten times is shown once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from exploracoder_retrieval.apidoc import ApiDoc, Hit


def one_of_each(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Of each shared member the first that comes; everything else as it is."""
    met: set[tuple[str, str]] = set()
    for hit in hits:
        marks = marks_of(hit.doc)
        if not met & marks:
            yield hit
        met |= marks


def with_others(hits: Sequence[Hit], k: int) -> list[tuple[Hit, tuple[str, ...]]]:
    """The k best things that were found, each with the paths of the same member elsewhere."""
    kept = list(one_of_each(hits))[:k]
    shown = {hit.doc.path for hit in kept}
    return [
        (
            hit,
            tuple(
                other.doc.path
                for other in hits
                if other.doc.path not in shown and marks_of(other.doc) & marks_of(hit.doc)
            ),
        )
        for hit in kept
    ]


def marks_of(doc: ApiDoc) -> set[tuple[str, str]]:
    """Docs that share one of them are one thing.

    Members are when they have one name and one description, or one name and the same parameters,
    whichever class they are met on.
    """
    if doc.kind not in ("method", "property", "attribute"):
        return {(doc.path, "")}
    name = doc.path.rpartition(".")[2]
    parameters = doc.signature.partition("(")[2]
    told = [doc.summary, "" if parameters.startswith(")") else parameters]
    return {(name, text) for text in told if text} or {(name, "")}
