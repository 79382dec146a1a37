"""What a person can get wrong on the command line: the message, and exit code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder.prepare import read_code
from ports import free_port

from .conftest import Command, Explorer, Serve, model_words
from .scripted import SOLUTION, TASK, TeaModel, fenced

Words = list[Any]


def write(folder: Path, name: str, content: str | bytes, *, mode: int = 0o644) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return path


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


# What is added to, or put in the place of, a good command line, by the folder of the test.
LIBRARIES: dict[str, tuple[Callable[[Path], Words], str]] = {
    "unknown": (lambda _: ["nbformatt"], r"nbformatt.*nbformat"),
    "missing path": (lambda folder: [folder / "nowhere"], r"nowhere"),
    "folder without Python": (lambda folder: [folder], r"(?i)no python"),
    "not a module": (lambda folder: [write(folder, "tea.txt", "tea")], r"not a Python module"),
    "no public API": (
        lambda folder: [write(folder, "bare.py", "")],
        r"publishes no function, class or constant",
    ),
}

OPTIONS: dict[str, tuple[Callable[[Path], Words], str]] = {
    "context missing": (
        lambda folder: ["--context", folder / "none.py"],
        r"--context: .*none\.py cannot be read: No such file",
    ),
    "context unreadable": (
        lambda _: ["--context", "/proc/self/mem"],
        r"--context: /proc/self/mem cannot be read",
    ),
    "context not UTF-8": (
        lambda folder: ["--context", write(folder, "latin.py", "x = 'caf\xe9'".encode("latin-1"))],
        r"--context: .*latin\.py is not a text file in UTF-8",
    ),
    "context not a notebook": (
        lambda folder: ["--context", write(folder, "broken.ipynb", "{")],
        r"--context: .*broken\.ipynb is not a notebook",
    ),
    "context raises": (
        lambda folder: ["--context", write(folder, "raises.py", "x = 1\nx / 0\n")],
        r"The context failed in line 2: ZeroDivisionError: division by zero",
    ),
    "context with a syntax error": (
        lambda folder: ["--context", write(folder, "syntax.py", "x = (1\nprint(2\n")],
        r"The context failed.*SyntaxError",
    ),
    "context without an end": (
        lambda folder: [
            "--context",
            write(folder, "endless.py", "while True:\n    pass\n"),
            "--set",
            "run-seconds=1",
        ],
        r"The context did not finish within 1 s",
    ),
    "check missing": (lambda folder: ["--check", folder / "none.py"], r"--check: .*cannot be read"),
    "check with a syntax error": (
        lambda folder: ["--check", write(folder, "check_syntax.py", "assert (")],
        r"The check is not Python",
    ),
    "check that passes already": (
        lambda folder: ["--check", write(folder, "check_passes.py", "assert True")],
        r"The check passes before there is a solution",
    ),
    "check that cannot import": (
        lambda folder: ["--check", write(folder, "check_import.py", "import no_such_thing")],
        r"The check itself fails: ModuleNotFoundError: No module named 'no_such_thing'",
    ),
    "entry point that is no name": (
        lambda _: ["--entry-point", "strong names"],
        r"--entry-point must be a name in Python",
    ),
    "no such interpreter": (
        lambda folder: ["--python", folder / "nopython"],
        r"There is no interpreter .*nopython",
    ),
    "interpreter that may not be run": (
        lambda folder: ["--python", write(folder, "notes.txt", "tea")],
        r"notes\.txt cannot be run",
    ),
    "interpreter that is no Python": (
        lambda folder: ["--python", write(folder, "shell", "#!/bin/sh\necho tea\n", mode=0o755)],
        r"shell is not a Python",
    ),
    "interpreter that is too old": (
        lambda folder: ["--python", write(folder, "python36", _OLD_PYTHON, mode=0o755)],
        r"python36 is Python 3\.6\.9; 3\.9 or newer is needed",
    ),
    "output folder missing": (
        lambda folder: ["--output", folder / "none" / "tea.ipynb"],
        r"There is no folder .*none to save tea\.ipynb in",
    ),
    "output folder that cannot be written": (
        lambda _: ["--output", "/proc/self/tea.ipynb"],
        r"/proc/self cannot be written",
    ),
    "output that is a folder": (
        lambda folder: ["--output", _folder(folder / "tea.d.ipynb")],
        r"is a folder",
    ),
    "output that is no notebook": (
        lambda folder: ["--output", folder / "tea.txt"],
        r"--output must end in \.ipynb",
    ),
    "unknown setting": (lambda _: ["--set", "tea=1"], r"--set takes NAME=VALUE"),
    "setting out of range": (lambda _: ["--set", "top_p=3"], r"A setting cannot be used.*top_p"),
    "unknown method": (lambda _: ["--method", "guess"], r"no method 'guess'.*docprompting"),
    "unknown profile": (lambda _: ["--profile", "huge"], r"'huge'"),
    "no candidates": (lambda _: ["--candidates", "0"], r"--candidates"),
}

_OLD_PYTHON = """\
#!/bin/sh
echo '{"executable": "", "version": [3, 6, 9], "paths": [], "builtin": [], "standard": []}'
"""


@pytest.mark.parametrize(("named", "message"), LIBRARIES.values(), ids=LIBRARIES)
def test_a_library_that_cannot_be_used_is_named(
    serve: Serve,
    explore: Explorer,
    tmp_path: Path,
    match: Callable[[str, str], bool],
    named: Callable[[Path], Words],
    message: str,
) -> None:
    server = serve()
    words = ["explore", TASK, "--output", explore.notebook, *model_words(server)]
    outcome = explore.run(*words, *[word for path in named(tmp_path) for word in ("-l", path)])

    assert outcome.code == 2
    assert match(message, outcome.err)
    assert not explore.notebook.exists()
    assert server.chat_requests == []


def test_a_notebook_stays_where_it_is_if_nothing_can_be_explored(
    serve: Serve, explore: Explorer, tmp_path: Path
) -> None:
    explore.notebook.write_text("mine")
    check = write(tmp_path, "check_passes.py", "assert True")
    outcome = explore.run(*explore.words(serve()), "--check", check)

    assert outcome.code == 2
    assert explore.notebook.read_text() == "mine"


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_an_option_that_cannot_be_used_is_explained(
    serve: Serve,
    explore: Explorer,
    tmp_path: Path,
    match: Callable[[str, str], bool],
    options: Callable[[Path], Words],
    message: str,
) -> None:
    server = serve()
    words = [word for word in explore.words(server) if word != "--quiet"]
    outcome = explore.run(*words, *options(tmp_path))

    assert outcome.code == 2
    assert match(message, outcome.err)
    assert "Traceback" not in outcome.err
    assert server.chat_requests == []


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("", "The task is empty"),
        (" \n ", "The task is empty"),
        ("tea " * 5000, "The task has 19999 characters"),
    ],
    ids=["empty", "blank", "20,000 characters"],
)
def test_a_task_that_says_nothing_or_too_much_is_refused(
    serve: Serve, explore: Explorer, task: str, message: str
) -> None:
    outcome = explore.run(*explore.words(serve(), task=task))

    assert outcome.code == 2
    assert message in outcome.err


def test_an_empty_standard_input_is_an_empty_task(serve: Serve, explore: Explorer) -> None:
    outcome = explore.run(*explore.words(serve(), task="-"), stdin="")

    assert outcome.code == 2
    assert "The task is empty" in outcome.err


LONG = f"{'x' * 300}/tea.ipynb"
NOBODYS = "~no-such-user/tea.ipynb"
CLASS = ["--method", "rrr", "--file", "a.py", "--entry-point", "A", "--repository"]


@pytest.mark.parametrize("path", [LONG, NOBODYS])
@pytest.mark.parametrize(
    "words",
    [
        ["index"],
        ["index", "tealeaf/", "--docs"],
        ["index", "tealeaf/", "--uses"],
        ["search", "tea", "-l"],
        ["search", "tea", "-l", "tealeaf/", "--python"],
        ["sidecar", "run", "tealeaf/__init__.py", "--python"],
        ["explore", TASK, "-l", "tealeaf/", "--model", "embedded", "--output"],
        ["explore", TASK, "-l", "tealeaf/", "--model", "embedded", *CLASS],
        ["tools", "get_class_info", "--class", "A", "--root"],
        ["tools", "get_imports", "--root", ".", "--file"],
    ],
    ids=" ".join,
)
def test_a_path_that_cannot_be_is_refused(command: Command, words: Words, path: str) -> None:
    assert command(*words, path).code == 2


def test_an_address_of_embeddings_that_is_none_is_refused(command: Command) -> None:
    outcome = command("search", "tea", "-l", "tealeaf/", "--embeddings-url", "http://me:s3cret@[x")

    assert outcome.code == 2
    assert "--embeddings-url" in outcome.err
    assert "s3cret" not in outcome.err


def test_a_root_that_is_no_text_is_refused(command: Command, tmp_path: Path) -> None:
    row = {"id": 1, "tool": "get_class_info", "args": {"class_name": "A"}, "root": 3}
    path = write(tmp_path, "queries.jsonl", json.dumps(row))

    outcome = command("tools", "--queries", path)

    assert outcome.code == 2
    assert "the root in line 1" in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ["explore", "-", "-l", "tealeaf/"],
        ["tools", "get_imports", "--root", ".", "--code", "-"],
        ["model", "key", "set", "--base-url", "http://127.0.0.1:1/v1"],
    ],
)
def test_standard_input_that_is_no_text_is_refused(command: Command, words: list[str]) -> None:
    outcome = command(*words, stdin=b"caf\xe9")

    assert outcome.code == 2
    assert "Standard input is not text in UTF-8" in outcome.err


def test_a_finished_exploration_is_resumed_with_kept_replies_alone(
    serve: Serve, explore: Explorer, tmp_path: Path
) -> None:
    explore(serve())

    outcome = explore.run(
        "resume", explore.notebook, "--replies", tmp_path / "replies", "--replies-only"
    )

    assert outcome.code == 0
    assert "Nothing is left to do" in outcome.err


def test_a_model_that_cannot_be_reached_is_named(explore: Explorer, command: Command) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    model = ["--base-url", url, "--model", "tea"]
    outcome = command(
        "explore", TASK, "-l", "tealeaf/", *model, "-o", explore.notebook, *explore.files()
    )

    assert outcome.code == 2
    assert url in outcome.err
    assert explore.exploration.status == "failed"


def test_a_rejected_key_is_shown_nowhere(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-leaf")
    outcome = explore(serve(require_key="another"), "--json")

    assert outcome.code == 2
    assert "key" in outcome.err
    assert "very-secret" not in outcome.out + outcome.err
    assert "very-secret" not in explore.notebook.read_text(encoding="utf-8")


def test_a_key_that_is_accepted_is_shown_nowhere(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-leaf")
    stealing = "import os\nprint(dict(os.environ))"
    script = TeaModel(drafts={1: [fenced(stealing)]}, solutions=[fenced(f"{SOLUTION}\n{stealing}")])
    outcome = explore(serve(script, require_key="sk-very-secret-leaf"), "--json")

    assert outcome.code == 0
    assert "very-secret" not in outcome.out + outcome.err
    assert "very-secret" not in explore.notebook.read_text(encoding="utf-8")


def test_an_unknown_model_is_named(serve: Serve, explore: Explorer) -> None:
    server = serve(require_model=True)
    words = [word if word != server.model else "gpt-tea" for word in explore.words(server)]
    outcome = explore.run(*words)

    assert outcome.code == 2
    assert "does not offer the model 'gpt-tea'. It offers: scripted." in outcome.err


def test_an_endpoint_without_a_model_asks_for_one(serve: Serve, command: Command) -> None:
    outcome = command("explore", TASK, "-l", "tealeaf/", "--base-url", serve().base_url)

    assert outcome.code == 2
    assert "Name one with --model" in outcome.err


def test_a_cache_folder_that_cannot_be_made_asks_for_another(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(write(tmp_path, "file", "") / "cache"))

    search, doctor = command("search", "tea", "-l", "tealeaf/"), command("doctor")

    assert (search.code, doctor.code) == (2, 1)
    assert "Name another folder: EXPLORACODER_CACHE=FOLDER" in search.err
    assert "Set EXPLORACODER_CACHE to a folder that you may write to." in doctor.out


def test_with_json_an_error_is_an_object_too(serve: Serve, explore: Explorer) -> None:
    outcome = explore.run(*explore.words(serve(), "--json", task=" "))

    assert outcome.code == 2
    assert outcome.json["status"] == "failed"
    assert "The task is empty" in outcome.json["error"]


def notebook_text(**metadata: Any) -> str:
    return json.dumps({"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


NOTEBOOKS = {
    "missing": (None, r"There is no file"),
    "not JSON": ("tea", r"is not a notebook"),
    "half a file": (notebook_text()[:40], r"is not a notebook"),
    "not UTF-8": (b"\xff\xfe\x00", r"is not a notebook"),
    "not a notebook": ('{"tea": 1}', r"is not a notebook"),
    "nothing of ours": (notebook_text(), r"not an exploration"),
    "not an object": (notebook_text(exploracoder="tea"), r"not an exploration"),
    "without a version": (notebook_text(exploracoder={"task": 1}), r"version None"),
    "newer": (notebook_text(exploracoder={"schema_version": 99}), r"version 99.*Upgrade"),
    "damaged": (notebook_text(exploracoder={"schema_version": 8}), r"damaged at task"),
}


@pytest.mark.parametrize("verb", ["resume", "replay"])
@pytest.mark.parametrize(("content", "message"), NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_a_file_that_holds_no_exploration_is_refused_and_left_alone(
    command: Command,
    tmp_path: Path,
    match: Callable[[str, str], bool],
    verb: str,
    content: str | bytes | None,
    message: str,
) -> None:
    path = tmp_path / "tea.ipynb"
    if content is not None:
        write(tmp_path, path.name, content)
    before = path.read_bytes() if path.exists() else b""
    outcome = command(verb, path)

    assert outcome.code == 2
    assert match(message, outcome.err)
    assert (path.read_bytes() if path.exists() else b"") == before


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("tea\n", "line 1"),
        ('{"id": 1}\n', "line 1"),
        ('{"id": 1, "query": "tea"}\n[]\n', "line 2"),
        ('{"id": 1, "query": " "}\n', "empty"),
    ],
)
def test_bad_bulk_queries_are_named_by_line(
    command: Command, tmp_path: Path, lines: str, message: str
) -> None:
    path = write(tmp_path, "queries.jsonl", lines)
    outcome = command("search", "--queries", path, "-l", "tealeaf/", "--json")

    assert outcome.code == 2
    assert message in outcome.err


def test_a_library_without_a_docstring_can_be_explored(
    serve: Serve, explore: Explorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "bareleaf.py", "def double(leaf):\n    return leaf * 2\n")
    monkeypatch.chdir(tmp_path)
    code = "import bareleaf\ntwo = bareleaf.double('tea')\nprint(two)"
    server = serve(TeaModel(goals=["Double it"], drafts={1: [fenced(code)]}, solutions=[code]))
    words = ["explore", "Double tea", "-l", "bareleaf.py", *model_words(server)]
    outcome = explore.run(*words, "-o", explore.notebook, "--json", "--quiet")

    assert outcome.code == 0
    assert outcome.json["subtasks"][0]["apis"] == ["bareleaf.double"]
    assert outcome.json["libraries"][0]["apis"] == 1


@pytest.mark.parametrize("name", ["tea.py", "tea.ipynb"])
def test_a_byte_order_mark_is_no_code(tmp_path: Path, name: str) -> None:
    cell = {"cell_type": "code", "source": "cups = 2", "metadata": {}, "outputs": []}
    notebook = {"cells": [{**cell, "id": "a", "execution_count": None}], "metadata": {}}
    text = json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5})
    path = tmp_path / name
    path.write_text(text if path.suffix == ".ipynb" else "cups = 2", encoding="utf-8-sig")

    assert read_code(path, "--context") == "cups = 2"
