"""What a branch promises, whichever way it came to its state."""

from __future__ import annotations

import ast
import asyncio
import time
from collections.abc import Callable

import pytest
from exploracoder_kernel.errors import BranchNotFound
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar_answers import BranchInfo
from waiting import Sign, until

SHORT = Limits(wall_seconds=1)


@pytest.fixture
def sidecar(executor: Executor) -> Executor:
    """What is held to the contract."""
    return executor


async def info_of(sidecar: Executor, branch: str) -> BranchInfo:
    """What the tree says of a branch."""
    (match,) = [info for info in await sidecar.measure() if info.id == branch]
    return match


class TestState:
    async def test_a_child_starts_with_its_parents_state(self, sidecar: Executor) -> None:
        await sidecar.run(sidecar.root, "x = [1, 2]")
        child = await sidecar.fork(sidecar.root)

        observation = await sidecar.run(child, "x")

        assert observation.result == "[1, 2]"

    async def test_siblings_and_parent_do_not_see_each_other(self, sidecar: Executor) -> None:
        await sidecar.run(sidecar.root, "x = [1]")
        one, two = await sidecar.fork(sidecar.root), await sidecar.fork(sidecar.root)

        await sidecar.run(one, "x.append(2)")
        await sidecar.run(two, "x.append(3); y = 4")

        assert (await sidecar.run(one, "x")).result == "[1, 2]"
        assert (await sidecar.run(two, "x, y")).result == "([1, 3], 4)"
        assert (await sidecar.run(sidecar.root, "x")).result == "[1]"

    async def test_a_chain_of_twenty_keeps_all_steps(self, sidecar: Executor) -> None:
        steps = 20 if sidecar.strategy == "fork" else 5
        await sidecar.run(sidecar.root, "total = 0")
        branch = sidecar.root

        for step in range(steps):
            branch = await sidecar.fork(branch)
            await sidecar.run(branch, f"total += {step}")

        assert (await sidecar.run(branch, "total")).result == str(sum(range(steps)))
        assert (await sidecar.run(sidecar.root, "total")).result == "0"

    async def test_seeded_random_numbers_go_on_in_a_child(self, sidecar: Executor) -> None:
        await sidecar.run(sidecar.root, "import random; random.seed(1); first = random.random()")
        child = await sidecar.fork(sidecar.root)

        ours = await sidecar.run(sidecar.root, "random.random()")
        theirs = await sidecar.run(child, "random.random()")

        assert ours.result == theirs.result

    async def test_a_file_read_in_one_branch_is_not_read_in_another(
        self, sidecar: Executor
    ) -> None:
        await sidecar.run(
            sidecar.root,
            "from pathlib import Path\n"
            "written = Path('lines.txt').write_text(''.join(f'{i}\\n' for i in range(9999)))\n"
            "file = open('lines.txt')",
        )
        one, two = await sidecar.fork(sidecar.root), await sidecar.fork(sidecar.root)

        read = await sidecar.run(one, "text = file.read(); len(text)")

        assert (await sidecar.run(two, "len(file.read())")).result == read.result

    async def test_five_branches_run_at_the_same_time(self, sidecar: Executor) -> None:
        branches = [await sidecar.fork(sidecar.root) for _ in range(5)]
        await asyncio.gather(*(sidecar.run(b, "import time") for b in branches))
        cell = "start = time.monotonic(); time.sleep(2); start, time.monotonic()"

        observations = await asyncio.gather(*(sidecar.run(b, cell) for b in branches))

        times = [ast.literal_eval(observation.result or "()") for observation in observations]
        assert max(start for start, _ in times) < min(end for _, end in times)

    async def test_a_dropped_branch_is_gone_and_its_child_stays(self, sidecar: Executor) -> None:
        child = await sidecar.fork(sidecar.root)
        await sidecar.run(child, "x = 1")
        grandchild = await sidecar.fork(child)

        await sidecar.drop(child)

        with pytest.raises(BranchNotFound, match="dropped"):
            await sidecar.run(child, "x")
        assert (await sidecar.run(grandchild, "x")).result == "1"

    async def test_the_tree_names_parents_cells_and_states(self, sidecar: Executor) -> None:
        await sidecar.run(sidecar.root, "x = 1")
        child = await sidecar.fork(sidecar.root)
        await sidecar.run(child, "x = 2")
        sign = Sign()
        busy = asyncio.create_task(sidecar.run(child, f"{sign.code} import time; time.sleep(60)"))
        await until(sign.processes)

        root_info = await info_of(sidecar, sidecar.root)
        child_info = await info_of(sidecar, child)
        await sidecar.interrupt(child)

        assert (root_info.cells, root_info.state) == (1, "idle")
        assert (child_info.parent, child_info.cells) == (sidecar.root, 2)
        assert (child_info.state, child_info.created) == ("busy", sidecar.strategy)
        await busy


class TestOutput:
    async def test_output_of_python_c_and_child_processes_keeps_its_order(
        self, sidecar: Executor
    ) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "import ctypes, subprocess, sys\n"
            "print('one')\n"
            "done = subprocess.run(['echo', 'two'])\n"
            "print('three', file=sys.stderr)\n"
            "print('four')\n"
            "n = ctypes.CDLL(None).puts(b'five')\n"
            "print('six', end='')",
        )

        texts = [(output["name"], output["text"]) for output in observation.outputs]
        assert texts == [
            ("stdout", "one\ntwo\n"),
            ("stderr", "three\n"),
            ("stdout", "four\nfive\nsix"),
        ]
        assert observation.stdout == "one\ntwo\nfour\nfive\nsix"
        assert observation.stderr == "three\n"

    async def test_the_last_expression_is_the_result(self, sidecar: Executor) -> None:
        plain = await sidecar.run(sidecar.root, "x = 3\nx * 2")
        with_semicolon = await sidecar.run(sidecar.root, "x * 2;")

        assert plain.result == "6"
        assert plain.outputs[0]["data"] == {"text/plain": "6"}
        assert with_semicolon.result is None

    async def test_rich_display_and_streams_are_outputs_in_order(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "from IPython.display import HTML, display\n"
            "print('before')\ndisplay(HTML('<b>x</b>'))\nprint('after')",
        )

        kinds = [output["output_type"] for output in observation.outputs]
        assert kinds == ["stream", "display_data", "stream"]
        assert observation.outputs[1]["data"]["text/html"] == "<b>x</b>"

    async def test_magics_and_top_level_await_work(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "%cd -q .\nimport asyncio\nasync def later():\n"
            "    await asyncio.sleep(0)\n    return 7\nawait later()",
        )

        assert observation.result == "7"

    async def test_two_hundred_megabytes_are_cut_in_the_middle(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "line = 'x' * 999 + '\\n'\n"
            "for _ in range(20): print(line * 10_000, end='')\nprint('END')",
            Limits(max_output_chars=1000),
        )

        assert len(observation.stdout) < 1100
        assert observation.stdout.endswith("END\n")
        assert "199,999,004 characters left out" in observation.stdout
        assert observation.is_truncated
        assert observation.limits_hit == ("max_output_chars",)

    async def test_a_huge_result_is_cut(self, sidecar: Executor) -> None:
        observation = await sidecar.run(sidecar.root, "'y' * 50_000", Limits(max_output_chars=100))

        assert observation.result is not None
        assert len(observation.result) < 200
        assert observation.is_truncated

    async def test_a_stream_of_the_snippets_own_may_lack_what_ours_have(
        self, sidecar: Executor
    ) -> None:
        await sidecar.run(
            sidecar.root,
            "import sys\nclass Own:\n    def __init__(self, inner): self.write = inner.write\n"
            "    def flush(self): raise RuntimeError('broken')\nsys.stdout = Own(sys.stdout)",
        )
        child = await sidecar.fork(sidecar.root)

        for branch in (sidecar.root, child):
            assert (await sidecar.run(branch, "print('shown')")).stdout == "shown\n"

    @pytest.mark.parametrize("spoil", ["sys.stdout = None", "sys.stdout.close()"])
    async def test_a_snippet_that_spoils_the_streams_spoils_only_itself(
        self, sidecar: Executor, spoil: str
    ) -> None:
        await sidecar.run(sidecar.root, f"import sys\n{spoil}")

        assert (await sidecar.run(sidecar.root, "print('back')\n2")).stdout == "back\n"

    async def test_shell_commands_and_help_are_plain_output(self, sidecar: Executor) -> None:
        shell = await sidecar.run(sidecar.root, "!echo hello")
        help_command = await sidecar.run(sidecar.root, "len?")

        assert shell.stdout == "hello\n"
        assert "number of items" in help_command.stdout
        assert "\x1b" not in help_command.stdout

    async def test_input_says_that_nobody_is_there(self, sidecar: Executor) -> None:
        observation = await sidecar.run(sidecar.root, "name = input('Name? ')")

        assert observation.error is not None
        assert observation.error.ename == "EOFError"
        assert "nobody sits" in observation.error.evalue


class TestErrors:
    async def test_the_line_counts_in_the_snippet(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root, "\n\ndef f(n):\n    return 1 / n\n\nimport json\nf(0)\n"
        )

        assert observation.status == "error"
        assert observation.error is not None
        assert observation.error.ename == "ZeroDivisionError"
        assert observation.error.line == 4

    async def test_the_line_of_an_error_in_a_library_is_the_call(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root, "import json\ntext = '{'\n\nvalue = json.loads(text)"
        )

        assert observation.error is not None
        assert observation.error.line == 4
        assert "json.loads(text)" in "\n".join(observation.error.traceback)

    async def test_a_syntax_error_has_its_line(self, sidecar: Executor) -> None:
        observation = await sidecar.run(sidecar.root, "\nx = 1\ny = = 2")

        assert observation.error is not None
        assert (observation.error.ename, observation.error.line) == ("SyntaxError", 3)

    async def test_tracebacks_have_neither_colours_nor_our_frames(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('no') from error",
        )

        assert observation.error is not None
        text = "\n".join(observation.error.traceback)
        assert "\x1b" not in text
        assert "exploracoder" not in text
        assert "IPython" not in text
        assert text.index("KeyError") < text.index("direct cause") < text.index("ValueError: no")

    async def test_an_error_whose_message_raises_is_reported(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root, "class Bad(Exception):\n    def __str__(self): return 1 / 0\nraise Bad"
        )

        assert observation.error is not None
        assert observation.error.ename == "Bad"
        assert "ZeroDivisionError" in observation.error.evalue

    async def test_exit_ends_the_snippet_and_not_the_branch(self, sidecar: Executor) -> None:
        await sidecar.run(sidecar.root, "x = 1")

        observation = await sidecar.run(sidecar.root, "import sys; sys.exit(2)")

        assert observation.error is not None
        assert observation.error.ename == "SystemExit"
        assert (await sidecar.run(sidecar.root, "x")).result == "1"


class TestVariables:
    async def test_new_rebound_and_grown_names_are_reported(self, sidecar: Executor) -> None:
        await sidecar.run(sidecar.root, "a = 1; b = [1]; c = 'same'; untouched = 5")

        observation = await sidecar.run(sidecar.root, "a = 1; b.append(2); new = {'k': 1}")

        by_name = {variable.name: variable for variable in observation.variables}
        assert set(by_name) == {"a", "b", "new"}
        assert by_name["b"].length == 2
        assert by_name["new"].preview == "{'k': 1}"

    async def test_what_a_comprehension_binds_inside_is_not_reported(
        self, sidecar: Executor
    ) -> None:
        await sidecar.run(sidecar.root, "i = 1; last = 3")

        observation = await sidecar.run(
            sidecar.root, "total = sum(last := i for i in range(4)), [i for i in 'ab']"
        )

        assert {variable.name for variable in observation.variables} == {"total", "last"}

    async def test_names_of_ours_and_of_ipython_are_not_variables(self, sidecar: Executor) -> None:
        await sidecar.run(sidecar.root, "import os\n_private = 1\nmine = 2\nmine")

        names = [variable.name for variable in await sidecar.variables(sidecar.root)]

        assert names == ["mine"]

    async def test_classes_are_classes_and_crowd_nothing_out(self, sidecar: Executor) -> None:
        code = "for n in range(150): globals()[f'Class{n}'] = Meta(f'Class{n}', (), {})\nmine = 2"
        await sidecar.run(sidecar.root, f"class Meta(type): pass\n{code}")

        types = {one.name: one.type for one in await sidecar.variables(sidecar.root)}

        assert types["mine"] == "int"
        assert (types["Meta"], types["Class7"]) == ("type", "type")
        assert len(types) == 100

    async def test_a_repr_that_raises_or_hangs_gives_a_sentence(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "class Raises:\n    def __repr__(self): raise OSError('no')\n"
            "class Hangs:\n    def __repr__(self):\n        while True: pass\n"
            "raises, hangs = Raises(), Hangs()",
        )

        previews = {variable.name: variable.preview for variable in observation.variables}
        assert previews["raises"] == "<its repr raised OSError: no>"
        assert "took longer" in previews["hangs"]

    async def test_classes_that_refuse_every_question_are_described(
        self, sidecar: Executor
    ) -> None:
        refuse = "__getattribute__(self, name): raise RuntimeError('no')"
        observation = await sidecar.run(
            sidecar.root,
            f"class Meta(type):\n    def {refuse}\n"
            f"class Odd(metaclass=Meta):\n    def {refuse}\nodd = Odd()",
        )

        types = {variable.name: variable.type for variable in observation.variables}
        assert types == {"Meta": "type", "Odd": "type", "odd": "Odd"}

    async def test_arrays_have_a_shape_and_their_public_type(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root, "import numpy as np\ngrid = np.zeros((2, 3))\nscalar = np.float64(1)"
        )

        by_name = {variable.name: variable for variable in observation.variables}
        assert by_name["grid"].shape == (2, 3)
        assert by_name["grid"].type == "numpy.ndarray"
        assert not by_name["grid"].is_lazy


class TestLimits:
    async def test_a_snippet_over_its_time_is_interrupted_and_the_branch_goes_on(
        self, sidecar: Executor
    ) -> None:
        observation = await sidecar.run(sidecar.root, "x = 1\nwhile True: pass", SHORT)

        assert observation.status == "timeout"
        assert observation.limits_hit == ("wall_seconds",)
        assert observation.error is not None
        assert observation.error.line == 2
        assert (await sidecar.run(sidecar.root, "x")).result == "1"

    async def test_a_snippet_that_ignores_sigint_is_killed_and_the_branch_rebuilt(
        self, sidecar: Executor
    ) -> None:
        await sidecar.run(sidecar.root, "x = 41")
        start = time.monotonic()

        observation = await sidecar.run(
            sidecar.root,
            "import signal\ns = signal.signal(signal.SIGINT, signal.SIG_IGN)\nx = 0\n"
            "while True: pass",
            SHORT,
        )

        assert observation.status == "timeout"
        assert time.monotonic() - start < 30
        assert (await info_of(sidecar, sidecar.root)).state == "dead"
        assert (await sidecar.run(sidecar.root, "x + 1")).result == "42"
        assert (await info_of(sidecar, sidecar.root)).state == "idle"

    @pytest.mark.parametrize(
        ("code", "word"),
        [
            ("import os; os._exit(7)", "exit code 7"),
            ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
            ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ],
    )
    async def test_a_process_that_dies_is_an_observation(
        self, sidecar: Executor, code: str, word: str
    ) -> None:
        child = await sidecar.fork(sidecar.root)
        await sidecar.run(child, "x = 5")

        observation = await sidecar.run(child, f"print('so far')\n{code}")

        assert observation.status == "killed"
        assert observation.stdout == "so far\n"
        assert observation.error is not None
        assert word in observation.error.evalue
        assert (await sidecar.run(child, "x")).result == "5"

    async def test_memory_over_the_limit_is_an_error_in_the_snippet(
        self, sidecar: Executor
    ) -> None:
        observation = await sidecar.run(
            sidecar.root, "big = bytearray(4 << 30)", Limits(memory_bytes=2 << 30)
        )

        assert observation.error is not None
        assert observation.error.ename == "MemoryError"
        assert observation.limits_hit == ("memory_bytes",)
        assert (await sidecar.run(sidecar.root, "1 + 1")).ran

    async def test_what_ran_before_a_limit_was_hit_is_part_of_the_state(
        self, sidecar: Executor
    ) -> None:
        limits = Limits(memory_bytes=2 << 30)
        await sidecar.run(sidecar.root, "x = 41\nbig = bytearray(4 << 30)", limits)
        await sidecar.run(sidecar.root, "import os; os._exit(1)")

        assert (await sidecar.run(sidecar.root, "x + 1")).result == "42"

    async def test_what_other_branches_start_counts_for_none(self, sidecar: Executor) -> None:
        code = "import os\npid = os.fork()\nif not pid: os._exit(0)\nos.waitpid(pid, 0)[1]"
        for _ in range(8):
            branch = await sidecar.fork(sidecar.root)
            observation = await sidecar.run(branch, code, Limits(processes=4, wall_seconds=10))
            await sidecar.drop(branch)

            assert observation.limits_hit == ()
            assert observation.result == "0"

    async def test_too_many_processes_end_the_branch(self, sidecar: Executor) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "import subprocess\nps = [subprocess.Popen(['sleep', '60']) for _ in range(6)]\n"
            "for p in ps: p.wait()",
            Limits(processes=4, wall_seconds=10),
        )

        assert observation.status == "limit"
        assert observation.limits_hit == ("processes",)

    async def test_interrupt_stops_what_runs(self, sidecar: Executor) -> None:
        sign = Sign()
        cell = f"import time; {sign.code} time.sleep(60)"
        running = asyncio.create_task(sidecar.run(sidecar.root, cell))
        await until(sign.processes)

        await sidecar.interrupt(sidecar.root)

        assert (await running).status == "interrupted"
        assert (await sidecar.run(sidecar.root, "1")).ran

    async def test_a_cancelled_run_leaves_a_usable_branch(self, sidecar: Executor) -> None:
        sign = Sign()
        await sidecar.run(sidecar.root, "import time")
        tasks = asyncio.all_tasks()
        cell = f"x = 1\n{sign.code} time.sleep(60)"
        running = asyncio.create_task(sidecar.run(sidecar.root, cell))
        await until(sign.processes)

        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

        assert asyncio.all_tasks() == tasks
        assert (await sidecar.run(sidecar.root, "x")).result == "1"

    async def test_a_process_that_a_snippet_forked_does_not_answer_for_it(
        self, sidecar: Executor
    ) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "import os\npid = os.fork()\nif pid: waited = os.waitpid(pid, 0)\n"
            "print('parent' if pid else 'child')",
        )

        assert observation.ran
        assert observation.stdout == "child\nparent\n"
        assert (await sidecar.run(sidecar.root, "1 + 1")).result == "2"

    async def test_children_of_a_killed_branch_die_with_it(
        self,
        sidecar: Executor,
        pid_is_alive: Callable[[int], bool],
    ) -> None:
        observation = await sidecar.run(
            sidecar.root,
            "import subprocess\n"
            "plain = subprocess.Popen(['sleep', '60'])\n"
            "own = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
            "print(plain.pid, own.pid)",
        )
        pids = [int(word) for word in observation.stdout.split()]
        assert all(pid_is_alive(pid) for pid in pids)

        await sidecar.drop(sidecar.root)

        await until(lambda: not any(pid_is_alive(pid) for pid in pids))
