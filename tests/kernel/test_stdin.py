"""A cell may ask the user for a line, where a front end allows it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar


async def test_input_and_getpass_are_answered(sidecar: Sidecar, new_screen: Any) -> None:
    screen = new_screen("Ada", "s3cret")

    observation = await sidecar.run(
        sidecar.root,
        "import getpass\nprint('before')\nname = input('Who? ')\nword = getpass.getpass()\n"
        "name, word",
        front_end=screen,
    )

    assert observation.result == "('Ada', 's3cret')"
    assert screen.questions == [("Who? ", False), ("Password: ", True)]
    assert observation.stdout == "before\n"


@pytest.mark.parametrize("code", ["input('Who? ')", "import getpass; getpass.getpass()"])
async def test_where_it_is_not_allowed_the_cell_is_told(
    sidecar: Sidecar, new_screen: Any, code: str
) -> None:
    screen = new_screen("Ada", allow_stdin=False)

    observation = await sidecar.run(sidecar.root, code, front_end=screen)

    assert observation.error is not None
    assert observation.error.ename == "EOFError"
    assert "nobody sits" in observation.error.evalue
    assert screen.questions == []


async def test_an_interrupt_ends_the_wait_and_a_late_answer_is_passed_over(
    sidecar: Sidecar, new_screen: Any
) -> None:
    silent = new_screen()
    running = asyncio.create_task(
        sidecar.run(sidecar.root, "x = 1\nline = input('?')", front_end=silent)
    )
    await silent.wait_for(lambda: bool(silent.questions))

    await sidecar.interrupt(sidecar.root)

    assert (await running).status == "interrupted"
    again = await sidecar.run(sidecar.root, "x, input('?')", front_end=new_screen("now"))
    assert again.result == "(1, 'now')"


async def test_a_cell_may_catch_the_interrupt_and_ask_again(
    sidecar: Sidecar, new_screen: Any
) -> None:
    class Slow(new_screen):  # type: ignore[misc]
        async def input(self, prompt: str, is_password: bool) -> str:
            self.questions.append((prompt, is_password))
            self.has_changed.set()
            if prompt == "first":
                await asyncio.sleep(60)
            return prompt + " answered"

    screen = Slow()
    running = asyncio.create_task(
        sidecar.run(
            sidecar.root,
            "try:\n    line = input('first')\nexcept KeyboardInterrupt:\n"
            "    line = input('second')\nline",
            front_end=screen,
        )
    )
    await screen.wait_for(lambda: bool(screen.questions))

    await sidecar.interrupt(sidecar.root)

    assert (await running).result == "'second answered'"


async def test_waiting_for_an_answer_is_within_the_limit_of_time(
    sidecar: Sidecar, new_screen: Any
) -> None:
    observation = await sidecar.run(
        sidecar.root, "x = 3\ninput('?')", Limits(wall_seconds=0.4), front_end=new_screen()
    )

    assert observation.status == "timeout"
    assert (await sidecar.run(sidecar.root, "x")).result == "3"


async def test_a_thread_can_not_ask(sidecar: Sidecar, new_screen: Any) -> None:
    screen = new_screen("never")

    observation = await sidecar.run(
        sidecar.root,
        "import threading\nseen = []\ndef ask():\n    try: input('?')\n"
        "    except EOFError as error: seen.append(str(error))\n"
        "thread = threading.Thread(target=ask); thread.start(); thread.join()\nlen(seen)",
        front_end=screen,
    )

    assert observation.result == "1"
    assert screen.questions == []


async def test_an_answer_longer_than_a_socket_holds_is_cut(
    sidecar: Sidecar, new_screen: Any
) -> None:
    observation = await sidecar.run(
        sidecar.root, "len(input('?'))", front_end=new_screen("é" * 1_000_000)
    )

    assert observation.result == "50000"
