"""What a front end is shown of a run, and when."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from exploracoder_kernel.branch.text import without_colours
from exploracoder_kernel.presentation import CellRequest
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar

ROOMY = Limits(max_output_chars=1_000_000)


class TestOutputs:
    async def test_outputs_are_shown_in_order(self, sidecar: Sidecar, screen: Any) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "import sys\nprint('one')\ndisplay('two')\ndisplay('three')\n"
            "print('four', file=sys.stderr)\n'five'",
            front_end=screen,
        )

        assert [kind for kind in screen.kinds() if kind != "stream"] == [
            "display_data",
            "display_data",
            "execute_result",
        ]
        assert screen.kinds()[0] == "stream"
        assert screen.text("stdout") == "one\n"
        assert screen.text("stderr") == "four\n"
        assert [output["output_type"] for output in observation.outputs] == [
            "stream",
            "display_data",
            "display_data",
            "stream",
            "execute_result",
        ]

    async def test_text_is_shown_before_the_cell_has_ended(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        running = asyncio.create_task(
            sidecar.run(
                sidecar.root,
                "import time\nprint('now')\ntime.sleep(30)",
                front_end=screen,
            )
        )

        await screen.wait_for(lambda: screen.text() == "now\n")

        assert not running.done()
        await sidecar.interrupt(sidecar.root)
        assert (await running).status == "interrupted"
        assert screen.shown[-1]["ename"] == "KeyboardInterrupt"

    async def test_text_and_messages_in_quick_turns_keep_their_order(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        await sidecar.run(
            sidecar.root,
            "for n in range(300):\n    display(n); display(n); print(n)",
            ROOMY,
            front_end=screen,
        )

        text = ""
        for message in screen.shown:
            is_text = message["output_type"] == "stream"
            text += message["text"] if is_text else message["data"]["text/plain"] + " "
        assert text == "".join(f"{n} {n} {n}\n" for n in range(300))

    async def test_of_too_much_text_the_head_is_shown_at_once_and_the_tail_at_the_end(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "for n in range(5000): print(n)\ndisplay('between')\nprint('END')",
            Limits(max_output_chars=1000),
            front_end=screen,
        )

        assert screen.text() == observation.stdout
        assert "characters left out" in screen.text()
        assert screen.shown[-1]["text"].endswith("END\n")
        assert len(screen.text()) < 1100

    async def test_characters_of_several_bytes_arrive_whole(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        await sidecar.run(
            sidecar.root,
            "import os, time\nfor byte in 'Grüße €'.encode():\n"
            "    n = os.write(1, bytes([byte])); time.sleep(0.002)",
            front_end=screen,
        )

        assert screen.text() == "Grüße €"

    async def test_what_a_thread_writes_later_is_still_shown(
        self, sidecar: Sidecar, screen: Any, new_screen: Any
    ) -> None:
        await sidecar.run(
            sidecar.root,
            "import threading\ngo = threading.Event()\ndef late():\n"
            "    go.wait(); print('late'); display('shown late')\n"
            "thread = threading.Thread(target=late); thread.start()\n"
            "import subprocess\n"
            "child = subprocess.Popen('sleep 2; echo child', shell=True)",
            front_end=screen,
        )
        assert screen.shown == []
        await screen.wait_for(lambda: screen.text() == "child\n")

        other = new_screen()
        await sidecar.run(sidecar.root, "go.set(); thread.join()", front_end=other)

        assert other.text() == "late\n"
        assert other.kinds()[-1] == "display_data"

    async def test_what_comes_late_belongs_to_the_cell_before(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        await sidecar.run(
            sidecar.root,
            "import threading\n"
            "timer = threading.Timer(0.1, lambda: (print('late'), display('x')))\ntimer.start()",
            front_end=screen,
        )
        await screen.wait_for(lambda: "display_data" in screen.kinds())

        observation = await sidecar.run(sidecar.root, "timer.join()\nprint('mine')")

        assert screen.text() == "late\n"
        assert observation.stdout == "mine\n"


class TestDisplays:
    async def test_an_update_reaches_the_display_with_its_id(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        code = "handle = display('first', display_id='d')\nhandle.update('second')"

        on_screen = await sidecar.run(sidecar.root, code, front_end=screen)
        alone = await sidecar.run(sidecar.root, code)

        assert screen.kinds() == ["display_data", "update_display_data"]
        assert [message["transient"] for message in screen.shown] == [{"display_id": "d"}] * 2
        for observation in (on_screen, alone):
            assert [output["data"]["text/plain"] for output in observation.outputs] == ["'second'"]
            assert "transient" not in observation.outputs[0]

    async def test_cleared_outputs_are_gone_when_the_next_comes(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        code = (
            "from IPython.display import clear_output\n"
            "print('old'); display('old')\nclear_output(wait=True)\nprint('new')\n"
        )

        on_screen = await sidecar.run(sidecar.root, code, front_end=screen)
        alone = await sidecar.run(sidecar.root, code + "clear_output(wait=True)")
        empty = await sidecar.run(sidecar.root, code + "clear_output()")

        assert {"output_type": "clear_output", "wait": True} in screen.shown
        assert on_screen.stdout == alone.stdout == "new\n"
        assert len(on_screen.outputs) == len(alone.outputs) == 1
        assert empty.outputs == ()

    async def test_a_picture_travels_as_text(self, sidecar: Sidecar, screen: Any) -> None:
        await sidecar.run(
            sidecar.root,
            "from IPython.display import Image\nImage(b'\\x89PNG\\r\\n\\x1a\\n', format='png')",
            front_end=screen,
        )

        assert screen.shown[0]["data"]["image/png"].strip() == "iVBORw0KGgo="

    async def test_an_output_too_large_to_send_is_left_out_in_words(
        self, forking: Sidecar, screen: Any
    ) -> None:
        observation = await forking.run(
            forking.root,
            "display({'application/json': {'x': 'y' * (70 << 20)}}, raw=True)\n'after'",
            front_end=screen,
        )

        assert observation.ran
        assert "too large" in screen.shown[0]["data"]["text/plain"]
        assert observation.result == "'after'"


class TestErrors:
    async def test_a_front_end_is_shown_ipythons_own_traceback(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        observation = await sidecar.run(
            sidecar.root, "def f(n):\n    return 1 / n\n\nf(0)", front_end=screen
        )

        error = screen.shown[-1]
        text = "\n".join(error["traceback"])
        plain = without_colours(text)
        assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
        assert text != plain
        assert "Cell In[1], line 4" in plain
        assert "----> 2     return 1 / n" in plain
        assert observation.error is not None
        assert observation.error.traceback == tuple(error["traceback"])
        assert observation.error.line == 2
        assert screen.kinds() == ["error"]
        assert [output["output_type"] for output in observation.outputs] == ["error"]

    async def test_no_frame_of_ours_is_in_a_traceback(
        self, sidecar: Sidecar, new_screen: Any
    ) -> None:
        screen = new_screen(allow_stdin=False)
        code = "def ask():\n    input('?')\ntry:\n    ask()\nexcept EOFError as error:\n"
        await sidecar.run(sidecar.root, code + "    raise ValueError from error", front_end=screen)

        text = without_colours("\n".join(screen.shown[-1]["traceback"]))
        assert text.index("EOFError") < text.index("direct cause") < text.index("ValueError")
        assert "exploracoder" not in text
        assert "stdin.py" not in text

    async def test_a_syntax_error_shows_its_line(self, sidecar: Sidecar, screen: Any) -> None:
        await sidecar.run(sidecar.root, "x = 1\ny = = 2", front_end=screen)

        text = without_colours("\n".join(screen.shown[-1]["traceback"]))
        assert "Cell In[1], line 2" in text
        assert "y = = 2" in text

    async def test_a_magic_that_is_not_there_is_one_line_of_text(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        observation = await sidecar.run(sidecar.root, "%nothing_here", front_end=screen)

        assert observation.status == "error"
        assert set(screen.kinds()) == {"stream"}
        assert screen.text("stderr").startswith("UsageError: Line magic")

    async def test_a_repr_that_raises_is_an_error_of_the_cell(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "class Bad:\n    def __repr__(self): raise OSError('no')\nBad()",
            front_end=screen,
        )

        assert observation.status == "error"
        assert screen.shown[-1]["ename"] == "OSError"

    async def test_figures_and_text_after_an_error_follow_it(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        await sidecar.run(
            sidecar.root,
            "get_ipython().events.register('post_execute', lambda: print('after'))",
        )

        await sidecar.run(sidecar.root, "1 / 0", front_end=screen)

        assert screen.kinds()[0] == "error"
        assert screen.text() == "after\n"

    async def test_running_out_of_time_is_shown_as_the_last_error(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        await sidecar.run(
            sidecar.root, "while True: pass", Limits(wall_seconds=0.4), front_end=screen
        )

        assert screen.shown[-1]["output_type"] == "error"
        assert screen.shown[-1]["ename"] == "TimeoutError"

    async def test_a_process_that_dies_is_shown_as_an_error(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        await sidecar.run(sidecar.root, "import os\nprint('so far')\nos._exit(3)", front_end=screen)

        assert screen.text() == "so far\n"
        assert screen.shown[-1]["ename"] == "ProcessDied"
        assert "exit code 3" in screen.shown[-1]["evalue"]


class TestRequests:
    async def test_expressions_are_answered_after_a_cell_that_ran(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        request = CellRequest(user_expressions={"sum": "x + 1", "bad": "nothing_here"})

        ran = await sidecar.run(sidecar.root, "x = 41", front_end=screen, request=request)
        failure = await sidecar.run(sidecar.root, "1 / 0", front_end=screen, request=request)

        assert ran.user_expressions["sum"]["data"] == {"text/plain": "42"}
        assert ran.user_expressions["bad"]["ename"] == "NameError"
        assert failure.user_expressions == {}

    async def test_a_silent_cell_leaves_no_result_and_no_number(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        await sidecar.run(sidecar.root, "1", front_end=screen)
        screen.shown.clear()

        silent = await sidecar.run(
            sidecar.root, "y = 5\ny", front_end=screen, request=CellRequest(silent=True)
        )
        after = await sidecar.run(sidecar.root, "y, _", front_end=screen)

        assert silent.execution_count is None
        assert silent.outputs == ()
        assert (after.execution_count, after.result) == (2, "(5, 1)")

    async def test_an_unstored_cell_shows_its_result_and_is_not_counted(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        observation = await sidecar.run(
            sidecar.root, "6 * 7", front_end=screen, request=CellRequest(store_history=False)
        )
        after = await sidecar.run(sidecar.root, "len(In)", front_end=screen)

        assert (observation.execution_count, observation.result) == (None, "42")
        assert (after.execution_count, after.result) == (1, "2")

    async def test_help_becomes_a_page_for_the_front_end(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        observation = await sidecar.run(sidecar.root, "len?", front_end=screen)

        assert [payload["source"] for payload in observation.payloads] == ["page"]
        assert "number of items" in observation.payloads[0]["data"]["text/plain"]
        assert screen.shown == []

    async def test_a_file_is_loaded_into_the_next_cell(self, sidecar: Sidecar, screen: Any) -> None:
        await sidecar.run(sidecar.root, "%%writefile mine.py\nx = 1")

        observation = await sidecar.run(sidecar.root, "%load mine.py", front_end=screen)

        wish = observation.payloads[0]
        assert wish["source"] == "set_next_input"
        assert wish["replace"]
        assert "x = 1" in wish["text"]

    @pytest.mark.parametrize(("code", "keeps"), [("exit", False), ("quit(True)", True)])
    async def test_exit_is_left_to_the_front_end(
        self, sidecar: Sidecar, screen: Any, code: str, keeps: bool
    ) -> None:
        observation = await sidecar.run(sidecar.root, code, front_end=screen)

        assert observation.ran
        assert observation.payloads == ({"source": "ask_exit", "keepkernel": keeps},)
        assert (await sidecar.run(sidecar.root, "1")).payloads == ()

    async def test_libraries_see_a_notebook_only_when_there_is_a_front_end(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        code = "shell = get_ipython(); type(shell).__name__, hasattr(shell, 'kernel')"

        before = await sidecar.run(sidecar.root, code)
        after = await sidecar.run(sidecar.root, code, front_end=screen)

        assert before.result == "('Shell', False)"
        assert after.result == "('ZMQInteractiveShell', True)"

    async def test_a_cancelled_run_stops_showing(self, sidecar: Sidecar, screen: Any) -> None:
        await sidecar.run(sidecar.root, "import time")
        running = asyncio.create_task(
            sidecar.run(sidecar.root, "print('x')\ntime.sleep(30)", front_end=screen)
        )
        await screen.wait_for(lambda: screen.text() == "x\n")

        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

        assert (await sidecar.run(sidecar.root, "print('y')")).stdout == "y\n"
        assert screen.text() == "x\n"


async def test_a_thread_that_goes_on_showing_disturbs_no_question(
    sidecar: Sidecar, screen: Any
) -> None:
    await sidecar.run(
        sidecar.root,
        "import threading\nis_over = threading.Event()\ndef chatter():\n"
        "    while not is_over.is_set(): display('still here')\n"
        "thread = threading.Thread(target=chatter); thread.start()",
        front_end=screen,
    )

    for _ in range(10):
        assert (await sidecar.complete(sidecar.root, "is_o", 4)).matches == ("is_over",)
        await sidecar.fork(sidecar.root)
    end = await sidecar.run(sidecar.root, "is_over.set(); thread.join()\n'over'")

    assert end.result == "'over'"
    assert "display_data" in screen.kinds()


async def test_leaving_python_is_advised_against_as_in_any_notebook(
    sidecar: Sidecar, screen: Any
) -> None:
    engine = await sidecar.run(sidecar.root, "import sys; sys.exit(2)")
    await sidecar.run(sidecar.root, "sys.exit(2)", front_end=screen)

    assert engine.stderr == ""
    assert screen.shown[0]["ename"] == "SystemExit"
    assert "To exit: use 'exit'" in screen.text("stderr")
