"""What was retrieved, weighed by the library's examples and the variables at hand."""

from __future__ import annotations

import pytest
from exploracoder.engine.knowing.sieve import sift
from exploracoder.engine.reading.known_apis import KnownApis, names_used
from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apidoc import ApiDoc, ApiKind, Hit


def api(path: str, kind: ApiKind = "function", summary: str = "") -> ApiDoc:
    return ApiDoc(path=path, kind=kind, library="tea", summary=summary)


DOCS = [
    api("tea.MAX", "attribute"),
    api("tea.brew"),
    api("tea.Pan", "class"),
    api("tea.Kettle", "class"),
    api("tea.Pan.boil", "method", "Boil it."),
    api("tea.Kettle.boil", "method", "Boil."),
    api("tea.Jug.boil", "method", "Boil."),
]


QUERY = "boil the water"


def order(
    *variables: Variable, used: frozenset[str] = frozenset(), query: str = QUERY
) -> list[str]:
    hits = [Hit(doc=doc, score=1.0) for doc in DOCS]
    return [hit.doc.path for hit in sift(query, hits, KnownApis(DOCS), used, variables)]


def test_a_member_that_classes_share_is_shown_once() -> None:
    paths = order()

    assert "tea.Kettle.boil" in paths
    assert "tea.Pan.boil" in paths
    assert "tea.Jug.boil" not in paths


def test_what_a_class_overrides_stays_however_alike_it_is() -> None:
    docs = [
        api(f"tea.{owner}.boil", "method", "Boil.").model_copy(
            update={"file": "a.py", "line": line}
        )
        for owner, line in [("Jug", 3), ("Pot", 3), ("Urn", 9)]
    ]
    hits = [Hit(doc=doc, score=1.0) for doc in docs]

    best_hits = sift(QUERY, hits, KnownApis(docs), (), ())

    assert [hit.doc.path for hit in best_hits] == ["tea.Jug.boil", "tea.Urn.boil"]


def test_a_constant_gives_way() -> None:
    assert order().index("tea.brew") < order().index("tea.MAX")


def test_what_the_examples_use_comes_first() -> None:
    used_names = names_used(["pan = Pan()\npan.fry(egg)"])

    assert {"Pan", "fry", "egg"} <= used_names
    assert order(used=used_names)[0] == "tea.Pan"


def test_what_classes_share_leaves_room_for_the_next_thing() -> None:
    many = [api(f"tea.Jug{n}.boil", "method", "Boil.") for n in range(9)]
    pour = api("tea.Jug.pour", "method", "Pour.")
    hits = [Hit(doc=doc, score=1.0) for doc in [*many, pour]]
    alone = [Hit(doc=doc, score=1.0) for doc in [many[0], pour]]
    apis = KnownApis([*many, pour])

    assert sift(QUERY, hits, apis, (), ()) == sift(QUERY, alone, apis, (), ())


def test_members_of_live_types_rise_and_stand_for_their_like() -> None:
    jug = Variable(name="jug", type="tea.Jug")
    docs = [*DOCS, api("tea.Jug", "class")]
    hits = [Hit(doc=doc, score=1.0) for doc in docs]
    live = [hit.doc.path for hit in sift(QUERY, hits, KnownApis(docs), frozenset(), [jug])]

    assert live.index("tea.Jug.boil") < order().index("tea.Kettle.boil")
    assert "tea.Kettle.boil" not in live


def test_nothing_retrieved_is_nothing_sifted() -> None:
    assert sift("", [], KnownApis([]), frozenset(), []) == ()


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Make a TeaPot, then brew", "tea.TeaPot"),
        ("Warm it with `warm_up`", "tea.TeaPot.warm_up"),
        ("Say it in XML", "tea.XML"),
    ],
    ids=["class", "method", "capitals"],
)
def test_what_a_query_calls_by_its_name_comes_first(query: str, first: str) -> None:
    named_docs = [api("tea.TeaPot", "class"), api("tea.TeaPot.warm_up", "method"), api("tea.XML")]
    hits = [Hit(doc=doc, score=1.0) for doc in DOCS]
    best_hits = sift(query, hits, KnownApis([*DOCS, *named_docs]), frozenset({"brew"}), ())

    assert best_hits[0].doc.path == first
    assert "tea.brew" in [hit.doc.path for hit in best_hits]


def test_an_abbreviation_in_prose_is_no_constant() -> None:
    docs = [*DOCS, api("tea.Leaf.HTML", "attribute")]
    hits = [Hit(doc=doc, score=1.0) for doc in DOCS]

    assert docs[-1] not in [
        hit.doc for hit in sift("Say it in HTML", hits, KnownApis(docs), (), ())
    ]


def test_a_common_word_names_nothing() -> None:
    assert order(query="brew it with a Kettle")[0] == order()[0]


def test_a_name_that_was_also_retrieved_is_shown_once() -> None:
    pot = api("tea.TeaPot", "class")
    hits = [Hit(doc=doc, score=1.0) for doc in (*DOCS, pot)]
    best_hits = sift("a TeaPot", hits, KnownApis([*DOCS, pot]), frozenset(), ())

    assert [hit.doc.path for hit in best_hits].count("tea.TeaPot") == 1
