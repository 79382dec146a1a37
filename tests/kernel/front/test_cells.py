"""What a cell does is shown as it happens, under the request that it belongs to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

Console = Any


async def test_a_cell_is_announced_run_and_answered_in_the_protocols_order(
    console: Console,
) -> None:
    response = await console.run("print('a'); 1 + 1")

    kinds = [message["msg_type"] for message in response.published]
    assert kinds == ["status", "execute_input", "stream", "execute_result", "status"]
    assert response.states == ["busy", "idle"]
    assert response.published[1]["content"] == {"code": "print('a'); 1 + 1", "execution_count": 1}
    assert response.published[3]["content"]["execution_count"] == 1
    assert response.content["status"] == "ok"
    assert response.content["execution_count"] == 1
    assert response.reply["metadata"]["exploracoder"]["branch"] == "b0"


async def test_output_is_shown_while_the_cell_still_runs(console: Console) -> None:
    cell = console.send_cell("import time\nprint('early', flush=True)\ntime.sleep(60)")

    await console.until_printed(cell, "early")
    await console.ask("interrupt_request", channel="control")
    response = await console.outcome_of(cell)

    assert response.content["ename"] == "KeyboardInterrupt"


async def test_writes_that_follow_each_other_are_shown_as_one(console: Console) -> None:
    response = await console.run(
        "import sys\nfor n in range(3): print(n)\nprint('e', file=sys.stderr)\nprint(3)\nn"
    )

    assert [(one.get("name"), one.get("text")) for one in response.outputs[:3]] == [
        ("stdout", "0\n1\n2\n"),
        ("stderr", "e\n"),
        ("stdout", "3\n"),
    ]
    assert response.outputs[3]["output_type"] == "execute_result"


async def test_displays_have_ids_that_can_be_updated(console: Console) -> None:
    response = await console.run(
        "from IPython.display import display, clear_output\n"
        "shown = display('one', display_id='d1')\nshown.update('two')\nclear_output(wait=True)"
    )

    kinds = [output["output_type"] for output in response.outputs]
    assert kinds == ["display_data", "update_display_data", "clear_output"]
    assert [output["transient"] for output in response.outputs[:2]] == [{"display_id": "d1"}] * 2
    assert response.outputs[2]["wait"] is True


async def test_an_error_is_shown_with_ipythons_traceback(console: Console) -> None:
    response = await console.run("x = 1\nx / 0")

    (error,) = response.outputs
    assert error["output_type"] == "error"
    assert error["ename"] == response.content["ename"] == "ZeroDivisionError"
    assert error["traceback"] == response.content["traceback"]
    assert "\x1b[" in "".join(error["traceback"])
    assert "line 2" in "".join(error["traceback"])


async def test_cells_are_counted_unless_they_are_silent_or_not_stored(console: Console) -> None:
    await console.run("1")
    silent = await console.run("2", options={"silent": True})
    unstored = await console.run("3", options={"store_history": False})
    later = await console.run("In[-1], _")

    assert silent.outputs == []
    assert [m["msg_type"] for m in silent.published] == ["status", "status"]
    assert unstored.content["execution_count"] == 1
    assert later.content["execution_count"] == 2
    assert later.outputs[0]["data"]["text/plain"] == "('In[-1], _', 3)"


async def test_user_expressions_are_answered(console: Console) -> None:
    response = await console.run(
        "x = 3", options={"user_expressions": {"double": "x * 2", "bad": "y"}}
    )

    answers = response.content["user_expressions"]
    assert answers["double"]["data"]["text/plain"] == "6"
    assert answers["bad"]["status"] == "error"


async def test_a_failed_cell_aborts_those_sent_with_it(console: Console) -> None:
    cells = [console.send_cell(code) for code in ("1 / 0", "x = 1", "x = 2")]
    question = console.send("complete_request", {"code": "imp", "cursor_pos": 3})

    replies = [(await console.outcome_of(cell)).content["status"] for cell in cells]
    response = await console.outcome_of(question)
    later = await console.run("'x' in globals()")

    assert replies == ["error", "aborted", "aborted"]
    assert response.content["status"] == "ok"
    assert later.outputs[0]["data"]["text/plain"] == "False"


async def test_a_failed_cell_aborts_nothing_when_that_was_asked(console: Console) -> None:
    first = console.send_cell("1 / 0", options={"stop_on_error": False})
    second = console.send_cell("2")

    replies = [(await console.outcome_of(cell)).content["status"] for cell in (first, second)]

    assert replies == ["error", "ok"]


async def test_a_failure_in_one_branch_aborts_nothing_in_another(console: Console) -> None:
    other = (await console.branch("fork"))["branch"]
    slow = console.send_cell("import time; time.sleep(0.3)", branch=other)
    waiting = console.send_cell("1", branch=other)

    response = await console.run("1 / 0")

    assert response.content["status"] == "error"
    assert (await console.outcome_of(slow)).content["status"] == "ok"
    assert (await console.outcome_of(waiting)).content["status"] == "ok"


async def test_limits_of_one_cell_travel_in_its_metadata(console: Console) -> None:
    response = await console.run("while True: pass", limits={"wall_seconds": 0.3}, observe=True)

    observation = response.reply["metadata"]["exploracoder"]["observation"]
    assert observation["status"] == "timeout"
    assert observation["limits_hit"] == ["wall_seconds"]
    assert response.content["ename"] == "TimeoutError"


async def test_an_observed_cell_is_shown_too(console: Console) -> None:
    response = await console.run("print('seen')\nx = 5\nx", observe=True)

    observation = response.reply["metadata"]["exploracoder"]["observation"]
    assert observation["result"] == "5"
    assert [variable["name"] for variable in observation["variables"]] == ["x"]
    assert response.stream() == "seen\n"
    assert response.outputs[-1]["data"]["text/plain"] == "5"


async def test_text_that_utf8_has_no_bytes_for_stops_nobody(console: Console) -> None:
    content = b'{"code": "x = 1 # \\ud800"}'
    message = console.client.session.msg("execute_request", content)
    console.client.shell_channel.send(message)

    response = await console.outcome_of(message["header"]["msg_id"])
    print_response = await console.run("import sys; print(chr(0xd800)); chr(0xd800)")

    assert response.content["status"] == print_response.content["status"] == "ok"
    assert response.published[1]["content"]["code"] == "x = 1 # ?"


@pytest.mark.parametrize(
    ("snippet", "name"),
    [("import os; os._exit(3)", "ProcessDied"), ("import os; os.kill(os.getpid(), 9)", "Process")],
)
async def test_a_branch_that_dies_is_an_error_and_the_kernel_goes_on(
    console: Console, snippet: str, name: str
) -> None:
    await console.run("kept = 7")

    response = await console.run(f"print('last words', flush=True)\n{snippet}")
    after = await console.run("kept")

    assert response.content["status"] == "error"
    assert name in response.content["ename"]
    assert response.outputs[-1]["output_type"] == "error"
    assert after.outputs[0]["data"]["text/plain"] == "7"


async def test_a_busy_branch_keeps_nobody_from_asking_the_kernel(console: Console) -> None:
    cell = console.send_cell("import time; time.sleep(60)")

    info = await asyncio.wait_for(console.ask("kernel_info_request"), 20)
    history = await asyncio.wait_for(
        console.ask("history_request", {"hist_access_type": "tail", "n": 1}), 20
    )
    await console.ask("interrupt_request", channel="control")
    await console.outcome_of(cell)

    assert info["status"] == history["status"] == "ok"
