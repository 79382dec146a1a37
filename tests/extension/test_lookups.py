"""Looking things up in the source of libraries: what is found, near, refused, and how much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import request
from .server import Answer, Client, Server

SOME_ID = "0" * 32
TEA = "./project/tealeaf"


async def look_up(client: Client, kind: str, text: str, *libraries: str) -> Answer:
    body = {"kind": kind, "text": text, "libraries": libraries or (TEA,)}
    return await client.post("lookups", body)


def library(server: Server, name: str, text: str) -> Path:
    """A library of its own below the server's root."""
    file = server.root / "libraries" / name / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return file


def line_of(result: Any) -> str:
    """The line that a result's place names."""
    lines = Path(result["file"]).read_text(encoding="utf-8").splitlines()
    return lines[result["line"] - 1].strip()


@pytest.mark.parametrize(
    ("kind", "text", "name", "part"),
    [
        ("class", "Kettle", "tealeaf.kettle.Kettle", "heat(self, celsius)"),
        ("signature", "Kettle.heat", "tealeaf.kettle.Kettle.heat", "degrees Celsius"),
        ("source", "tealeaf.Kettle.pour()", "tealeaf.kettle.Kettle.pour", "in the cup"),
        ("code", "pour water over a leaf", "Kettle.pour", "def pour"),
    ],
)
async def test_each_kind_is_answered_with_its_place(
    client: Client, kind: str, text: str, name: str, part: str
) -> None:
    answer = await look_up(client, kind, text)

    assert answer.status == 200, answer.text
    first = answer.json["found"][0]
    root = client.server.root.resolve()
    assert (first["library"], first["name"]) == ("tealeaf", name)
    assert part in first["text"]
    assert first["place"] == "tealeaf/kettle.py"
    assert line_of(first).startswith(("class Kettle", "def "))
    assert Path(first["file"]).is_relative_to(root)


async def test_nothing_found_is_an_answer_that_names_what_is_near(client: Client) -> None:
    answer = await look_up(client, "class", "Kettel")

    assert answer.status == 200
    assert answer.json["found"] == []
    assert "Kettle" in answer.json["problems"][0]


async def test_of_several_libraries_each_says_what_it_has_or_lacks(client: Client) -> None:
    answer = (await look_up(client, "class", "JSONDecoder", TEA, "json")).json

    assert {one["library"] for one in answer["found"]} == {"json"}
    assert answer["found"][0]["place"] == "json/decoder.py"
    assert len(answer["problems"]) == 1


async def test_an_exploration_is_asked_of_its_own_libraries_alone(client: Client) -> None:
    start = await client.start(**request())
    path = f"explorations/{start['exploration']['id']}/lookups"

    own = await client.post(path, {"kind": "signature", "text": "steep_seconds"})
    other = await client.post(path, {"kind": "class", "text": "JSONDecoder"})
    refusal = await client.post(path, {"kind": "class", "text": "A", "libraries": ["json"]})
    missing = await client.post(f"explorations/{SOME_ID}/lookups", {"kind": "class", "text": "A"})

    assert "steep_seconds(leaf, celsius)" in own.json["found"][0]["text"]
    assert other.json["found"] == []
    assert (refusal.status, missing.status) == (400, 404)
    assert "libraries" in refusal.message


async def test_a_file_that_was_edited_is_read_again(client: Client) -> None:
    file = library(client.server, "edited", "def brew(): ...\n")
    before = (await look_up(client, "signature", "brew", "./libraries/edited")).json

    file.write_text("# warm\ndef brew(minutes: float): ...\n", encoding="utf-8")
    after = (await look_up(client, "signature", "brew", "./libraries/edited")).json

    assert "brew()" in before["found"][0]["text"]
    assert "brew(minutes: float)" in after["found"][0]["text"]
    assert after["found"][0]["line"] == 2


async def test_reading_a_library_is_told_and_its_end_too(client: Client) -> None:
    library(client.server, "told", "def brew(): ...\n")
    async with client.tab() as tab:
        await tab.read()
        await look_up(client, "signature", "brew", "./libraries/told")
        target = str(client.server.root / "libraries" / "told")
        events = await tab.until(lambda said: said.get("target") == target and said["is_done"])

    # Another library may be read at the same time.
    messages = [one["message"] for one in events if one.get("target") == target]
    assert messages[0].startswith("Reading the source")


async def test_an_answer_is_bounded_and_says_what_it_leaves_out(client: Client) -> None:
    body = "\n".join(f"    x{line} = '{'y' * 500}'" for line in range(200))
    text = "\n".join(f"class C{n}:\n  def brew(self):\n{body}" for n in range(30))
    library(client.server, "huge", text)

    answer = await look_up(client, "source", "brew", "./libraries/huge")

    assert len(answer.text) < 300_000
    assert answer.json["left_out"] > 0
    assert "more characters" in answer.json["found"][0]["text"]
    assert len(answer.json["found"]) + answer.json["left_out"] == 30


async def test_source_is_data(client: Client) -> None:
    canary = client.server.root / "canary"
    library(client.server, "trap", f"open({str(canary)!r}, 'w')\nclass Trap: '\\x1b[2J<b>'\n")

    answer = await look_up(client, "class", "Trap", "./libraries/trap")

    assert "<b>" in answer.json["found"][0]["text"]
    assert "\x1b" not in answer.json["found"][0]["text"]
    assert not canary.exists()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "imports"}, "kind"),
    ({"text": ""}, "text"),
    ({"text": "x" * 2_001}, "text"),
    ({"libraries": []}, "libraries"),
    ({"libraries": ["a"] * 21}, "libraries"),
    ({"libraries": ["no-such-library-at-all"]}, "no-such-library-at-all"),
    ({"kernel_name": "no-such-kernel"}, "no-such-kernel"),
]


@pytest.mark.parametrize(("changes", "said"), BAD)
async def test_what_cannot_be_looked_up_is_refused_with_the_reason(
    client: Client, changes: dict[str, Any], said: str
) -> None:
    answer = await client.post(
        "lookups", {"kind": "class", "text": "Kettle", "libraries": [TEA]} | changes
    )

    assert answer.status == 400, answer.text
    assert said in answer.message
