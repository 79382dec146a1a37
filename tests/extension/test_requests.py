"""Requests that cannot be used, and what is said to them."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import request
from .server import Client

SOME_ID = "0" * 32


async def test_status_says_what_the_server_works_with(client: Client) -> None:
    status = (await client.get("status")).json

    assert status["model"] == "scripted"
    assert status["model_url"].startswith("http://127.0.0.1:")
    assert status["is_embedded"] is False
    assert status["embedded"]["is_there"] is False
    assert status["embedded"]["license"] == "Apache-2.0"
    assert status["model_error"] == ""
    assert status["default_profile"] == "standard"
    assert set(status["profiles"]) == {"standard", "paper", "small"}
    assert status["sandbox"]
    assert str(client.server.root.resolve()) in status["roots"]
    assert status["shows_hidden"] is False
    assert status["number"] >= 0


async def test_installed_libraries_are_those_of_the_kernels_python(client: Client) -> None:
    reply = (await client.get("libraries?kernel_name=python3")).json

    libraries = {one["name"].lower(): one for one in reply["libraries"]}
    assert libraries["pydantic"]["import_name"] == "pydantic"
    assert libraries["pydantic"]["version"]


async def test_a_library_is_indexed_with_progress_and_found(client: Client) -> None:
    async with client.tab() as tab:
        await tab.read()
        indexed = await client.post("libraries", {"target": "./project/tealeaf"})
        events = await tab.until(lambda said: said["kind"] == "library" and said["is_done"])

    answer = await client.get("search?query=read+leaves&libraries=tealeaf&k=3")

    assert indexed.status == 200, indexed.text
    assert indexed.json["name"] == "tealeaf"
    assert indexed.json["apis"] > 5
    assert events[-1]["error"] == ""
    assert answer.json["apis"][0]["doc"]["path"].startswith("tealeaf.")
    assert len(answer.json["apis"]) == 3


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("libraries?kernel_name=no-such-kernel", 400),
        ("libraries?kernel_name=%FF", 400),
        ("search?query=&libraries=tealeaf", 400),
        ("search?query=a", 400),
        ("search?query=a&libraries=nowhere", 404),
        ("search?query=a&libraries=tealeaf&k=many", 400),
        ("search?query=a&libraries=tealeaf&k=-1", 400),
        (f"explorations/{SOME_ID}", 404),
        (f"explorations/{SOME_ID}/export", 404),
        ("explorations/../../etc/passwd", 404),
        ("explorations/NOTANID", 404),
        ("nowhere", 404),
    ],
)
async def test_a_question_that_has_no_answer_is_said_to_be_so(
    client: Client, path: str, status: int
) -> None:
    answer = await client.get(path)

    assert answer.status == status, answer.text
    if "etc" not in path:
        assert answer.message


BAD: list[tuple[dict[str, Any], str]] = [
    ({"task": "  "}, "The task is empty"),
    ({"task": "x" * 10_001}, "task"),
    ({"libraries": []}, "library"),
    ({"libraries": ["no-such-library-at-all"]}, "no-such-library-at-all"),
    ({"libraries": ["./nowhere/"]}, "nowhere"),
    ({"libraries": ["\0"]}, ""),
    ({"libraries": "tealeaf"}, "libraries"),
    ({"libraries": ["a"] * 21}, "libraries"),
    ({"kernel_name": "no-such-kernel"}, "no-such-kernel"),
    ({"profile": "huge"}, "huge"),
    ({"settings": {"candidates": -1}}, "candidates"),
    ({"settings": {"candidates": "many"}}, "candidates"),
    ({"settings": {"profile": "paper"}}, "profile"),
    ({"settings": {"no_such_setting": 1}}, "no_such_setting"),
    ({"mode": "manual"}, "mode"),
    ({"path": "../outside.ipynb"}, "root"),
    ({"path": "a/.hidden/b.ipynb"}, "hidden"),
    ({"path": "a/../../b.ipynb"}, "root"),
    ({"path": "nowhere/tea.ipynb"}, "nowhere"),
    ({"path": "a\nb.ipynb"}, "path"),
    ({"bring": ["df"]}, "kernel"),
    ({"bring": ["df"], "kernel_id": "/etc/passwd"}, "kernel"),
    ({"model": {"name": "tea"}}, "needs the address"),
    ({"model": {"base_url": "http://127.0.0.1:9/v1"}}, "Name a model"),
    ({"model": {"name": "tea", "base_url": "ftp://host/v1"}}, "must look like"),
    ({"model": {"name": "tea", "base_url": "http://key@host/v1"}}, "no user name"),
    ({"model": {"name": "tea", "base_url": "http://host/v1?key=a"}}, "no user name"),
    ({"model": {"name": "tea", "api_key": "a"}}, "api_key"),
    ({"model": "tea"}, "model"),
    ({"no_such_field": 1}, "no_such_field"),
]


@pytest.mark.parametrize(("changes", "said"), BAD)
async def test_an_exploration_that_cannot_be_started_is_refused_with_the_reason(
    client: Client, changes: dict[str, Any], said: str
) -> None:
    answer = await client.post("explorations", request(**changes))

    assert answer.status in (400, 404), answer.text
    assert said in answer.message
    explorations = (await client.get("explorations")).json["explorations"]
    assert not [one for one in explorations if one["is_open"]]


@pytest.mark.parametrize(
    "content", ["", "null", "[]", "{", '{"task": 1}', "\x00", "[" * 5_000, '{"task": NaN}']
)
async def test_what_is_no_request_is_refused(client: Client, content: str) -> None:
    for path in ("explorations", "explorations/open", "explorations/replay", "libraries"):
        answer = await client.ask("POST", path, content=content)

        assert answer.status == 400, answer.text
        assert answer.message.startswith("The request cannot be read")


async def test_bytes_that_are_no_text_are_refused(client: Client) -> None:
    answer = await client.ask("POST", "explorations", content=b"\xff\xfe{}")

    assert answer.status == 400


async def test_a_request_of_more_than_a_megabyte_is_refused(client: Client) -> None:
    for path in ("explorations", "explorations/open", "libraries"):
        answer = await client.ask("POST", path, content='{"task": "' + "x" * 1_000_001 + '"}')

        assert answer.status == 413
        assert "1000000" in answer.message


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("nowhere.ipynb", 404),
        ("project", 400),
        ("project/tealeaf/__init__.py", 400),
        ("../outside.ipynb", 400),
        ("/etc/passwd", 400),
        (".hidden.ipynb", 400),
        ("a" * 600 + ".ipynb", 400),
    ],
)
async def test_only_exploration_notebooks_below_the_root_are_opened(
    client: Client, path: str, status: int
) -> None:
    for verb in ("open", "replay"):
        answer = await client.post(f"explorations/{verb}", {"path": path})

        assert answer.status == status, answer.text


async def test_commands_are_held_to_their_form(client: Client) -> None:
    start = await client.start(**request())
    id_ = start["exploration"]["id"]
    await client.rested(id_)

    unknown = await client.do(id_, "dance")
    nameless = await client.do(id_, "accept")
    missing = await client.do(id_, "accept", subtask="step-99")
    early = await client.do(id_, "accept", subtask="step-2", candidate="step-2/9")
    unrun = await client.do(id_, "accept", subtask="step-1", candidate="step-1/1")
    long = await client.do(id_, "try_code", subtask="step-1", code="x" * 100_001)
    empty = await client.do(id_, "add_subtask", goal="")
    export = await client.get(f"explorations/{id_}/export?format=py")
    form = await client.get(f"explorations/{id_}/export?format=exe")

    assert [one.status for one in (unknown, nameless, long, empty)] == [400] * 4
    assert [one.status for one in (missing, early)] == [404] * 2
    assert "step-99" in missing.message
    assert (unrun.status, "has not run yet" in unrun.message) == (409, True)
    assert export.status == 409
    assert form.status == 400


async def test_a_refusal_travels_with_what_a_page_translates(client: Client) -> None:
    body = {"task": "x", "libraries": ["./project/tealeaf"], "path": "nowhere/tea.ipynb"}

    answer = await client.post("explorations", body)

    assert answer.message == "There is no folder 'nowhere' on this server."
    assert answer.json["parts"] == {
        "template": "There is no folder %1 on this server.",
        "values": ["'nowhere'"],
    }


async def test_docs_are_taken_apart(client: Client) -> None:
    doc = "Pour.\n\nArgs:\n    water (float): How much, <b>hot</b>.\n"

    answer = await client.post("docs", {"name": "pour", "doc": doc})

    assert answer.status == 200, answer.text
    assert answer.json == {
        "text": "Pour.",
        "parts": [
            {
                "kind": "parameters",
                "entries": [
                    {"name": "water", "type": "float", "text": "How much, &lt;b>hot&lt;/b>."}
                ],
            }
        ],
    }
