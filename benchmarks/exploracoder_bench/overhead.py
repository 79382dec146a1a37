"""What an exploration costs beside the model: six subtasks, three candidates each.

Run: ``python -m exploracoder_bench.overhead [--parts startup,engine,…]``

    startup      importing the package, loading the magics, and the command line's --help
    engine       a whole exploration with a model that answers at once: what is left is ours
    first-cell   until the first cell has run, of the time until the solution
    whole-reply  the same with a server that sends no streams
    busy-kernel  how soon a user's cell comes back while an exploration works in the same kernel
    model        as engine with the embedded model: the share of the wall time that is not the model
    tokens       completion tokens of live candidates against self-contained ones, same plan

For ``first-cell`` a model writes the six cells of `six_steps` and the solution, which passes its
check, in one reply, at 30 tokens a second of four characters each; so fast a hosted model is, or a
small one on a good processor. What it writes is read as it comes, piece by piece at that pace. What
the model takes to read is left out. The time begins with the exploration's work, after its kernel
is there. For ``busy-kernel`` a kernel runs cells with ``1 + 1`` one after another, before an
exploration whose model answers slowly and meanwhile. ``model`` and ``tokens`` ask the embedded
model, or the one that the environment names, for some minutes. All but the first two are left out
unless they are named. Times are medians; quote the ratios.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from exploracoder.api import explore_sync
from exploracoder.events import Event
from exploracoder.methods import DEFAULT
from exploracoder.testing import (
    PIECE_CHARS,
    Delay,
    Outcome,
    RecordedRequest,
    ScriptedModelServer,
)
from exploracoder.workspace import Options
from jupyter_client.manager import start_new_kernel

from exploracoder_bench import runs, six_steps
from exploracoder_bench.measured_parts import Measure, Parts, print_parts
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import ModelOptions, Way
from exploracoder_bench.timing import timed

_ALL_CANDIDATES = (
    "--profile=small",
    "--candidates=3",
    "--no-self-debug",
    "--set=stop_at_first=false",
    "--set=first_tries=0",
    "--set=max_subtasks=6",
    # Self-contained candidates grow with each step; they must not be cut.
    "--set=step_tokens=900",
)
_EMBEDDED = ModelOptions("embedded")
# 30 tokens a second of four characters each.
_CHARS_PER_SECOND = 30 * 4.0
_USERS_CELLS = 200
_ANSWER_SECONDS = 0.5
_START_SECONDS = 120

_LOAD_MAGICS = """
import time
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
settings = Config()
settings.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=settings)
start = time.perf_counter()
shell.run_line_magic("load_ext", "exploracoder")
print(1000 * (time.perf_counter() - start))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts and print a table."""
    return print_parts(_PARTS, arguments, about=__doc__, default="startup,engine", rounds=3)


def measure_startup(rounds: int) -> Iterator[Measure]:
    """What a person waits for before anything happens."""
    code = (
        "import time; start = time.perf_counter(); import exploracoder;"
        " print(1000 * (time.perf_counter() - start))"
    )
    imports = [float(_output([sys.executable, "-c", code])) for _ in range(rounds)]
    yield Measure("startup", "import exploracoder", statistics.median(imports), "ms")
    loads = [float(_output([sys.executable, "-c", _LOAD_MAGICS])) for _ in range(rounds)]
    yield Measure("startup", "%load_ext exploracoder", statistics.median(loads), "ms")
    helps = [_milliseconds([runs.script(), "--help"]) for _ in range(rounds)]
    yield Measure("startup", "exploracoder --help", statistics.median(helps), "ms")
    bare = [_milliseconds([sys.executable, "-c", ""]) for _ in range(rounds)]
    yield Measure("startup", "of which Python itself", statistics.median(bare), "ms")


def measure_engine(rounds: int) -> Iterator[Measure]:
    """A whole exploration whose model answers at once from a script."""
    _warm_index()
    with ScriptedModelServer(scripted_reply, model="six-steps") as server:
        model_choice = ModelOptions(server.model, server.base_url)
        options = (*_ALL_CANDIDATES, "--set=few_shot_plans=0")
        results = [_explored(options, seed, model_choice) for seed in range(rounds)]
    shapes = {(one.subtasks, one.candidates, one.is_solved) for one in results}
    if shapes != {(6, 18, True)}:
        raise RuntimeError(f"Not 6 subtasks, 18 candidates and a solution, but {shapes}.")
    ours = [one.seconds_exploration - one.seconds_model for one in results]
    start = [one.seconds - one.seconds_exploration for one in results]
    code = [one.seconds_execution for one in results]
    yield Measure("engine", "exploration without the model", statistics.median(ours), "s")
    yield Measure("engine", "of which requests to run code", statistics.median(code), "s")
    yield Measure("engine", "starting and ending the command", statistics.median(start), "s")


def measure_first_cell(
    rounds: int, *, is_whole: bool = False, chars_per_second: float = _CHARS_PER_SECOND
) -> Iterator[Measure]:
    """Until something can be seen; with ``is_whole`` the model's server does not stream."""
    _warm_index()

    def reply(request: RecordedRequest) -> Outcome:
        text = written_at_once()
        return text if request.is_stream else Delay(len(text) / chars_per_second, text)

    pause = PIECE_CHARS / chars_per_second
    with ScriptedModelServer(reply, refuse_stream=is_whole, piece_pause_s=pause) as server:
        times = [_seen(server, seed) for seed in range(rounds)]
    part = "whole-reply" if is_whole else "first-cell"
    first_cells, solutions = zip(*times, strict=True)
    share = statistics.median(first / whole for first, whole in times)
    yield Measure(part, "to the first cell", statistics.median(first_cells), "s")
    yield Measure(part, "to the solution", statistics.median(solutions), "s")
    yield Measure(part, "share", 100 * share, "%")


def _seen(server: ScriptedModelServer, seed: int) -> tuple[float, float]:
    """Seconds of an exploration's work: until its first cell has run, and until its solution."""
    seconds: list[float] = []

    def note(event: Event) -> None:
        if not seconds and any(step.status == "done" for step in event.exploration.steps):
            seconds.append(event.exploration.seconds_total)

    problem = six_steps.problem(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        exploration = explore_sync(
            problem.task,
            libraries=problem.libraries,
            context=problem.context,
            check=problem.check,
            model=server.model,
            output=Path(folder) / runs.NOTEBOOK,
            on_event=note,
            # What a measurement writes is no example of the user's.
            options=Options(
                base_url=server.base_url, method=DEFAULT, seed=seed, settings={"memory": False}
            ),
        )
    if exploration.status != "solved" or not seconds:
        raise RuntimeError(
            f"The exploration came to nothing: {exploration.status}. {exploration.reason}"
        )
    return seconds[0], exploration.seconds_total


def written_at_once() -> str:
    """What the model writes: a cell for each step, and the solution."""
    parts = [
        (f"{number}. {step.goal}", step.candidates[0])
        for number, step in enumerate(six_steps.steps(), 1)
    ]
    parts.append(("Solution", six_steps.SOLUTION.strip()))
    return "\n".join(f"### {goal}\n```python\n{code}\n```" for goal, code in parts)


def measure_busy_kernel(_rounds: int) -> Iterator[Measure]:
    """A user's cell before an exploration in the same kernel, and while it works."""

    def reply(request: RecordedRequest) -> Outcome:
        return Delay(_ANSWER_SECONDS, scripted_reply(request))

    with tempfile.TemporaryDirectory() as folder, ScriptedModelServer(reply) as server:
        manager, client = start_new_kernel(cwd=folder, env=dict(os.environ))
        run = partial(_cell_ms, client)
        try:
            run("%load_ext exploracoder")
            words = f"model={server.model} base-url={server.base_url} memory=false"
            run(f"%exploracoder config {words}")
            before = [run("1 + 1") for _ in range(_USERS_CELLS)]
            run(f"start = {six_steps.CONTEXT!r}")
            options = " ".join(f"--library {name}" for name in six_steps.LIBRARIES)
            start_ms = run(f"%%exploracoder {options} --context start\n{six_steps.TASK}")
            server.wait_for_requests(1, _START_SECONDS)
            meanwhile = [run("1 + 1") for _ in range(_USERS_CELLS)]
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    for what, times in (("before", before), ("while it works", meanwhile)):
        yield Measure("busy-kernel", f"a cell {what}, median", statistics.median(times), "ms")
        yield Measure("busy-kernel", f"a cell {what}, worst", max(times), "ms")
    yield Measure("busy-kernel", "the cell that begins it", start_ms, "ms")


def _cell_ms(client: Any, code: str) -> float:
    """Milliseconds until the kernel has answered."""

    def execute() -> None:
        reply = client.execute_interactive(code, timeout=_START_SECONDS, output_hook=lambda _: None)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(f"{code!r} failed: {reply['content'].get('evalue')}")

    return 1000 * timed(execute).wall


def measure_model(rounds: int) -> Iterator[Measure]:
    """The share of the wall time that is not the model."""
    _warm_index()
    results = [_explored(_ALL_CANDIDATES, seed) for seed in range(rounds)]
    yield Measure("model", "subtasks", statistics.median(one.subtasks for one in results), "")
    yield Measure("model", "candidates", statistics.median(one.candidates for one in results), "")
    seconds = [one.seconds for one in results]
    yield Measure("model", "wall time of the command", statistics.median(seconds), "s")
    inner = [1 - one.seconds_model / one.seconds_exploration for one in results]
    whole = [1 - one.seconds_model / one.seconds for one in results]
    yield Measure("model", "not the model, exploration", 100 * statistics.median(inner), "%")
    yield Measure("model", "not the model, command", 100 * statistics.median(whole), "%")


def measure_tokens(rounds: int) -> Iterator[Measure]:
    """Completion tokens of the candidates in both styles."""
    _warm_index()
    tokens = {}
    for style in ("live", "self_contained"):
        options = (*_ALL_CANDIDATES, f"--set=candidate_style={style}")
        results = [_explored(options, seed) for seed in range(rounds)]
        subtasks = sum(one.subtasks for one in results)
        tokens[style] = sum(one.subtask_tokens for one in results) / subtasks
        yield Measure("tokens", f"subtasks, {style}", subtasks, "")
        yield Measure("tokens", f"for each subtask, {style}", tokens[style], "tokens")
    share = 100 * tokens["live"] / tokens["self_contained"]
    yield Measure("tokens", "live, of self-contained", share, "%")


_PARTS: Parts = {
    "startup": measure_startup,
    "engine": measure_engine,
    "first-cell": measure_first_cell,
    "whole-reply": partial(measure_first_cell, is_whole=True),
    "busy-kernel": measure_busy_kernel,
    "model": measure_model,
    "tokens": measure_tokens,
}


def _warm_index() -> None:
    failure = runs.warm_index(six_steps.problem(sys.executable))
    if failure:
        raise RuntimeError(f"The index could not be made: {failure}")


def _explored(
    options: tuple[str, ...], seed: int, model_choice: ModelOptions = _EMBEDDED
) -> RunResult:
    problem = six_steps.problem(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        way = Way("exploration", seed, options)
        result = runs.run(problem, way, model_choice, Path(folder) / "run", timeout_s=1800)
    if result.status in ("setup", "cancelled"):
        raise RuntimeError(f"The exploration could not be done: {result.reason}")
    return result


def scripted_reply(request: RecordedRequest) -> Outcome:
    """The plan when a schema is requested, a step's candidates when several are, and otherwise the
    solution."""
    steps = six_steps.steps()
    if "response_format" in request.body:
        return json.dumps({"subtasks": [step.goal for step in steps]})
    if request.body.get("n", 1) == 1:
        return f"```python\n{six_steps.SOLUTION}```"
    # Earlier goals are in the prompt too; the requested one comes last.
    current = max(steps, key=lambda step: request.last_user_message.rfind(step.goal))
    return [f"```python\n{code}\n```" for code in current.candidates]


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _milliseconds(command: list[str]) -> float:
    return 1000 * timed(partial(subprocess.run, command, capture_output=True, check=True)).wall


if __name__ == "__main__":
    sys.exit(main())
