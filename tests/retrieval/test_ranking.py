"""What is found first, and why: the promises of the ranking, each on a small library of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from exploracoder_retrieval.apidoc import ApiDoc, ApiKind
from exploracoder_retrieval.embedded_words import words
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.harvest import Harvest, LibraryInfo, UsageExample
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.ranking.candidates import FEATURES, Query, learned_weights
from exploracoder_retrieval.ranking.clauses import MAX_CLAUSES, clauses
from exploracoder_retrieval.ranking.field_index import FieldIndex
from exploracoder_retrieval.ranking.name_index import NameIndex
from exploracoder_retrieval.ranking.searched_fields import (
    FIELD_WEIGHTS,
    FIELDS,
    field_words,
)
from exploracoder_retrieval.ranking.standing import STANDING, figures, standing
from exploracoder_retrieval.ranking.usage_counts import read_usage
from exploracoder_retrieval.search import query_vectors


def api(path: str, summary: str = "", *, kind: ApiKind = "function", **more: object) -> ApiDoc:
    doc = str(more.pop("doc", summary))
    return ApiDoc.model_validate(
        {"path": path, "kind": kind, "library": path.partition(".")[0], "summary": summary}
        | {"doc": doc, **more}
    )


def harvest_of(docs: Sequence[ApiDoc], *examples: str) -> Harvest:
    name = docs[0].library
    library = LibraryInfo(
        name=name,
        import_name=name,
        version="1",
        source="module",
        root="",
        overview="",
        examples=tuple(UsageExample(code=code, title="", origin="README") for code in examples),
    )
    return Harvest(library=library, docs=tuple(docs), skipped=())


def find(folder: Path, embedder: MiniLmEmbedder, query: str, harvest: Harvest) -> list[str]:
    with Index.open(folder, embedder) as index:
        index.update(harvest)
        return [hit.doc.path for hit in index.search(query)]


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("Sort the rows.", ()),
        ("Read the file, then shuffle its lines", ("Read the file", "shuffle its lines")),
        ("Load tables and join both tables.\nPlot it", ("Load tables", "join both tables")),
        ("", ()),
        ("?!,;. and and", ()),
    ],
)
def test_a_query_falls_into_the_clauses_that_say_something(
    query: str, parts: tuple[str, ...]
) -> None:
    assert clauses(query) == parts


def test_a_long_query_has_a_bounded_number_of_clauses() -> None:
    assert len(clauses("boil the water, " * 100)) == MAX_CLAUSES


def test_what_is_embedded_and_the_rest_of_a_doc_are_searched_apart() -> None:
    doc = api(
        "brew.tools.Kettle.boil_water",
        "Heat it.",
        kind="method",
        signature="boil_water(self, degrees)",
        doc="Heat it. Stops by itself.",
        aliases=(".boil",),
    )

    assert dict(zip(FIELDS, field_words(doc), strict=True)) == {
        "brief": words("brew.tools.Kettle.boil_water boil Heat it"),
        "body": words("Stops by itself"),
    }


def test_a_rare_word_is_worth_more_than_a_frequent_one() -> None:
    docs = [api("brew.a", "Pour tea."), api("brew.b", "Pour milk."), api("brew.c", "Pour tea.")]
    index = FieldIndex.build([field_words(doc) for doc in docs])

    assert index.rarity("milk") > index.rarity("tea") > index.rarity("pour") > 0


def test_a_word_that_several_fields_and_clauses_hold_counts_in_each() -> None:
    docs = [api("brew.pour_tea", "Pour.", doc="Pour. Of tea."), api("brew.boil", doc="For tea.")]
    index = FieldIndex.build([field_words(doc) for doc in docs])

    by_field, shared = index.scores([["pour", "tea"], ["tea"], ["milk"]])

    brief, body = FIELDS.index("brief"), FIELDS.index("body")
    assert by_field[brief, 0] > 0 == by_field[brief, 1]
    assert (by_field[body] > 0).all()
    np.testing.assert_allclose(shared[0], np.asarray(FIELD_WEIGHTS) @ by_field, rtol=1e-5)
    assert (shared[0] > shared[1]).tolist() == [True, False]
    assert not shared[2].any()


def test_names_are_covered_by_the_words_of_a_query_the_best_name_counting(tmp_path: Path) -> None:
    docs = [
        api("tea.pour_slowly", aliases=(".pour", "tea.old.drip")),
        api("tea.pour_slowly_again"),
        api("tea.Green_Kettle.at", kind="method"),
    ]
    NameIndex.build(docs, lambda _: 1.0).save(tmp_path / "names")
    index = NameIndex.load(tmp_path / "names", len(docs))

    coverage = index.covered(["pour", "kettl"], lambda _: 1.0)

    np.testing.assert_allclose(coverage, [1.0, 1 / 3, 0.0], atol=1e-6)


def test_names_of_another_number_of_apis_are_refused(tmp_path: Path) -> None:
    NameIndex.build([api("tea.pour")], lambda _: 1.0).save(tmp_path / "names")

    with pytest.raises(IndexCorrupt, match="damaged"):
        NameIndex.load(tmp_path / "names", 2)


def test_usage_tells_functions_of_a_module_from_members_of_objects() -> None:
    docs = [
        api("tea.shape", kind="function"),
        api("tea.Leaf.shape", kind="property"),
        api("tea.old.shape", kind="function"),
        api("tea.Leaf", kind="class"),
        api("tea.a", doc=">>> import tea as t\n>>> t.shape(1)\n>>> leaf.shape"),
        api("tea.b", doc=">>> Leaf().shape"),
        api("tea.c", doc=">>> tea.old.shape(1)"),
    ]
    usage = read_usage(docs, ["x.shape"])

    assert "t" in usage.modules
    assert [usage.of(doc) for doc in docs[:4]] == [1, 4, 1, 1]


def test_an_apis_own_examples_do_not_speak_for_it() -> None:
    docs = [api("tea.pour", doc=">>> tea.pour(1)"), api("tea.steep", doc=">>> tea.pour(2)")]

    assert [read_usage(docs).of(doc) for doc in docs] == [1, 0]


def test_what_the_examples_use_stands_higher(tmp_path: Path, embedder: MiniLmEmbedder) -> None:
    docs = [api(f"tea.{name}", "Open a box of leaves.") for name in ("first", "second", "third")]
    examples = ["tea.third(1)", "tea.third(2)", "tea.third('green')"]

    assert find(tmp_path / "used", embedder, "open a box", harvest_of(docs, *examples))[0] == (
        "tea.third"
    )


def test_a_single_use_says_little_in_a_library_that_is_hardly_used(
    tmp_path: Path, embedder: MiniLmEmbedder
) -> None:
    docs = [api(f"tea.filler_{n}", f"Paint wall number {n}.") for n in range(30)]
    docs += [api("tea.steep", "Steep the leaves."), api("tea.weigh", "Weigh the leaves.")]

    paths = find(tmp_path, embedder, "steep the leaves", harvest_of(docs, "tea.weigh(3)"))

    assert paths[0] == "tea.steep"


def test_of_one_name_on_many_classes_the_one_that_is_spoken_of_comes_first(
    tmp_path: Path, embedder: MiniLmEmbedder
) -> None:
    owners = ("Ark", "Bag", "Cup", "Tin")
    docs = [api(f"tea.{owner}.sort", "Sort the leaves.", kind="method") for owner in owners]
    docs += [api(f"tea.make_{n}", f"Make number {n} into a Tin.") for n in range(6)]
    examples = [f"tea.make_{n}({n})" for n in range(6)]

    paths = find(tmp_path, embedder, "sort the leaves", harvest_of(docs, *examples))

    assert paths[0] == "tea.Tin.sort"


def test_an_exception_is_not_offered_for_what_it_complains_about(
    tmp_path: Path, embedder: MiniLmEmbedder
) -> None:
    docs = [
        api("tea.BoilError", "Boil the water.", kind="class"),
        api("tea.Boil", "Boil the water.", kind="class"),
    ]

    assert find(tmp_path, embedder, "boil the water", harvest_of(docs))[0] == "tea.Boil"


def test_each_clause_brings_in_its_own_api(tmp_path: Path, embedder: MiniLmEmbedder) -> None:
    fillers = [api(f"tea.filler_{n}", f"Paint wall number {n} in bright red.") for n in range(40)]
    docs = [
        *fillers,
        api("tea.fetch", "Download an archive from a web address."),
        api("tea.gather", "Count how often every word occurs."),
    ]
    query = "Download the archive from its address, then count the words"

    assert set(find(tmp_path, embedder, query, harvest_of(docs))[:2]) == {
        "tea.fetch",
        "tea.gather",
    }


def test_the_clauses_of_a_long_task_stand_for_it_and_a_short_one_for_itself(
    embedder: MiniLmEmbedder,
) -> None:
    shopping = "fetch the whole shopping list from the web page of the store around the corner"
    counting = "count how often each word occurs in the list that was fetched before"
    short, long = Query(("fetch, count", "fetch", "count")), f"{shopping}, then {counting}"
    own, vectors = query_vectors([short, Query((long, shopping, counting))], embedder)

    assert np.allclose(own[0], embedder.embed(["fetch, count"])[0], atol=1e-2)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.5
    assert vectors[0] @ vectors[2] > 0.5
    assert vectors[0] @ embedder.embed([long])[0] > 0.8
    assert not np.allclose(vectors[0], embedder.embed([long])[0], atol=1e-2)


def test_a_task_of_many_clauses_is_embedded_whole(embedder: MiniLmEmbedder) -> None:
    parts = tuple(f"take the next {colour} box from the shelf" for colour in "ABCDE")
    whole = ", ".join(parts)

    assert np.allclose(
        query_vectors([Query((whole, *parts))], embedder)[0][0],
        embedder.embed([whole])[0],
        atol=1e-2,
    )


def test_standing_is_finite_for_any_library() -> None:
    empty, nothing = standing(figures([]), {})
    bare, something = standing(figures([api("tea.x")]), {0: 2})

    assert empty.shape == (0, len(STANDING))
    assert bare.shape == (1, len(STANDING))
    assert np.isfinite(bare).all()
    assert 0 == nothing < something < 1


def test_scores_are_parts_of_the_best_hits_score(tmp_path: Path, embedder: MiniLmEmbedder) -> None:
    docs = [api("tea.pour", "Pour tea."), api("tea.paint", "Paint a wall.")]
    with Index.open(tmp_path, embedder) as index:
        index.update(harvest_of(docs))
        hits = index.search("pour some tea")

    assert hits[0].score == 1.0
    assert 0.0 < hits[1].score < 1.0


def test_scores_of_libraries_that_are_searched_together_can_be_compared(
    tmp_path: Path, embedder: MiniLmEmbedder
) -> None:
    with Index.open(tmp_path, embedder) as index:
        index.update(harvest_of([api("tea.pour", "Pour tea."), api("tea.steep", "Steep leaves.")]))
        index.update(harvest_of([api("wall.paint", "Paint a wall."), api("wall.dry", "Let dry.")]))
        hits = index.search("paint the wall red")

    assert hits[0].doc.path == "wall.paint"


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    file = resources.files("exploracoder_retrieval") / "data" / "weights.json"
    content = json.loads(file.read_text(encoding="utf-8"))

    assert set(content["weights"]) == set(FEATURES)
    assert "exploracoder_bench.recall" in content["learned_by"]
    assert np.isfinite(learned_weights()).all()
