"""Docs taken apart for a page: parts, Markdown, and what hostile or odd docs become."""

from __future__ import annotations

import time

import pytest
from exploracoder_retrieval.docpage import MAX_DOC_CHARS, DocEntry, DocPage, doc_page
from exploracoder_retrieval.prose import as_markdown

NUMPY = """Pour ``water`` into a :class:`~tealeaf.Cup`.

It steeps, too.

Parameters
----------
water : float, optional
    How much, in :obj:`ml`.
cup, saucer : Cup, default None
    What it is poured into.

Returns
-------
Tea
    What is drunk.

Raises
------
ValueError
    If the cup is <full>.

Notes
-----
Mind the steam.

Examples
--------
>>> pour(200)
Tea(200)
"""
GOOGLE = """Pour.

Args:
    water (float): How much,
        in ml.
    cup: What it is poured into.

Yields:
    Tea: What is drunk.

Raises:
    ValueError: If it is full.
"""
REST = """Pour.

:param float water: How much.
:param cup: What it is poured into.
:returns: What is drunk.
:rtype: Tea
:raises ValueError: If it is full.
"""


def entries(page: DocPage, kind: str) -> tuple[DocEntry, ...]:
    return next(part.entries for part in page.parts if part.kind == kind)


def test_numpy_docs_are_taken_apart() -> None:
    page = doc_page("pour", NUMPY)

    water, cup = entries(page, "parameters")
    assert (water.name, water.type, water.text) == (
        "water",
        "float, optional",
        "How much, in `ml`.",
    )
    assert (cup.name, cup.type) == ("cup, saucer", "Cup, default None")
    assert entries(page, "returns") == (DocEntry(type="Tea", text="What is drunk."),)
    assert entries(page, "raises") == (
        DocEntry(type="ValueError", text="If the cup is &lt;full>."),
    )
    assert page.text == (
        "Pour ``water`` into a `tealeaf.Cup`.\n\nIt steeps, too.\n\n**Notes**\n\nMind the steam."
    )


def test_google_docs_are_taken_apart() -> None:
    page = doc_page("pour", GOOGLE)

    assert [part.kind for part in page.parts] == ["parameters", "yields", "raises"]
    assert entries(page, "parameters")[0] == DocEntry(
        name="water", type="float", text="How much,\nin ml."
    )


def test_fields_of_restructured_text_are_taken_apart() -> None:
    page = doc_page("pour", REST)

    assert page.text == "Pour."
    assert [entry.name for entry in entries(page, "parameters")] == ["water", "cup"]
    assert entries(page, "returns") == (DocEntry(type="Tea", text="What is drunk."),)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("Plain <nav> & more.", "Plain &lt;nav> &amp; more."),
        ("`<nav>` stays", "`<nav>` stays"),
        ("Takes *args, **kwargs; *really*.", r"Takes \*args, \**kwargs; *really*."),
        ("See `the docs <https://tea.example>`_.", "See [the docs](https://tea.example)."),
        (".. note:: Hot.\n   Very.", "**Note:** Hot.\nVery."),
        (".. image:: http://tea.example/x.png\n   :alt: x\n\nTea.", "Tea."),
        (".. code-block:: bash\n\n   ls <a>", "```\nls <a>\n```"),
        ("So::\n\n  a <b>\n\nEnd.", "So:\n\n```\na <b>\n```\n\nEnd."),
        ("- one\n- two\n\n# Title", "- one\n- two\n\n# Title"),
        ("```bash\n<a>\n```", "```bash\n<a>\n```"),
        ("", ""),
    ],
)
def test_prose_becomes_markdown_without_html(text: str, markdown: str) -> None:
    assert as_markdown(text).replace("\n\n\n", "\n\n") == markdown


def test_code_that_stands_among_the_examples_is_left_out() -> None:
    text = "Pour.\n\n>>> pour(1)\n1\n\nOr::\n\n    pour(2)\n\n```python\npour(3)\n```\n\nDone."

    assert "pour(" not in doc_page("pour", text).text
    assert "Or:" in doc_page("pour", text).text


def test_the_call_that_compiled_docs_begin_with_is_left_out() -> None:
    assert doc_page("pour", "pour(water) -> Tea\n\nPour it.").text == "Pour it."


def test_directives_may_stand_in_directives() -> None:
    text = "\n".join(f"{' ' * depth}.. note:: {depth}" for depth in range(300))

    assert as_markdown(text).count("**Note:**") == 300


@pytest.mark.parametrize(
    "part",
    ["a ", "`", "*a", "<", ":a", "Args:\n  x (", "Parameters\n---\nx\n  a\n", "x::\n", ".. a::\n",
     ">>> a\n", "```\n", ":param ", " ", "\n", "`a <", "[a](", "**"],
)  # fmt: skip
def test_odd_docs_take_no_long_time(part: str) -> None:
    # What the machine does besides does not count.
    began = time.process_time()
    doc_page("pour", part * (MAX_DOC_CHARS // len(part)))

    assert time.process_time() - began < 3
