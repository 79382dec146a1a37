"""A model that others use too: whoever waits for it is told, on the command line and elsewhere."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import exploracoder
import pytest
from exploracoder import commands as c
from exploracoder.models.streaming import QUEUE_HEADER, queue_comment

from .conftest import Command, Explorer
from .live_sessions import live_session
from .raw_endpoint import RawEndpoint, Request, raw_endpoint, response
from .scripted import COLLECT, CONTEXT, GOALS, KEEP, READ, SOLUTION, fenced, script_of

WRITTEN = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))
HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{QUEUE_HEADER}: 1\r\n\r\n"
PLACE = "The model is busy: 2 requests are before yours"


def waiting(request: Request) -> Iterator[bytes]:
    """Answers as our shared server does while two others are before: first with the place."""
    if not request.path.endswith("/completions"):
        yield response(json.dumps({"data": []}))
        return
    choice = {"index": 0, "delta": {"content": WRITTEN}, "finish_reason": "stop"}
    stream = f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n"
    yield f"{HEAD}{queue_comment(2)}".encode()
    time.sleep(1)  # What comes in one piece is no place that anybody waits in.
    yield f"{queue_comment(None)}{stream}".encode()


@pytest.fixture
def busy() -> Iterator[RawEndpoint]:
    with raw_endpoint(waiting) as endpoint:
        yield endpoint


def test_the_command_line_says_how_many_are_before(busy: RawEndpoint, explore: Explorer) -> None:
    options = ["--base-url", busy.base_url, "--model", busy.model, "--output", explore.notebook]
    result = explore.run(
        "explore", "Name the strong leaves.", "-l", "tealeaf/", *options, *explore.files()
    )

    assert result.code == 0, result.err
    lines = result.err.splitlines()
    assert PLACE in lines
    assert "Asking the model" in lines[lines.index(PLACE) :]


async def test_what_steers_an_exploration_is_told_in_its_progress(busy: RawEndpoint) -> None:
    async with live_session(busy) as session:  # type: ignore[arg-type]  # an address and a name
        await session.do(c.GoOn())

    places = [progress for _, progress in session.reports if progress.message == PLACE]
    assert [one.message_parts.values for one in places] == [("2",)]


async def test_one_call_from_python_tells_of_it(busy: RawEndpoint, tmp_path: Path) -> None:
    messages = list[str]()
    await exploracoder.explore(
        "Name the strong leaves.",
        libraries="tealeaf/",
        context=CONTEXT,
        model=busy.model,
        output=tmp_path / "tea.ipynb",
        options=exploracoder.Options(base_url=busy.base_url),
        on_event=lambda event: messages.append(event.progress.message),
    )

    assert PLACE in messages


def test_keys_are_made_once_for_each_user_and_printed(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "own" / "keys.json"
    first = command("model", "admit", "anna", "--keys", file)
    second = command("model", "admit", "anna", "ben", "--keys", file, "--json")

    assert (first.code, second.code) == (0, 0)
    assert list(second.json) == ["anna", "ben"]
    assert first.out.split() == ["anna", second.json["anna"]]
    assert json.loads(file.read_text()) == second.json


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "1"], "--port goes with --shared"),
        (["--shared", "--keys", "none.json"], "There are no keys at none.json"),
    ],
)
def test_a_shared_server_that_cannot_begin_says_why(
    words: list[str], said: str, command: Command
) -> None:
    result = command("model", "serve", *words)

    assert result.code == 2
    assert said in result.err
