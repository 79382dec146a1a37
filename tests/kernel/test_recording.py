"""What was written is kept within bounds, in order."""

from __future__ import annotations

from typing import Any

import pytest
from exploracoder_kernel.branch.text import left_out, shorten, without_colours
from exploracoder_kernel.recording import Recorder
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.text(max_size=12), max_size=20), st.integers(min_value=0, max_value=40))
def test_a_stream_is_cut_like_one_text_however_it_arrives(parts: list[str], limit: int) -> None:
    recorder = Recorder(limit)

    for part in parts:
        recorder.feed("stdout", part.encode("utf-8", "replace"))
    recorder.finish()

    whole = "".join(part.encode("utf-8", "replace").decode() for part in parts)
    assert recorder.text("stdout") == shorten(whole, limit)
    assert recorder.is_truncated == (len(whole) > limit)


def test_characters_split_between_reads_are_joined() -> None:
    recorder = Recorder(100)
    data = "Grüße €".encode()

    for byte in data:
        recorder.feed("stdout", bytes([byte]))
    recorder.feed("stdout", b"\xff\xe2")
    recorder.finish()

    assert recorder.text("stdout") == "Grüße €\ufffd\ufffd"


def test_outputs_keep_the_order_of_streams_and_displays() -> None:
    recorder = Recorder(100)

    recorder.feed("stdout", b"a")
    recorder.feed("stdout", b"b")
    recorder.add({"output_type": "display_data", "data": {"text/plain": "X"}, "metadata": {}})
    recorder.feed("stderr", b"c")
    recorder.feed("stdout", b"d")

    texts = [output.get("text", "X") for output in recorder.outputs()]
    assert texts == ["ab", "X", "c", "d"]


def test_outputs_beyond_two_hundred_are_left_out() -> None:
    recorder = Recorder(100)

    for _ in range(1000):
        recorder.add({"output_type": "display_data", "data": {"text/plain": "X"}, "metadata": {}})

    assert len(recorder.outputs()) == 200


@given(st.lists(st.text(max_size=12), max_size=20), st.integers(min_value=0, max_value=40))
def test_what_was_shown_of_a_stream_is_what_is_kept_of_it(parts: list[str], limit: int) -> None:
    texts: list[str] = []
    recorder = Recorder(limit, lambda output: texts.append(output["text"]))

    for part in parts:
        recorder.feed("stdout", part.encode("utf-8", "replace"))
    recorder.finish()

    assert "".join(texts) == recorder.text("stdout")


def test_an_update_changes_only_outputs_with_its_id() -> None:
    recorder = Recorder(100)
    for display_id in ("a", "b", "a"):
        recorder.add(_display("old", display_id))

    recorder.add({**_display("new", "a"), "output_type": "update_display_data"})
    recorder.add({**_display("no such", "z"), "output_type": "update_display_data"})

    texts = [output["data"]["text/plain"] for output in recorder.outputs()]
    assert texts == ["new", "old", "new"]


def test_clearing_makes_room_for_more() -> None:
    recorder = Recorder(4)
    recorder.feed("stdout", b"abcdefgh")

    recorder.add({"output_type": "clear_output", "wait": True})
    recorder.feed("stdout", b"new")
    recorder.finish()

    assert recorder.text("stdout") == "new"
    assert not recorder.is_truncated


def test_messages_of_widgets_are_no_outputs() -> None:
    types: list[str] = []
    recorder = Recorder(100, lambda output: types.append(output["output_type"]))

    recorder.add({"output_type": "comm_msg", "comm_id": "c", "data": {}})

    assert recorder.outputs() == ()
    assert types == ["comm_msg"]


@pytest.mark.parametrize(("limit", "kept"), [(4, ("ab", "yz")), (3, ("ab", "z")), (0, ("", ""))])
def test_the_middle_is_left_out_and_counted(limit: int, kept: tuple[str, str]) -> None:
    text = "abcdefuvwxyz"

    assert shorten(text, limit) == kept[0] + left_out(len(text) - limit) + kept[1]


def test_colours_are_taken_out() -> None:
    assert without_colours("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link") == "red link"


def _display(text: str, display_id: str) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "data": {"text/plain": text},
        "metadata": {},
        "transient": {"display_id": display_id},
    }
