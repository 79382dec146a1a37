"""Many runs, one after another, each kept as a line of a file, so that a sweep can go on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from exploracoder_bench.runs import Problem, RunKey, RunResult, Way, warm_index

Runner = Callable[[Problem, Way, Path], RunResult]


class Ledger:
    """The results of a sweep, a JSON line each; of two lines for one run the later counts."""

    def __init__(self, file: Path) -> None:
        """Reads what ``file`` holds already; it and its folder are made when they are missing."""
        self._file = file
        self._results: dict[RunKey, RunResult] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                result = RunResult.model_validate_json(line)
                self._results[result.key] = result

    def append(self, result: RunResult) -> None:
        """Keep a result, on disk before anything else happens."""
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(result.model_dump_json() + "\n")
        self._results[result.key] = result

    def find(self, key: RunKey) -> RunResult | None:
        """The result of a run, if there is one."""
        return self._results.get(key)

    def is_finished(self, key: RunKey) -> bool:
        """Whether a run need not be done again: a set-up that failed or Ctrl-C finishes nothing."""
        result = self.find(key)
        return result is not None and result.status not in ("setup", "cancelled")


def sweep(
    problems: Sequence[Problem], ways: Iterable[Way], out: Path, runner: Runner
) -> tuple[RunResult, ...]:
    """Run every problem in every way; runs that ``out``/results.jsonl holds are not repeated.

    Each run works in a folder of its own under ``out``/work. All of a method's runs come together,
    so that its prompts find the server's cache as they would in use. Ctrl-C ends the sweep early
    and gives the results so far.
    """
    ledger = Ledger(out / "results.jsonl")
    pairs = [(problem, way) for way in ways for problem in problems]
    pending = [pair for pair in pairs if not ledger.is_finished(_key(*pair))]
    _say(f"{len(pairs)} runs, {len(pairs) - len(pending)} of them finished before")
    try:
        _warm(problem for problem, _ in pending)
        for number, (problem, way) in enumerate(pending, start=1):
            result = runner(problem, way, folder_of(out, problem, way))
            ledger.append(result)
            _say(f"{number}/{len(pending)}  {_line(result)}")
    except KeyboardInterrupt:
        _say("Interrupted; call it again to go on.")
    found = (ledger.find(_key(problem, way)) for problem, way in pairs)
    return tuple(result for result in found if result is not None)


def folder_of(out: Path, problem: Problem, way: Way) -> Path:
    """The working folder of a run; the last of several with other options is kept."""
    return (out / "work" / problem.name / f"{way.method}-{way.seed}").absolute()


def _key(problem: Problem, way: Way) -> RunKey:
    return (problem.name, way.method, way.seed, way.options)


def _warm(problems: Iterable[Problem]) -> None:
    """Index each library once beforehand: it is no part of what a method costs."""
    distinct = {(problem.libraries, problem.python): problem for problem in problems}
    for problem in distinct.values():
        failure = warm_index(problem)
        if failure:
            _say(f"{' and '.join(problem.libraries)}: {failure}")


def _line(result: RunResult) -> str:
    tokens = result.prompt_tokens + result.completion_tokens
    words = f"{result.problem}  {result.method}-{result.seed}  {result.status}"
    line = f"{words}  {tokens} tokens  {result.seconds:.1f} s"
    return f"{line}  {result.reason}" if result.status == "setup" else line


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
