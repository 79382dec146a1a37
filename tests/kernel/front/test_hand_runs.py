"""Cells of subtasks that somebody runs by hand, as a notebook sends them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

Console = Any

CELL_RUN = "exploracoder_cell_run"


def told_of(response: Any) -> list[dict[str, Any]]:
    """What was published of cells that were run by hand."""
    return [m["content"] for m in response.published if m["msg_type"] == CELL_RUN]


async def bound(console: Console, code: str) -> str:
    """A branch that has run some code and that the cell of subtask ``s1`` starts from."""
    branch = str((await console.branch("fork"))["branch"])
    await console.run(code, branch=branch)
    await console.branch("bind", cells={"s1": branch})
    return branch


async def test_a_cell_of_a_bound_subtask_runs_in_a_fresh_fork_of_its_branch(
    console: Console,
) -> None:
    await console.run("x = 'current'")
    base = await bound(console, "x = 'before'")

    first = await console.run("x += '!'; print(x)", subtask="s1", role="candidate")
    again = await console.run("x += '!'; print(x)", subtask="s1", role="candidate")

    assert first.stream() == again.stream() == "before!\n"
    (one,), (two,) = told_of(first), told_of(again)
    assert len({base, one["branch"], two["branch"]}) == 3
    there = await console.run("print(x)", branch=one["branch"])
    assert there.stream() == "before!\n"
    assert (await console.run("print(x)", branch=base)).stream() == "before\n"
    tree = {info["id"]: info for info in (await console.branch("list"))["branches"]}
    assert (tree[one["branch"]]["parent"], tree[one["branch"]]["goal"]) == (base, "yours")


async def test_what_it_showed_is_told_with_the_variables_that_changed(console: Console) -> None:
    await bound(console, "old = 1; kept = 2")

    response = await console.run("old = 3; new = [1, 2]\nnew", subtask="s1")

    (run,) = told_of(response)
    assert (run["subtask"], run["code"]) == ("s1", "old = 3; new = [1, 2]\nnew")
    observation = run["observation"]
    assert (observation["status"], observation["result"]) == ("ok", "[1, 2]")
    assert {v["name"]: v["preview"] for v in observation["variables"]} == {
        "old": "3",
        "new": "[1, 2]",
    }
    assert [output["output_type"] for output in observation["outputs"]] == ["execute_result"]
    kinds = [message["msg_type"] for message in response.published]
    assert kinds.index("execute_result") < kinds.index(CELL_RUN) < len(kinds) - 1


async def test_its_output_is_shown_while_it_runs_and_it_can_be_interrupted(
    console: Console,
) -> None:
    await bound(console, "x = 1")
    running = console.send_cell("print('on', flush=True)\nwhile True: pass", subtask="s1")
    await console.until_printed(running, "on")

    await console.ask("interrupt_request", channel="control")
    response = await console.outcome_of(running)

    (run,) = told_of(response)
    assert run["observation"]["status"] == "interrupted"
    assert response.content["ename"] == "KeyboardInterrupt"


async def test_an_interrupt_that_names_nobody_spares_what_the_engine_runs(
    console: Console, tmp_path: Path
) -> None:
    await bound(console, "x = 1")
    other = (await console.branch("fork"))["branch"]
    word = tmp_path / "word"
    word.touch()  # that a file has come into being, a branch's view of the folder may not tell
    engines = console.send_cell(
        "import time\nprint('on', flush=True)\n"
        f"while not open({str(word)!r}).read(): time.sleep(0.01)\nprint('done')",
        branch=other,
    )
    mine = console.send_cell("print('on', flush=True)\nwhile True: pass", subtask="s1")
    for cell in (engines, mine):
        await console.until_printed(cell, "on")

    await console.ask("interrupt_request", channel="control")
    interrupted = await console.outcome_of(mine)
    word.write_text("go on")

    assert interrupted.content["status"] == "error"
    assert (await console.outcome_of(engines)).stream() == "on\ndone\n"


async def test_an_error_is_coloured_in_the_notebook_and_plain_for_the_engine(
    console: Console,
) -> None:
    await bound(console, "x = 0")

    response = await console.run("1 / x", subtask="s1")

    (run,) = told_of(response)
    (error_output,) = [output for output in response.outputs if output["output_type"] == "error"]
    error = run["observation"]["error"]
    assert (error["ename"], error["line"]) == ("ZeroDivisionError", 1)
    assert "\x1b" in "".join(error_output["traceback"])
    assert "\x1b" not in "".join(error["traceback"])


async def test_it_may_ask_its_user_for_a_line(console: Console) -> None:
    await bound(console, "x = 1")
    cell = console.send_cell(
        "print('got', input('? '))", options={"allow_stdin": True}, subtask="s1"
    )

    await asyncio.wait_for(console.client.get_stdin_msg(), 30)
    console.client.input("seven")

    assert (await console.outcome_of(cell)).stream() == "got seven\n"


@pytest.mark.parametrize(
    "wishes",
    [
        {"subtask": "s2"},
        {"subtask": 7},
        {"role": "candidate"},
    ],
)
async def test_a_cell_without_a_binding_runs_in_the_current_branch(
    console: Console, wishes: dict[str, Any]
) -> None:
    await console.run("x = 'current'")
    await bound(console, "x = 'before'")

    response = await console.run("print(x)", **wishes)

    assert response.stream() == "current\n"
    assert told_of(response) == []


async def test_a_cell_that_names_a_branch_itself_or_says_nothing_makes_no_fork(
    console: Console,
) -> None:
    base = await bound(console, "x = 'before'")

    named = await console.run("print(x)", subtask="s1", branch=base)
    empty = await console.run("  \n", subtask="s1")

    assert named.stream() == "before\n"
    assert told_of(named) == told_of(empty) == []
    assert len((await console.branch("list"))["branches"]) == 2


async def test_a_new_table_takes_the_place_of_the_old_one(console: Console) -> None:
    await console.run("x = 'current'")
    base = await bound(console, "x = 'before'")

    await console.branch("bind", cells={"s2": base})

    assert (await console.run("print(x)", subtask="s1")).stream() == "current\n"
    assert (await console.run("print(x)", subtask="s2")).stream() == "before\n"


async def test_a_table_with_a_branch_that_is_not_there_changes_nothing(console: Console) -> None:
    await bound(console, "x = 'before'")

    reply = await console.branch("bind", cells={"s1": "b0", "s2": "b99"})

    assert (reply["status"], reply["ename"]) == ("error", "BranchNotFound")
    assert (await console.run("print(x)", subtask="s1")).stream() == "before\n"


async def test_a_dropped_branch_loses_its_bindings(console: Console) -> None:
    await console.run("x = 'current'")
    base = await bound(console, "x = 'before'")

    await console.branch("drop", branch=base)

    assert (await console.run("print(x)", subtask="s1")).stream() == "current\n"


async def test_cells_of_a_notebook_run_one_after_the_other_and_stop_at_a_failure(
    console: Console,
) -> None:
    await bound(console, "import time")

    cells = [
        console.send_cell(code, subtask="s1")
        for code in ("time.sleep(0.3); print('one')", "1 / 0", "print('three')")
    ]
    one, two, three = [await console.outcome_of(message) for message in cells]

    assert one.stream() == "one\n"
    assert two.content["ename"] == "ZeroDivisionError"
    assert three.content["status"] == "aborted"
    starts = [m["parent_header"]["msg_id"] for m in console.arrivals if m["msg_type"] == CELL_RUN]
    assert starts == cells[:2]
