"""A member that several classes share is one thing."""

from __future__ import annotations

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind, Hit
from exploracoder_retrieval.shared_members import alike, one_of_each, same, with_others


def hit(path: str, kind: ApiKind = "method", signature: str = "", summary: str = "") -> Hit:
    doc = ApiDoc(path=path, kind=kind, library="tea", signature=signature, summary=summary)
    return Hit(doc=doc, score=1.0)


HITS = [
    hit("tea.Kettle.boil", summary="Boil."),
    hit("tea.Pan.boil", summary="Boil."),
    hit("tea.boil", "function", summary="Boil."),
    hit("tea.Jug.boil", signature="boil(self, hot)"),
    hit("tea.Pot.boil", signature="boil(self, hot)", summary="Boil."),
    hit("tea.Pot.fill", summary="Fill it."),
]


def test_of_a_shared_member_the_best_is_kept() -> None:
    paths = [one.doc.path for one in one_of_each(HITS, alike)]

    assert paths == ["tea.Kettle.boil", "tea.boil", "tea.Jug.boil", "tea.Pot.fill"]


def test_what_is_written_elsewhere_is_another_thing_however_alike() -> None:
    hits = []
    for path, line in [("tea.Pot.boil", 3), ("tea.Tin.boil", 9), ("tea.Pan.boil", 3)]:
        one = hit(path, signature="boil(self)", summary="Boil.")
        place = {"file": "tea.py", "line": line}
        hits.append(one.model_copy(update={"doc": one.doc.model_copy(update=place)}))

    groups = [(one.doc.path, others) for one, others in with_others(hits, 3, same)]

    assert groups == [("tea.Pot.boil", ("tea.Pan.boil",)), ("tea.Tin.boil", ())]


def test_where_else_it_is_found_is_said() -> None:
    first, second = with_others(HITS, 2, alike)

    assert first[0].doc.path == "tea.Kettle.boil"
    assert first[1] == ("tea.Pan.boil", "tea.Pot.boil")
    assert (second[0].doc.path, second[1]) == ("tea.boil", ())
