"""Members that several classes share: what is found ten times is shown once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from exploracoder_retrieval.apidoc import ApiDoc, Hit

_MEMBERS = ("method", "property", "attribute")

# Docs that share one of them are one thing.
Marks = set[tuple[str, str]]


def one_of_each(hits: Iterable[Hit], marks_of: Callable[[ApiDoc], Marks]) -> Iterator[Hit]:
    """Of each shared member the first that comes; everything else as it is."""
    seen_marks: Marks = set()
    for hit in hits:
        marks = marks_of(hit.doc)
        if not seen_marks & marks:
            yield hit
        seen_marks |= marks


def with_others(
    hits: Sequence[Hit], k: int, marks_of: Callable[[ApiDoc], Marks]
) -> list[tuple[Hit, tuple[str, ...]]]:
    """The k best things that were found, each with the paths of the shared member elsewhere."""
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
    """The marks by which members are the same: one name and one place in the source.

    What a class overrides is another thing, however alike the docs. Where no place is known, the
    whole docs have to be the same.
    """
    name = doc.path.rpartition(".")[2]
    text = doc.doc or doc.summary
    if doc.kind not in _MEMBERS or not (doc.file or text):
        return {(doc.path, "")}
    return {(name, f"{doc.file}:{doc.line}" if doc.file else text)}


def alike(doc: ApiDoc) -> Marks:
    """The marks by which members are alike enough that one of them leaves room for other things.

    They are when they have one name and one summary, or one name and the same parameters, whichever
    class they are met on.
    """
    if doc.kind not in _MEMBERS:
        return {(doc.path, "")}
    name = doc.path.rpartition(".")[2]
    parameters = doc.signature.partition("(")[2]
    texts = [doc.summary, "" if parameters.startswith(")") else parameters]
    return {(name, text) for text in texts if text} or {(name, "")}
