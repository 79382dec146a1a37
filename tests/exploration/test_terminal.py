"""What models, servers and libraries say is text on a terminal and does nothing else."""

from __future__ import annotations

import re

import pytest

from .conftest import Command, Explorer, Serve
from .scripted import SOLUTION, TeaModel, fenced

STEERING = "\x1b[2J\x1b]8;;http://evil.example\x07x\x1b]8;;\x07\x9b1m\u202e\u2066\x00"
_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("form", ["words", "JSON"])
def test_nothing_that_a_model_writes_steers_the_terminal(
    form: str, explore: Explorer, serve: Serve
) -> None:
    code = f"{SOLUTION}\n# {STEERING[:-1]}"
    server = serve(TeaModel(solutions=[fenced(code)], goals=[f"Read it {STEERING}"]))
    more = ["--json"] if form == "JSON" else []
    words = explore.words(server, *explore.files(), *more)
    result = explore.run(*(word for word in words if word != "--quiet"))

    assert result.code == 0, result.err
    assert not _UNSEEN.search(result.out + result.err)
    assert "strong_names" in result.out
    solution = explore.exploration.solution
    assert solution is not None
    assert form == "words" or result.json["solution"] == solution.final.code


def test_an_error_does_not_steer_the_terminal_either(command: Command) -> None:
    result = command("explore", "x", "--library", f"no{STEERING[:-1]}pe")

    assert result.code == 2
    assert not _UNSEEN.search(result.err)


def test_half_a_character_in_a_task_neither_stops_nor_is_sent(
    explore: Explorer, serve: Serve
) -> None:
    server = serve(TeaModel())
    words = explore.words(server, *explore.files(), "--json", task="Name the \udcff leaves.")
    result = explore.run(*words)

    assert result.code == 0
    assert explore.exploration.task.text == "Name the ? leaves."
    assert "\udcff" not in "".join(map(str, (request.body for request in server.requests)))
