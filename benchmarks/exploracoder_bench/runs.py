"""One run: the command line explores a problem in a folder of its own, as a person calls it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

# The command ends by itself at its limit; one that does not is interrupted, and killed at last.
GRACE_S = 90.0
INTERRUPT_S = 20.0

RunStatus = Literal["solved", "unverified", "failed", "cancelled", "setup"]
RunKey = tuple[str, str, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be explored.

    ``python`` is the interpreter that has the libraries, ``fixtures`` a folder whose content the
    working folder starts with, ``search_path`` a folder of more modules for that interpreter.
    """

    name: str
    dataset: str
    task: str
    context: str
    check: str
    entry_point: str | None
    libraries: tuple[str, ...]
    python: str
    fixtures: Path | None = None
    search_path: Path | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """How a problem is explored; ``options`` are further arguments of ``exploracoder explore``."""

    method: str
    seed: int
    options: tuple[str, ...] = ()


class RunResult(BaseModel):
    """What came of one run.

    ``seconds`` is the wall time of the whole command, ``seconds_exploration`` that of the
    exploration in it. ``setup`` means that the command could not do its work (exit code 2), which
    says nothing about the method.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    dataset: str
    method: str
    seed: int
    options: tuple[str, ...] = ()
    status: RunStatus
    exit_code: int
    ran: bool = False
    checks: str = "none"
    reason: str = ""
    subtasks: int = 0
    candidates: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    subtask_tokens: int = 0
    seconds_model: float = 0.0
    seconds_execution: float = 0.0
    seconds_exploration: float = 0.0
    seconds: float = 0.0

    @property
    def key(self) -> RunKey:
        """What makes it this run and no other."""
        return (self.problem, self.method, self.seed, self.options)

    @property
    def is_solved(self) -> bool:
        """Whether the solution ran and its checks passed."""
        return self.status == "solved"


def prepare(problem: Problem, folder: Path) -> None:
    """Make ``folder`` afresh: the fixtures, task.txt, context.py and check.py."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if problem.fixtures is not None:
        shutil.copytree(problem.fixtures, folder)
    folder.mkdir(exist_ok=True)
    for name, text in (
        ("task.txt", problem.task),
        ("context.py", problem.context),
        ("check.py", problem.check),
    ):
        (folder / name).write_text(text, encoding="utf-8")


def command(problem: Problem, way: Way, timeout_s: float) -> list[str]:
    """The command line of a run; it reads the task from standard input."""
    arguments = [script(), "explore", "-", "--method", way.method, "--seed", str(way.seed)]
    for library in problem.libraries:
        arguments += ["--library", _from_anywhere(library)]
    if problem.entry_point:
        arguments += ["--entry-point", problem.entry_point]
    if problem.context.strip():
        arguments += ["--context", "context.py"]
    arguments += ["--check", "check.py", "--python", _from_anywhere(problem.python)]
    arguments += ["--output", "exploration.ipynb", "--max-seconds", f"{timeout_s:g}"]
    return [*arguments, "--json", "--quiet", *way.options]


def run(problem: Problem, way: Way, folder: Path, *, timeout_s: float) -> RunResult:
    """Explore ``problem`` in ``folder``, which is made afresh, within ``timeout_s`` seconds.

    What the command wrote stays there: exploration.ipynb, report.json, messages.txt.
    """
    prepare(problem, folder)
    started = time.perf_counter()
    exit_code, printed = _call(
        command(problem, way, timeout_s),
        folder,
        environment=_environment(problem),
        task=problem.task,
        timeout_s=timeout_s + GRACE_S,
    )
    seconds = time.perf_counter() - started
    (folder / "report.json").write_text(printed, encoding="utf-8")
    said = (folder / "messages.txt").read_text(encoding="utf-8", errors="replace")
    return result(
        problem, way, exit_code=exit_code, report=_report(printed), said=said, seconds=seconds
    )


def warm_index(problem: Problem) -> str:
    """Bring the index up to date for a problem's libraries; what went wrong, or an empty text."""
    for library in problem.libraries:
        done = subprocess.run(
            [script(), "index", library, "--python", problem.python, "--json"],
            env=_environment(problem),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no message"
    return ""


def script() -> str:
    """The command line that belongs to this interpreter. Raises FileNotFoundError."""
    path = Path(sysconfig.get_path("scripts")) / "exploracoder"
    if not path.exists():
        raise FileNotFoundError(f"There is no {path}. Install ExploraCoder into this Python.")
    return str(path)


def result(
    problem: Problem,
    way: Way,
    *,
    exit_code: int,
    report: Mapping[str, Any],
    said: str,
    seconds: float,
) -> RunResult:
    """The result that a command's exit code, its JSON object and its last words stand for."""
    verified = report.get("verified") or {}
    usage = report.get("usage") or {}
    subtasks = report.get("subtasks") or []
    parts = report.get("usage_by_part") or {}
    lines = said.strip().splitlines()
    return RunResult(
        problem=problem.name,
        dataset=problem.dataset,
        method=way.method,
        seed=way.seed,
        options=way.options,
        status=_status(exit_code, report),
        exit_code=exit_code,
        ran=bool(verified.get("ran")),
        checks=verified.get("checks", "none"),
        reason=report.get("error") or report.get("reason") or (lines[-1] if lines else ""),
        subtasks=len(subtasks),
        candidates=sum(subtask["candidates"] for subtask in subtasks),
        calls=usage.get("calls", 0),
        prompt_tokens=usage.get("prompt_tokens", 0),
        completion_tokens=usage.get("completion_tokens", 0),
        cached_tokens=usage.get("cached_tokens", 0),
        subtask_tokens=sum(
            parts.get(subtask["id"], {}).get("completion_tokens", 0) for subtask in subtasks
        ),
        seconds_model=usage.get("seconds_model", 0.0),
        seconds_execution=usage.get("seconds_execution", 0.0),
        seconds_exploration=usage.get("seconds_total", 0.0),
        seconds=round(seconds, 3),
    )


def _from_anywhere(name_or_path: str) -> str:
    """A path that holds in the working folder too; links stay, since they make a venv's Python."""
    return str(Path(name_or_path).absolute()) if os.sep in name_or_path else name_or_path


def _status(exit_code: int, report: Mapping[str, Any]) -> RunStatus:
    if exit_code == 0:
        return "unverified" if report.get("status") == "unverified" else "solved"
    if exit_code == 1 and report.get("status") == "failed":
        return "failed"
    # An exception that got out (exit code 1, no object) is a fault of ours, not of the method.
    return "cancelled" if exit_code == 130 else "setup"


def _environment(problem: Problem) -> dict[str, str]:
    environment = dict(os.environ)
    if problem.search_path is not None:
        paths = [str(problem.search_path.absolute()), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


def _call(
    arguments: list[str],
    folder: Path,
    *,
    environment: Mapping[str, str],
    task: str,
    timeout_s: float,
) -> tuple[int, str]:
    """Exit code and standard output; the process has ended when this returns or raises."""
    with (
        (folder / "messages.txt").open("w", encoding="utf-8") as messages,
        subprocess.Popen(
            arguments,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
        ) as process,
    ):
        try:
            printed, _ = process.communicate(task, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            printed = _last_words(process)
        except BaseException:
            process.kill()
            raise
    return process.returncode, printed


def _last_words(process: subprocess.Popen[str]) -> str:
    try:
        printed, _ = process.communicate(timeout=INTERRUPT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        printed, _ = process.communicate()
    return printed


def _report(printed: str) -> dict[str, Any]:
    try:
        report = json.loads(printed)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}
