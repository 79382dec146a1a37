"""What is shown: the same content in three faces, and nothing in it does anything."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from exploracoder.events import Progress
from exploracoder.state import Attempt, Candidate, Search, Solution
from exploracoder_jupyter.magics.faces.html_face import as_html
from exploracoder_jupyter.magics.faces.terminal_face import print_page
from exploracoder_jupyter.magics.faces.text_face import as_text
from exploracoder_jupyter.magics.page_blocks import (
    Code,
    Fold,
    Heading,
    Line,
    Output,
    Page,
    Rich,
    Table,
)
from exploracoder_jupyter.magics.pages import candidate, exploration_page
from exploracoder_kernel.observation import ErrorReport, Observation
from exploration.samples import exploration, printed

EVIL = '<script>alert("x")</script> [red]x[/red] \x1b[2J\x9b2J'
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nleaf").decode("ascii")


def page(text: str) -> Page:
    """Every kind of block with the same text in it."""
    inner = (Code(text), Output(text, "bad"))
    table = Table(((text, "cell"),), ("head", text))
    return Page((Heading(text), Line(text, "good"), table, Fold(text, inner), Rich("", text)))


def test_no_face_obeys_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    html, text = as_html(page(EVIL)), as_text(page(EVIL))
    print_page(page(EVIL))
    terminal = capsys.readouterr().out

    assert "<script" not in html
    assert "&lt;script&gt;" in html
    for face in (html, text, terminal):
        assert "\x1b" not in face
        assert "\x9b" not in face
        assert "[red]x[/red]" in face


def test_every_face_says_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["title", "said", "cell", "fold", "x = 1", "printed"]
    inner = (Code("x = 1"), Output("printed"))
    whole = Page((Heading("title"), Line("said"), Table((("cell",),)), Fold("fold", inner)))
    print_page(whole)

    for face in (as_html(whole), as_text(whole), capsys.readouterr().out):
        assert [word for word in words if word not in face] == []


def displayed(**data: str) -> dict[str, Any]:
    kinds = {name.replace("_", "/", 1).replace("_", "+"): text for name, text in data.items()}
    return {"output_type": "display_data", "data": kinds, "metadata": {}}


def ran(*outputs: dict[str, Any]) -> Page:
    """A page with a candidate that put these out."""
    observation = Observation(status="ok", outputs=outputs)
    one = Candidate(id="step-1/1", code="x", origin="draft", observation=observation)
    return Page(tuple(candidate(1, one, is_proposed=True)))


def test_outputs_are_rich_and_run_nothing() -> None:
    candidate_page = ran(
        displayed(image_png=f"{PNG}\n", text_plain="a leaf"),
        displayed(text_html=f"<table><tr><td>5</td></tr></table>{EVIL}", text_plain="five"),
        displayed(image_svg_xml=f"<svg>{EVIL}</svg>"),
        displayed(application_javascript="alert(1)", text_plain="of a script"),
        displayed(image_png='" onerror="alert(1)'),
        {"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m\n"},
    )
    html, text = as_html(candidate_page), as_text(candidate_page)

    assert f'<img alt="Output" src="data:image/png;base64,{PNG}">' in html
    assert "<td>5</td>" in html
    assert '<img alt="Output" src="data:image/svg+xml;base64,' in html
    assert "cannot be read" in html
    assert all(phrase in html for phrase in ("of a script", ">red<"))
    assert "<script" not in html
    assert "<svg" not in html
    assert "onerror" not in html
    assert all(phrase in text for phrase in ("A picture", "five", "of a script", "red"))
    assert "<" not in text


def test_a_candidate_that_failed_shows_its_error() -> None:
    error = ErrorReport(ename="AttributeError", evalue="no attribute 'reed'")
    observation = Observation(status="error", error=error)
    one = Candidate(id="step-1/1", code="x", origin="draft", observation=observation)

    blocks = tuple(candidate(1, one, is_proposed=False))

    assert blocks[-1] == Output("AttributeError: no attribute 'reed'", "bad")


def test_searches_are_shown_at_their_place_in_the_solution() -> None:
    search = Search(line=2, query="name the leaves", answer="tealeaf.name(leaf)")
    attempt = Attempt(code="x = 1\ny = 2", observation=printed(""), searches=(search,))
    sample = exploration(solution=Solution(attempts=(attempt,)))

    text = as_text(exploration_page(sample, Progress(), "tea.ipynb"))

    card = "# searched 'name the leaves': tealeaf.name(leaf)"
    assert [line.strip() for line in text.splitlines() if line.strip() in ("y = 2", card)] == [
        card,
        "y = 2",
    ]
