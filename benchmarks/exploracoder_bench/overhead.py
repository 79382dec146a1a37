"""What an exploration costs beside the model: six subtasks, three candidates each.

Run: ``python -m exploracoder_bench.overhead [--parts startup,engine,model,tokens]``

    startup  importing the package, loading the magics, and the command line's --help
    engine   a whole exploration with a model that answers at once: what is left is ours
    model    the same with the embedded model: the share of the wall time that is not the model
    tokens   completion tokens of live candidates against self-contained ones, same model and plan

``model`` and ``tokens`` ask the embedded model, or the one that the environment names, for some
minutes; they are left out unless they are named. Times are medians; quote the ratios.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer

from exploracoder_bench import runs, six_steps
from exploracoder_bench.measured_parts import Measure, Parts, print_parts
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import ModelOptions, Way

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
    begin = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return 1000 * (time.perf_counter() - begin)


if __name__ == "__main__":
    sys.exit(main())
