"""How values stand in prompts."""

from __future__ import annotations

from exploracoder.engine.reading.value_text import (
    clip,
    describe_api,
    describe_error,
    describe_output,
    describe_variable,
)
from exploracoder_kernel.observation import ErrorReport, Observation, Variable
from exploracoder_retrieval.apidoc import ApiDoc


def test_a_short_text_is_not_clipped() -> None:
    assert clip("tea", 3) == "tea"


def test_a_long_text_keeps_head_and_tail_and_says_what_is_left_out() -> None:
    text = clip("h" * 600 + "t" * 400, 300)

    assert text.startswith("h" * 200)
    assert text.endswith("t" * 100)
    assert "700 characters left out" in text


def test_an_api_says_how_to_import_it() -> None:
    doc = ApiDoc(
        path="tea.brew",
        kind="function",
        library="tea",
        signature="brew(leaf)",
        summary="Brew.",
        doc="Brew.",
        aliases=(".brewed", "tea.kettle.brew"),
    )

    assert describe_api(doc, 100) == (
        "- from tea import brew: brew(leaf) (also written .brewed)\n  Brew."
    )


def test_a_long_doc_gives_way_to_its_summary_and_first_example() -> None:
    doc = ApiDoc(
        path="tea.Pot.pour",
        kind="method",
        library="tea",
        signature="pour(cup)",
        summary="Pour.",
        doc="Pour. " + "Very long. " * 100,
        examples=("pot.pour(cup)",),
    )

    assert describe_api(doc, 200) == "- pour(cup)\n  Pour.\n  pot.pour(cup)"


def test_notes_stand_below_the_text_as_far_as_there_is_room() -> None:
    doc = ApiDoc(
        path="tea.Pot.pour",
        kind="method",
        library="tea",
        signature="pour(cup)",
        doc="Pour.",
        notes=("how is one of: 'slow', 'fast'", "Raises: " + "Error, " * 40, "Cup has: size"),
    )

    description = describe_api(doc, 150)

    assert description == "- pour(cup)\n  Pour.\n  how is one of: 'slow', 'fast'\n  Cup has: size"


def test_a_variable_shows_type_size_and_value() -> None:
    assert describe_variable(Variable(name="a", type="list", length=2, preview="[1, 2]")) == (
        "- a: list, length 2 = [1, 2]"
    )
    assert "shape (2, 3)" in describe_variable(Variable(name="a", type="array", shape=(2, 3)))
    broken = Variable(name="a", type="Flow", preview_error="ValueError: no")
    assert "fails when it is read: ValueError: no" in describe_variable(broken)


def test_an_output_is_what_was_printed_and_returned() -> None:
    observation = Observation(status="ok", stdout="one\n", result="2")

    assert describe_output(observation, 100) == "one\n2"


def test_where_objects_lie_in_memory_is_left_out() -> None:
    pot = Variable(name="pot", type="tea.Pot", preview="<tea.Pot object at 0x7efc3b22f050>")
    observation = Observation(status="ok", result="<Leaf at 0x7f3e52a22f10, dry>, <_ at 0x40>")

    assert describe_variable(pot) == "- pot: tea.Pot = <tea.Pot object>"
    assert describe_output(observation, 100) == "<Leaf, dry>, <_ at 0x40>"
    cut = Variable(name="all", type="list", preview="[<tea.Leaf at 0x7f3…")
    assert describe_variable(cut) == "- all: list = [<tea.Leaf…"


def test_an_error_names_the_line_of_the_snippet() -> None:
    error = ErrorReport(ename="NameError", evalue="name 'y' is not defined", line=2)
    observation = Observation(status="error", error=error)

    assert describe_error(observation, "x = 1\n  y", 200) == (
        "line 2: y\nNameError: name 'y' is not defined"
    )


def test_an_end_without_an_error_is_named() -> None:
    assert "timeout" in describe_error(Observation(status="timeout"), "x", 100)
