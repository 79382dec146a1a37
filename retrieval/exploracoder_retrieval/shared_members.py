"""Members that several classes share: one found ten times is shown once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from exploracoder_retrieval.apidoc import ApiDoc, Hit

_MEMBERS = ("method", "property", "attribute")

# Docs that have a mark in common count as the same thing.
Marks = set[tuple[str, str]]


def one_of_each(hits: Iterable[Hit], marks_of: Callable[[ApiDoc], Marks]) -> Iterator[Hit]:
    """The hits with only the first of each shared member; everything else is unchanged."""
    seen_marks: Marks = set()
    for hit in hits:
        marks = marks_of(hit.doc)
        if not seen_marks & marks:
            yield hit
        seen_marks |= marks


def with_others(
    hits: Sequence[Hit], k: int, marks_of: Callable[[ApiDoc], Marks]
) -> list[tuple[Hit, tuple[str, ...]]]:
    """The k best distinct hits, each with the other paths of the member it shares."""
    best_hits = list(one_of_each(hits, marks_of))[:k]
    shown_paths = {hit.doc.path for hit in best_hits}
    return [
        (
            hit,
            tuple(
                other.doc.path
                for other in hits
                if other.doc.path not in shown_paths and marks_of(other.doc) & marks_of(hit.doc)
            ),
        )
        for hit in best_hits
    ]


def same(doc: ApiDoc) -> Marks:
    """The marks by which members are the same: one name and one location in the source.

    An override is a different member, however similar its docs. If the location is unknown, the
    whole docs have to be the same.
    """
    name = doc.path.rpartition(".")[2]
    text = doc.doc or doc.summary
    if doc.kind not in _MEMBERS or not (doc.file or text):
        return {(doc.path, "")}
    return {(name, f"{doc.file}:{doc.line}" if doc.file else text)}


def alike(doc: ApiDoc) -> Marks:
    """The marks by which members are so similar that one of them is enough in a result.

    They are if they have the same name and either the same summary or the same parameters,
    whichever class they are on.
    """
    if doc.kind not in _MEMBERS:
        return {(doc.path, "")}
    name = doc.path.rpartition(".")[2]
    parameters = doc.signature.partition("(")[2]
    texts = [doc.summary, "" if parameters.startswith(")") else parameters]
    return {(name, text) for text in texts if text} or {(name, "")}
