"""Lines from the user: asked for where the front end allows it, refused in words where not."""

from __future__ import annotations

import asyncio
from typing import Any

Console = Any

ALLOWED = {"allow_stdin": True}


async def test_a_cell_gets_the_line_that_the_user_types(console: Console) -> None:
    cell = console.send_cell("name = input('Who? ')\nname", options=ALLOWED)

    question = await console.client.get_stdin_msg(timeout=20)
    console.client.input("Ada")
    response = await console.outcome_of(cell)

    assert question["content"] == {"prompt": "Who? ", "password": False}
    assert question["parent_header"]["msg_id"] == cell
    assert response.outputs[-1]["data"]["text/plain"] == "'Ada'"


async def test_a_password_is_asked_for_as_one(console: Console) -> None:
    cell = console.send_cell("import getpass; len(getpass.getpass('Word: '))", options=ALLOWED)

    question = await console.client.get_stdin_msg(timeout=20)
    console.client.input("12345")

    assert question["content"]["password"] is True
    assert (await console.outcome_of(cell)).outputs[-1]["data"]["text/plain"] == "5"


async def test_a_front_end_without_a_user_gets_an_error_that_says_so(console: Console) -> None:
    response = await console.run("input()", options={"allow_stdin": False})

    assert response.content["status"] == "error"
    assert "input() is not available" in response.content["evalue"]


async def test_a_question_can_be_interrupted_and_the_next_one_asked(console: Console) -> None:
    cell = console.send_cell("input('first ')", options=ALLOWED)
    await console.client.get_stdin_msg(timeout=20)

    await console.ask("interrupt_request", channel="control")
    response = await console.outcome_of(cell)
    console.client.input("too late")
    await asyncio.sleep(0.2)
    again = console.send_cell("input('second ')", options=ALLOWED)
    question = await console.client.get_stdin_msg(timeout=20)
    console.client.input("in time")

    assert response.content["ename"] == "KeyboardInterrupt"
    assert question["content"]["prompt"] == "second "
    assert (await console.outcome_of(again)).outputs[-1]["data"]["text/plain"] == "'in time'"


async def test_two_branches_ask_one_after_the_other(console: Console) -> None:
    other = (await console.branch("fork"))["branch"]
    cells = [
        console.send_cell("input('here ')", options=ALLOWED),
        console.send_cell("input('there ')", options=ALLOWED, branch=other),
    ]

    for _ in cells:
        question = await console.client.get_stdin_msg(timeout=20)
        console.client.input(question["content"]["prompt"].strip())

    responses = [await console.outcome_of(cell) for cell in cells]
    assert [one.outputs[-1]["data"]["text/plain"] for one in responses] == ["'here'", "'there'"]
