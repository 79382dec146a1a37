"""What a front end asks of a branch while a person types."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from exploracoder_kernel.branch.text import without_colours
from exploracoder_kernel.launch_command import Launcher
from exploracoder_kernel.sidecar import Sidecar

ENDLESS = "class Endless:\n    def __dir__(self):\n        while True: pass\nendless = Endless()"


@pytest.fixture(params=["IPython", "plain Python"])
async def asked(
    request: pytest.FixtureRequest, plain_python: Path, tmp_path: Path, launcher: Launcher
) -> AsyncIterator[Sidecar]:
    """A sidecar with IPython, and one without."""
    python = plain_python if request.param == "plain Python" else Path(sys.executable)
    async with Sidecar(python, tmp_path, launcher=launcher) as sidecar:
        yield sidecar


@pytest.mark.parametrize(
    ("code", "status", "indent"),
    [
        ("x = 1", "complete", ""),
        ("for i in range(3):", "incomplete", "    "),
        ("def f():\n    if x:", "incomplete", "        "),
        ("def f():\n    return 1\n\n", "complete", ""),
        ("x = = 1", "invalid", ""),
        ("text = '''", "incomplete", ""),
    ],
)
async def test_a_console_learns_whether_to_run_what_was_typed(
    asked: Sidecar, code: str, status: str, indent: str
) -> None:
    assert await asked.is_complete(asked.root, code) == (status, indent)


async def test_magics_are_complete(forking: Sidecar) -> None:
    assert await forking.is_complete(forking.root, "%timeit x") == ("complete", "")
    assert (await forking.is_complete(forking.root, "%%time"))[0] == "incomplete"


async def test_a_name_in_a_later_line_is_completed(asked: Sidecar) -> None:
    await asked.run(asked.root, "import json")
    code = "x = [1,\n  2]\njson.du"

    completions = await asked.complete(asked.root, code, len(code))

    texts = [
        code[: completions.start] + match + code[completions.end :] for match in completions.matches
    ]
    assert "x = [1,\n  2]\njson.dumps" in texts


async def test_completions_say_what_they_are(forking: Sidecar) -> None:
    await forking.run(forking.root, "import json")

    completions = await forking.complete(forking.root, "json.dum", 8)

    types = completions.metadata["_jupyter_types_experimental"]
    assert [entry["text"] for entry in types] == list(completions.matches)


async def test_the_name_at_the_cursor_is_described(asked: Sidecar) -> None:
    await asked.run(asked.root, "def double(n):\n    'Twice as much.'\n    return 2 * n")
    code = "y = 1\ndouble(y)"

    at_name = await asked.inspect_at(asked.root, code, 9)
    in_call = await asked.inspect_at(asked.root, "double(", 7)

    for bundle in (at_name, in_call):
        text = without_colours(bundle["text/plain"])
        assert "double(n)" in text
        assert "Twice as much." in text


async def test_more_detail_shows_the_source(forking: Sidecar) -> None:
    await forking.run(forking.root, "def double(n):\n    return 2 * n")

    bundle = await forking.inspect_at(forking.root, "double", 3, 1)

    assert "return 2 * n" in without_colours(bundle["text/plain"])


async def test_what_is_not_there_has_no_description(asked: Sidecar) -> None:
    assert await asked.inspect_at(asked.root, "nothing_here", 3) == {}


async def test_questions_to_objects_that_never_answer_come_to_an_end(asked: Sidecar) -> None:
    await asked.run(asked.root, ENDLESS)
    start = time.monotonic()

    completions = await asked.complete(asked.root, "endless.a", 9)

    assert completions.matches == ()
    assert time.monotonic() - start < 20
    assert (await asked.run(asked.root, "type(endless).__name__")).result == "'Endless'"
