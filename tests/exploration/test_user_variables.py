"""Explorations that start with variables of a running kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Command, Explorer, Outcome, Serve
from .scripted import CHECK, CONTEXT, TeaModel

SECRET = "value-that-stays-in-the-kernel"


@pytest.fixture(scope="module")
def kernel(start_kernel: Callable[..., str]) -> str:
    """The connection file of a kernel of the user's."""
    return start_kernel(f"{CONTEXT}\nimport threading\nguard = threading.Lock()\nnote = {SECRET!r}")


@pytest.fixture
def check_options(tmp_path: Path) -> list[object]:
    (tmp_path / "check.py").write_text(CHECK, encoding="utf-8")
    return ["--check", tmp_path / "check.py", "--entry-point", "strong_names"]


def explored(explore: Explorer, serve: Serve, options: list[object], *more: object) -> Outcome:
    return explore.run(*explore.words(serve(TeaModel()), *options, *more))


def test_an_exploration_works_on_what_came_along_and_saves_no_value(
    explore: Explorer, serve: Serve, check_options: list[object], kernel: str, command: Command
) -> None:
    bring = ["--kernel", kernel, "--bring", "text, guard", "--bring", "note"]
    result = explored(explore, serve, check_options, *bring, "--json")

    assert result.code == 0, result.err
    assert result.json["status"] == "solved"
    assert result.json["brought"] == [
        {"name": "text", "type": "str"},
        {"name": "note", "type": "str"},
    ]
    assert result.json["left_behind"] == [
        {"name": "guard", "type": "_thread.lock", "reason": "it is a lock"}
    ]
    assert [one.name for one in explore.exploration.brought.variables] == ["text", "note"]
    content = explore.notebook.read_text(encoding="utf-8")
    assert "Starts with variables of a running kernel: `text` (str), `note` (str)" in content
    assert SECRET not in content

    without = command("replay", explore.notebook)
    again = command("replay", explore.notebook, "--kernel", kernel)

    assert without.code == 2
    assert "It started with variables of a running kernel (text, note)." in without.err
    assert again.code == 0, again.out + again.err


def test_a_person_is_told_what_came_and_what_could_not(
    explore: Explorer, serve: Serve, check_options: list[object], kernel: str
) -> None:
    words = explore.words(serve(TeaModel()), *check_options, "--kernel", kernel)
    words.remove("--quiet")
    result = explore.run(*words, "--bring", "text,guard")

    assert result.code == 0, result.err
    output = " ".join(result.err.split())
    assert "Brought along: text. Left: guard (it is a lock)" in output


def test_going_on_brings_the_same_variables_again(
    explore: Explorer, serve: Serve, check_options: list[object], kernel: str, command: Command
) -> None:
    first = explored(
        explore,
        serve,
        check_options,
        *("--kernel", kernel, "--bring", "text", "--max-seconds", 0.001),
    )
    server = serve(TeaModel())
    model = ["--base-url", server.base_url, "--model", server.model, "--json", "--quiet"]
    without = command("resume", explore.notebook, *model)
    result = command("resume", explore.notebook, "--kernel", kernel, *model)

    assert first.code == 1
    assert without.code == 2
    assert "with --kernel" in without.json["error"]
    assert result.code == 0, result.err
    assert result.json["brought"] == [{"name": "text", "type": "str"}]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bring", "text"], "--kernel and --bring go together"),
        (["--kernel", "KERNEL"], "--kernel and --bring go together"),
        (["--kernel", "no-such", "--bring", "text"], "No connection file 'no-such'"),
        (["--kernel", "KERNEL", "--bring", "guard"], "none of the variables could come"),
    ],
)
def test_what_cannot_be_brought_is_bad_input(
    explore: Explorer,
    serve: Serve,
    check_options: list[object],
    kernel: str,
    options: list[str],
    words: str,
) -> None:
    arguments = [kernel if option == "KERNEL" else option for option in options]

    result = explored(explore, serve, check_options, *arguments)

    assert result.code == 2
    assert words in " ".join(result.err.split())
