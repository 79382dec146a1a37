"""Stopping what runs: by message, by signal, one branch or all."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

Console = Any

FOREVER = "print('on', flush=True)\nimport time\nwhile True: time.sleep(0.01)"


async def started(console: Console, **wishes: Any) -> str:
    cell = console.send_cell(FOREVER, **wishes)
    await console.until_printed(cell, "on")
    return str(cell)


async def interrupt_by_message(console: Console) -> None:
    await console.ask("interrupt_request", channel="control")


async def interrupt_by_signal(console: Console) -> None:
    os.kill(console.manager.provisioner.pid, signal.SIGINT)


@pytest.mark.parametrize("interrupt", [interrupt_by_message, interrupt_by_signal])
async def test_an_interrupt_stops_the_cell_and_the_state_stays(
    console: Console, interrupt: Any
) -> None:
    await console.run("x = 1")
    cell = await started(console)

    await interrupt(console)
    response = await console.outcome_of(cell)

    assert response.content["ename"] == "KeyboardInterrupt"
    assert (await console.run("x")).outputs[0]["data"]["text/plain"] == "1"


async def test_an_interrupt_that_names_a_branch_stops_no_other(console: Console) -> None:
    other = (await console.branch("fork"))["branch"]
    here, there = await started(console), await started(console, branch=other)

    await console.ask("interrupt_request", channel="control", branch=other)
    response = await console.outcome_of(there)
    listing = await console.branch("list", measure=False)
    await interrupt_by_message(console)

    assert response.content["ename"] == "KeyboardInterrupt"
    assert [branch["state"] for branch in listing["branches"]] == ["busy", "idle"]
    assert (await console.outcome_of(here)).content["ename"] == "KeyboardInterrupt"


async def test_an_interrupt_stops_all_that_runs_when_the_current_branch_is_idle(
    console: Console,
) -> None:
    others = [(await console.branch("fork"))["branch"] for _ in range(2)]
    cells = [await started(console, branch=branch) for branch in others]

    await interrupt_by_message(console)

    responses = [await console.outcome_of(cell) for cell in cells]
    assert [one.content["ename"] for one in responses] == ["KeyboardInterrupt"] * 2


async def test_an_interrupt_of_an_idle_kernel_does_nothing(console: Console) -> None:
    for _ in range(3):
        await interrupt_by_signal(console)
        await interrupt_by_message(console)
    await asyncio.sleep(0.1)

    assert (await console.run("1")).content["status"] == "ok"


async def test_an_interrupt_of_a_branch_that_is_not_there_is_an_error(console: Console) -> None:
    answer = await console.ask("interrupt_request", channel="control", branch="b9")

    assert answer["ename"] == "BranchNotFound"
