"""The event loop of top-level ``await``, for one cell and between cells."""

from __future__ import annotations

import asyncio
from typing import Any

from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar
from waiting import Sign, until

WAIT = "import asyncio\nx = 1\nawait asyncio.sleep(60)\nx = 2"
TASKS = "len(asyncio.all_tasks(asyncio.get_event_loop_policy().get_event_loop()))"


def sign_soon(sign: Sign) -> str:
    """Gives the sign once what comes next waits."""
    return f"asyncio.get_running_loop().call_soon(lambda: {sign.code.removesuffix(';')});"


async def test_an_interrupted_await_leaves_nothing_that_goes_on(
    sidecar: Sidecar, screen: Any
) -> None:
    for front_end in (None, screen):
        sign = Sign()
        cell = WAIT.replace("x = 1", f"x = 1; {sign_soon(sign)}")
        running = asyncio.create_task(sidecar.run(sidecar.root, cell, front_end=front_end))
        await until(sign.processes)

        await sidecar.interrupt(sidecar.root)

        observation = await running
        assert observation.status == "interrupted"
        assert observation.error is not None
        assert (observation.error.ename, observation.error.line) == ("KeyboardInterrupt", 3)
        assert (await sidecar.run(sidecar.root, f"x, {TASKS}")).result == "(1, 0)"
    assert [m["ename"] for m in screen.shown if m["output_type"] == "error"] == [
        "KeyboardInterrupt"
    ]


async def test_a_branch_whose_await_ran_out_of_time_can_be_forked(forking: Sidecar) -> None:
    observation = await forking.run(forking.root, WAIT, Limits(wall_seconds=0.5))

    await forking.fork(forking.root)

    assert observation.status == "timeout"
    assert forking.tree()[1].created == "fork"


async def test_code_that_lives_through_the_interrupt_ends_as_it_wishes(sidecar: Sidecar) -> None:
    sign = Sign()
    running = asyncio.create_task(
        sidecar.run(
            sidecar.root,
            f"import asyncio\n{sign_soon(sign)}\ntry:\n    await asyncio.sleep(60)\n"
            "except asyncio.CancelledError:\n    y = 'tidied up'\ny",
        )
    )
    await until(sign.processes)

    await sidecar.interrupt(sidecar.root)

    observation = await running
    assert observation.result == "'tidied up'"
    assert observation.status == "ok"


async def test_cells_of_a_notebook_find_the_loop_running(sidecar: Sidecar, screen: Any) -> None:
    await sidecar.run(
        sidecar.root,
        "import asyncio\ntask = asyncio.create_task(asyncio.sleep(0.01, 'done'))",
        front_end=screen,
    )

    observation = await sidecar.run(sidecar.root, "await task", front_end=screen)

    assert observation.result == "'done'"


async def test_tasks_of_a_notebook_go_on_between_cells(sidecar: Sidecar, screen: Any) -> None:
    await sidecar.run(
        sidecar.root,
        "import asyncio\nasync def tick():\n    for n in range(3):\n"
        "        await asyncio.sleep(0.02); print('tick', n)\n"
        "task = asyncio.create_task(tick())",
        front_end=screen,
    )

    await screen.wait_for(lambda: screen.text().endswith("tick 2\n"))

    assert (await sidecar.run(sidecar.root, "task.done()", front_end=screen)).result == "True"


async def test_a_task_that_fails_between_cells_ends_nothing_else(
    sidecar: Sidecar, screen: Any
) -> None:
    leaves, spins = Sign(), Sign()
    await sidecar.run(
        sidecar.root,
        "import asyncio, sys\nasync def leave():\n    await asyncio.sleep(0.02)\n"
        f"    {leaves.code} sys.exit(4)\n"
        "async def loop():\n    await asyncio.sleep(0.04)\n"
        f"    {spins.code}\n    while True: pass\n"
        "x = 7\ntasks = [asyncio.create_task(leave()), asyncio.create_task(loop())]",
        front_end=screen,
    )
    await until(leaves.processes)
    task = asyncio.create_task(sidecar.run(sidecar.root, "x", front_end=screen))
    await until(spins.processes)

    await sidecar.interrupt(sidecar.root)

    assert (await task).result == "7"


async def test_without_a_front_end_a_cell_may_start_its_own_loop(sidecar: Sidecar) -> None:
    observation = await sidecar.run(
        sidecar.root, "import asyncio\nasyncio.run(asyncio.sleep(0, 'ran'))"
    )

    assert observation.result == "'ran'"


async def test_a_server_that_a_cell_started_answers_between_cells(
    sidecar: Sidecar, screen: Any
) -> None:
    await sidecar.run(
        sidecar.root,
        "import asyncio, socket\nasync def greet(reader, writer):\n"
        "    print('served'); writer.close()\n"
        "server = await asyncio.start_server(greet, '127.0.0.1', 0)\n"
        "address = server.sockets[0].getsockname()",
        front_end=screen,
    )

    await sidecar.run(
        sidecar.root,
        "client = socket.create_connection(address)",
        front_end=screen,
    )

    await screen.wait_for(lambda: screen.text() == "served\n")
