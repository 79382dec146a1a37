"""Words, sentences and the joining of rankings."""

from __future__ import annotations

import pytest
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embedded_words import index_text, split_identifier, words
from exploracoder_retrieval.fusion import fuse
from exploracoder_retrieval.harvest.docstrings import code_fences, find_examples, summarise


@pytest.mark.parametrize(
    ("identifier", "pieces"),
    [
        ("KnowledgeFrame", ["knowledge", "frame"]),
        ("read_csv2", ["read", "csv", "2"]),
        ("HTTPServer", ["http", "server"]),
        ("toISOString", ["to", "iso", "string"]),
        ("größe_max", ["größe", "max"]),
        ("__init__", ["init"]),
    ],
)
def test_identifiers_are_split_where_people_read_words(identifier: str, pieces: list[str]) -> None:
    assert split_identifier(identifier) == tuple(pieces)


def test_words_are_stemmed_and_whole_identifiers_are_kept() -> None:
    assert words("the batches of IterDataPipe") == ["batch", "iterdatapip", "iter", "data", "pipe"]


def test_an_undocumented_api_is_worded_by_its_name_and_signature() -> None:
    doc = ApiDoc(
        path="brew.steep_leaves",
        kind="function",
        library="brew",
        signature="steep_leaves(minutes)",
        aliases=(".steep", "brew.pots.steep_leaves"),
    )

    assert index_text(doc) == "brew.steep_leaves steep steep leaves steep_leaves(minutes)"


def test_fusion_adds_up_reciprocal_ranks() -> None:
    ranking = fuse([["a", "b", "c"], ["c", "a"]], constant=5)

    assert [item for item, _ in ranking] == ["a", "c", "b"]
    assert ranking[0][1] == pytest.approx(1 / 6 + 1 / 7)


def test_a_small_constant_favours_a_first_place() -> None:
    rankings = [["winner", "x", "both"], ["y", "z", "both"]]

    assert fuse(rankings, constant=0)[0][0] == "winner"
    assert fuse(rankings, constant=60)[0][0] == "both"


@pytest.mark.parametrize(
    ("doc", "summary"),
    [
        ("", ""),
        ("One sentence. Another.", "One sentence."),
        ("Uses numpy 1.26, i.e. arrays. More.", "Uses numpy 1.26, i.e. arrays."),
        ("Title\n=====\n\nText.", "Title"),
        ("Over\n    two lines\n\n    Args: x", "Over two lines"),
        ("See [the docs](http://x) and **bold** `code`.", "See the docs and bold code."),
        ("Return a :py:func:`~brew.steep` of ``it``.", "Return a brew.steep of it."),
        (".. deprecated:: 2\n\nStill works.", "Still works."),
        ("word " * 100, ("word " * 39).strip() + "…"),
    ],
)
def test_a_summary_is_the_first_sentence_in_plain_words(doc: str, summary: str) -> None:
    assert summarise(doc) == summary


def test_examples_come_from_doctests_fences_and_code_blocks() -> None:
    doc = (
        "Do it.\n\n>>> x = 1\n>>> for i in x:\n...     i\n1\n\nThen this:\n\n>>> y\n2\n\n"
        "```python\nz = 3\n```\n\n```bash\nls\n```\n\n.. code-block:: python\n\n    w = 4\n"
    )

    assert find_examples(doc) == ("z = 3", "x = 1\nfor i in x:\n    i", "y", "w = 4")


def test_a_fence_of_doctests_is_given_without_prompts() -> None:
    assert [code for _, code in code_fences("```pycon\n>>> a = 1\n>>> a\n1\n```")] == ["a = 1\na"]
