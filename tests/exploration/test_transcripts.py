"""Whole runs with the replies that a strong model gave once, up to the end that they had then.

`CONTRIBUTING.md` says how one is made. ``REGENERATE_GOLDEN=1`` writes anew how they end.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from exploracoder import document
from exploracoder.state import Attempt, Exploration
from exploracoder.testing import Drop, Failure, RecordedRequest
from exploracoder.testing import Outcome as Answer

from .conftest import Command, Outcome, Serve, model_words
from .golden_files import golden

FOLDER = Path(__file__).with_name("transcripts")
# Its docs say next to nothing: what it gives has to be looked at.
KETTLE = FOLDER / "packages" / "kettle"
LIBRARIES = {
    "a_function": "tealeaf/",
    "live_data": KETTLE,
    "units_left_open": KETTLE,
    "variables_with_a_check": "tealeaf/",
}
TOO_MUCH = Failure(400, "The transcript has no more replies.")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A task, and what a model replied on the way to its solution."""

    name: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def replies(self) -> list[str]:
        """The replies in order."""
        return [line["reply"] for line in self._lines()]

    @property
    def kinds(self) -> Counter[str]:
        """How many replies were given to requests of each kind."""
        return Counter(line["kind"] for line in self._lines())

    @property
    def words(self) -> list[object]:
        """The command's words, without model and notebook."""
        words: list[object] = ["explore", "-", "--library", LIBRARIES[self.name], "--json"]
        words += ["--context", self.folder / "context.py"]
        check = self.folder / "check.py"
        return [*words, "--check", check] if check.exists() else words

    def _lines(self) -> list[dict[str, str]]:
        text = (self.folder / "replies.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


class Replies:
    """A model that answers with one reply after another, whatever it is asked."""

    def __init__(self, replies: list[str], then: Answer = TOO_MUCH) -> None:
        self._left: Iterator[str] = iter(replies)
        self._then = then

    def __call__(self, request: RecordedRequest) -> Answer:
        return next(self._left, self._then)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return tmp_path / "tea.ipynb"


@pytest.fixture(autouse=True)
def wide_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of a run is not broken into lines."""
    monkeypatch.setenv("COLUMNS", "500")


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_run_ends_as_it_ended_with_these_replies(
    serve: Serve, command: Command, notebook: Path, name: str
) -> None:
    transcript = Transcript(name)
    server = serve(Replies(transcript.replies))
    model = model_words(server)
    outcome = explored(transcript, command, *model, "--output", notebook)
    resumption = command("resume", notebook, *model, "--json", "--quiet")
    replay = command("replay", notebook, "--json")
    end = said(outcome) | end_of(document.load(notebook))
    text = json.dumps(end, indent=2, ensure_ascii=False) + "\n"

    assert (outcome.code, resumption.code, replay.code) == (0, 0, 0)
    assert server.chat_requests[0].is_stream
    assert asked(outcome) == transcript.kinds
    assert len(server.chat_requests) == len(transcript.replies)
    assert text == golden("ended.json", text, transcript.folder)
    nbformat.validate(json.loads(notebook.read_text(encoding="utf-8")))
    assert "Nothing is left to do" in resumption.err
    assert {cell["result"] for cell in replay.json["cells"]} == {"same"}


@pytest.mark.slow
def test_a_run_whose_server_goes_away_after_a_reply_is_saved_and_goes_on(
    serve: Serve, command: Command, notebook: Path
) -> None:
    transcript = Transcript("units_left_open")
    first, *others = transcript.replies
    first_server = serve(Replies([first], then=Drop()))
    broken = explored(transcript, command, *model_words(first_server), "--output", notebook)
    exploration = document.load(notebook)
    server = serve(Replies(others))
    resumption = command("resume", notebook, *model_words(server), "--json", "--quiet")
    golden_end = json.loads((transcript.folder / "ended.json").read_text(encoding="utf-8"))
    golden_end.pop("said")

    assert broken.code == 2
    assert broken.json["error_kind"] == "model"
    assert {step.status for step in exploration.steps} == {"done"}
    assert exploration.written.solution
    assert resumption.code == 0
    assert len(server.chat_requests) == len(others)
    assert end_of(document.load(notebook)) == golden_end


def explored(transcript: Transcript, command: Command, *more: object) -> Outcome:
    task = (transcript.folder / "task.txt").read_text(encoding="utf-8")
    return command(*transcript.words, *more, stdin=task)


def asked(outcome: Outcome) -> Counter[str]:
    """How often the model was asked for each kind of reply."""
    return Counter({part: usage["calls"] for part, usage in outcome.json["usage_by_part"].items()})


def said(outcome: Outcome) -> dict[str, Any]:
    """What was told of the run, line by line, from the first cell on."""
    lines = re.findall(r"^ *\d+ s +\d+ tokens  (.*)$", outcome.err, re.MULTILINE)
    return {"said": [line for line in lines if not line.startswith("Started.")]}


def end_of(exploration: Exploration) -> dict[str, Any]:
    """How a run ended: its cells, and what the solution gave."""
    assert exploration.solution is not None
    return {
        "status": exploration.status,
        "cells": [f"{step.status}: {step.subtask.goal}" for step in exploration.steps],
        "solution": result(exploration.solution.final),
    }


def result(attempt: Attempt) -> dict[str, Any]:
    """What a solution printed and made, and what calls of it printed."""
    previews = {one.name: one.preview for one in attempt.observation.variables}
    return {
        "checks": attempt.checks,
        "printed": attempt.observation.stdout.splitlines(),
        "made": {name: without_address(preview) for name, preview in previews.items()},
        "calls printed": attempt.call.observation.stdout.splitlines() if attempt.call else [],
    }


def without_address(preview: str) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", preview)
