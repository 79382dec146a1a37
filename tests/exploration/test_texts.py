"""Sentences that keep what they were made of."""

from __future__ import annotations

import copy

import pytest
from exploracoder.errors import CommandError
from exploracoder.events import Progress
from exploracoder.texts import Text, joined, parts_of, words_of


def test_a_text_is_its_sentence_and_knows_its_template() -> None:
    text = Text("%1 comes before %2.", "step-1", 2)

    assert text == "step-1 comes before 2."
    assert parts_of(text) == ("%1 comes before %2.", ("step-1", "2"))
    assert parts_of(copy.deepcopy(text)) == parts_of(text)
    assert parts_of("Working") == ("Working", ())


@pytest.mark.parametrize("value", ["%1", "%2", "50 %", r"\1", ""])
def test_values_are_taken_as_they_are(value: str) -> None:
    assert Text("<%1>", value) == f"<{value}>"


def test_an_error_says_its_text() -> None:
    text = Text("%1 is done.", "step-1")

    assert words_of(CommandError(text)) is text
    assert words_of(CommandError("No.")) == "No."
    assert words_of(ValueError()) == ""


def test_one_sentence_stays_a_text_when_it_is_joined_with_none() -> None:
    text = Text("%1 is done.", "step-1")

    assert joined([text]) is text
    assert joined([text, "Go on."]) == "step-1 is done. Go on."
    assert joined([]) == ""


def test_progress_travels_with_what_a_page_translates() -> None:
    progress = Progress().model_copy(update={"message": Text("Exploring: %1", "tea")})

    data = progress.model_dump(mode="json")

    assert data["message"] == "Exploring: tea"
    assert data["message_parts"] == {"template": "Exploring: %1", "values": ["tea"]}
    assert data["error_parts"] == {"template": "", "values": []}
