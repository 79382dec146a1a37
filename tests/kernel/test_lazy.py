"""Lazy objects are looked into without being consumed."""

from __future__ import annotations

import pytest
from exploracoder_kernel.branch import landlock
from exploracoder_kernel.observation import Observation, Variable
from exploracoder_kernel.sidecar import Sidecar

pytestmark = pytest.mark.skipif(
    not landlock.version(), reason="without Landlock, looking could have effects"
)


def only(observation: Observation, name: str) -> Variable:
    return next(variable for variable in observation.variables if variable.name == name)


async def test_a_generator_shows_its_first_elements_and_keeps_them(forking: Sidecar) -> None:
    observation = await forking.run(forking.root, "g = (n * n for n in range(100))")

    assert only(observation, "g").is_lazy
    assert only(observation, "g").preview == "first elements: 0, 1, 4, …"
    assert (await forking.run(forking.root, "next(g)")).result == "0"


async def test_an_iterator_over_an_open_file_loses_no_line(forking: Sidecar) -> None:
    await forking.run(
        forking.root,
        "from pathlib import Path\nn = Path('t.txt').write_text('a\\nb\\nc\\nd\\n' * 9999)",
    )

    observation = await forking.run(
        forking.root, "file = open('t.txt')\nlines = (line.strip() for line in file)"
    )

    assert only(observation, "lines").preview == "first elements: 'a', 'b', 'c', …"
    assert (await forking.run(forking.root, "len(list(lines))")).result == "39996"


async def test_a_pipeline_that_fails_when_it_is_iterated_says_so(forking: Sidecar) -> None:
    observation = await forking.run(
        forking.root,
        "class Pipe:\n    def __iter__(self):\n        yield from [1 / 0]\npipe = Pipe()",
    )

    assert only(observation, "pipe").is_lazy
    assert only(observation, "pipe").preview_error == "ZeroDivisionError: division by zero"


async def test_a_pipeline_whose_length_raises_is_lazy(forking: Sidecar) -> None:
    observation = await forking.run(
        forking.root,
        "class Pipe:\n"
        "    def __iter__(self): return iter('ab')\n"
        "    def __len__(self): raise TypeError('no length')\n"
        "pipe = Pipe()",
    )

    assert only(observation, "pipe").is_lazy
    assert only(observation, "pipe").preview == "elements: 'a', 'b'"


async def test_one_that_never_gives_an_element_is_left_after_two_seconds(forking: Sidecar) -> None:
    observation = await forking.run(
        forking.root, "import time\ndef slow():\n    time.sleep(60)\n    yield 1\ns = slow()"
    )

    assert only(observation, "s").preview_error == "TimeoutError: no element came within 2 s"


async def test_containers_strings_files_and_scalars_are_not_lazy(forking: Sidecar) -> None:
    observation = await forking.run(
        forking.root,
        "import io, numpy as np\n"
        "a = [1]; b = 'text'; c = {1: 2}; d = range(3); e = io.StringIO('x'); f = np.float64(1)",
    )

    assert not any(variable.is_lazy for variable in observation.variables)


async def test_a_branch_that_must_not_be_forked_is_not_looked_into(forking: Sidecar) -> None:
    await forking.run(
        forking.root,
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
    )

    observation = await forking.run(forking.root, "g = iter([1, 2])")

    assert only(observation, "g").is_lazy
    assert "list_iterator" in only(observation, "g").preview


async def test_looking_into_a_lazy_value_changes_no_file(forking: Sidecar) -> None:
    observation = await forking.run(
        forking.root,
        "import os\nfor name in 'abcd': open(name, 'w').close()\n"
        "gone = map(os.remove, 'abcd')\nmade = (os.mkdir(name) for name in 'efgh')",
    )

    for name in ("gone", "made"):
        assert only(observation, name).is_lazy
        assert only(observation, name).preview_error is None
    listed = await forking.run(forking.root, "''.join(sorted(os.listdir()))")
    assert listed.result == "'abcd'"


async def test_looking_into_a_lazy_value_takes_nothing_out_of_a_pipe(forking: Sidecar) -> None:
    await forking.run(
        forking.root,
        "import os\nr, w = os.pipe()\ndone = os.write(w, b'said\\n'), os.close(w)\n"
        "lines = (line for line in open(r))",
    )

    assert (await forking.run(forking.root, "list(lines)")).result == r"['said\n']"


async def test_looking_into_a_lazy_value_writes_nothing_to_open_files(forking: Sidecar) -> None:
    await forking.run(
        forking.root,
        "log = open('log', 'a', buffering=1)\nlogged = (log.write('line\\n') for _ in range(3))",
    )

    assert (await forking.run(forking.root, "open('log').read()")).result == "''"


async def test_a_cell_that_has_children_ignored_shows_first_elements(forking: Sidecar) -> None:
    observation = await forking.run(
        forking.root,
        "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\ng = (n for n in range(2))",
    )

    assert observation.status == "ok"
    assert only(observation, "g").preview == "elements: 0, 1"


async def test_a_cell_succeeds_where_the_system_refuses_a_fork(forking: Sidecar) -> None:
    observation = await forking.run(
        forking.root,
        "import os\ndef refuse():\n    raise BlockingIOError\nos.fork = refuse\n"
        "g = (n for n in range(2))",
    )

    assert observation.status == "ok"
    assert only(observation, "g").is_lazy
