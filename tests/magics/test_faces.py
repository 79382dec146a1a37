"""What is shown: the same content in three faces, and nothing in it does anything."""

from __future__ import annotations

import base64

import pytest
from exploracoder.events import Progress
from exploracoder.state import Attempt, Search, Solution
from exploracoder_jupyter.magics.faces.html import as_html
from exploracoder_jupyter.magics.faces.terminal import print_page
from exploracoder_jupyter.magics.faces.text import as_text
from exploracoder_jupyter.magics.page import (
    Code,
    Fold,
    Heading,
    Line,
    Output,
    Page,
    Picture,
    Table,
)
from exploracoder_jupyter.magics.pages import exploration_page
from exploration.samples import exploration, printed

EVIL = '<script>alert("x")</script> [red]x[/red] \x1b[2J\x9b2J'
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nleaf").decode("ascii")


def page(text: str) -> Page:
    """Every kind of block with the same text in it."""
    inner = (Code(text), Output(text, "bad"))
    table = Table(((text, "cell"),), ("head", text))
    return Page((Heading(text), Line(text, "good"), table, Fold(text, inner), Picture(text)))


def test_no_face_obeys_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    html, text = as_html(page(EVIL)), as_text(page(EVIL))
    print_page(page(EVIL))
    printed = capsys.readouterr().out

    assert "<script" not in html
    assert "&lt;script&gt;" in html
    for shown in (html, text, printed):
        assert "\x1b" not in shown
        assert "\x9b" not in shown
        assert "[red]x[/red]" in shown


def test_every_face_says_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["title", "said", "cell", "fold", "x = 1", "printed"]
    inner = (Code("x = 1"), Output("printed"))
    whole = Page((Heading("title"), Line("said"), Table((("cell",),)), Fold("fold", inner)))
    print_page(whole)

    for shown in (as_html(whole), as_text(whole), capsys.readouterr().out):
        assert [word for word in words if word not in shown] == []


def test_a_picture_is_an_image_only_when_it_is_one() -> None:
    good = as_html(Page((Picture(PNG),)))
    bad = as_html(Page((Picture('" onerror="alert(1)'),)))

    assert f'src="data:image/png;base64,{PNG}"' in good
    assert "onerror" not in bad
    assert "cannot be read" in bad


def test_searches_are_shown_at_their_place_in_the_solution() -> None:
    search = Search(line=2, query="name the leaves", answer="tealeaf.name(leaf)")
    attempt = Attempt(code="x = 1\ny = 2", observation=printed(""), searches=(search,))
    explored = exploration(solution=Solution(attempts=(attempt,)))

    shown = as_text(exploration_page(explored, Progress(), "tea.ipynb"))

    card = "# searched 'name the leaves': tealeaf.name(leaf)"
    assert [line.strip() for line in shown.splitlines() if line.strip() in ("y = 2", card)] == [
        card,
        "y = 2",
    ]
