"""One run: the command line explores a problem in a folder of its own, as a user would call it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exploracoder import document
from exploracoder.errors import InputError
from exploracoder.folders import DATA
from exploracoder.models.model_cost import Usage

from exploracoder_bench.chains import facts_of
from exploracoder_bench.children import Children
from exploracoder_bench.problems import Problem
from exploracoder_bench.results import Fault, RunResult, RunStatus

# The command ends by itself at its limit; this is for starting up and saving.
GRACE_S = 90.0
NOTEBOOK = "exploration.ipynb"
# Solved tasks must not serve as examples in a measurement, unless the way asks for that.
NO_MEMORY = "memory=false"


_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Way:
    """How a problem is explored; ``options`` are further arguments of ``exploracoder explore``.

    With ``hides_check`` the method is not given the problem's check. ``options`` that make an
    ``ablation`` of the method have a row of their own.
    """

    method: str
    seed: int
    options: tuple[str, ...] = ()
    hides_check: bool = False
    ablation: str = ""

    @property
    def row(self) -> str:
        """The method's name in results."""
        return f"{self.method}-{self.ablation}" if self.ablation else self.method


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which model is asked, with which adapter (a GGUF file), and where replies are kept, for
    resuming an interrupted run or for other methods too.

    With ``answers_kept`` no model is asked: all replies are there. None of this is in a run's key.
    """

    model: str
    base_url: str | None = None
    replies: Path | None = None
    lora: Path | None = None
    shares_replies: bool = False
    answers_kept: bool = False

    @property
    def options(self) -> list[str]:
        """The arguments of ``exploracoder explore``."""
        arguments = ["--model", self.model]
        arguments += ["--base-url", self.base_url] if self.base_url else []
        arguments += ["--replies", str(self.replies.absolute())] if self.replies else []
        arguments += ["--replies-only"] if self.answers_kept else []
        arguments += ["--lora", str(self.lora.absolute())] if self.lora else []
        return arguments


@dataclass(frozen=True, slots=True)
class BriefingOutcome:
    """What a model's briefing on libraries came to: its cost, or what failed and whose fault it is.

    A model whose answers are of no use there is nobody's ``fault`` yet: each sample will tell.
    """

    message: str
    fault: Fault = ""
    usage: Usage = _NOTHING


def prepare(problem: Problem, folder: Path) -> None:
    """Recreate ``folder`` with the fixtures, task.txt, context.py and check.py."""
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


def command(problem: Problem, way: Way, model_choice: ModelOptions, timeout_s: float) -> list[str]:
    """The command line of a run; it reads the task from standard input."""
    arguments = [script(), "explore", "-", "--method", way.method, "--seed", str(way.seed)]
    for library in problem.libraries:
        arguments += ["--library", _from_anywhere(library)]
    if problem.entry_point:
        arguments += ["--entry-point", problem.entry_point]
    if problem.place is not None:
        arguments += ["--repository", problem.place.root, "--file", problem.place.file]
    if problem.context.strip():
        arguments += ["--context", "context.py"]
    if not way.hides_check:
        arguments += ["--check", "check.py"]
    arguments += ["--python", _from_anywhere(problem.python)]
    arguments += ["--output", NOTEBOOK, "--max-seconds", f"{timeout_s:g}"]
    arguments += ["--json", "--quiet", f"--set={NO_MEMORY}"]
    return [*arguments, *model_choice.options, *way.options]


def run(
    problem: Problem,
    way: Way,
    model_choice: ModelOptions,
    folder: Path,
    *,
    timeout_s: float,
    cache: Path | None = None,
    children: Children | None = None,
) -> RunResult:
    """Explore ``problem`` in ``folder``, which is recreated, within ``timeout_s`` seconds.

    ``cache`` is a cache folder to use instead of the user's. What the command wrote stays in
    ``folder``: exploration.ipynb, report.json, messages.txt.
    """
    prepare(problem, folder)
    if way.hides_check:
        # Code that runs there could read it.
        (folder / "check.py").unlink()
    start = time.perf_counter()
    exit_code, is_late = (children or Children()).call(
        command(problem, way, model_choice, timeout_s),
        folder,
        environment=environment(problem, cache),
        timeout_s=timeout_s + GRACE_S,
    )
    seconds = time.perf_counter() - start
    output = (folder / "report.json").read_text(encoding="utf-8", errors="replace")
    messages = (folder / "messages.txt").read_text(encoding="utf-8", errors="replace")
    if is_late:
        messages += f"\nIt did not end within {timeout_s + GRACE_S:g} s and was ended."
    outcome = result(
        problem,
        way,
        exit_code=exit_code,
        report=_report(output),
        messages=messages,
        seconds=seconds,
    )
    return _with_chain(outcome, problem, folder / NOTEBOOK)


def warm_index(problem: Problem) -> str:
    """Bring the index up to date for a problem's libraries; return what failed, or ""."""
    for library in problem.libraries:
        process = subprocess.run(
            [script(), "index", library, "--python", problem.python, "--json"],
            env=environment(problem),
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode != 0:
            return (
                process.stderr.strip().splitlines()[-1] if process.stderr.strip() else "no message"
            )
    return ""


def brief(
    problem: Problem,
    way: Way,
    model_choice: ModelOptions,
    folder: Path,
    *,
    timeout_s: float,
    children: Children | None = None,
) -> BriefingOutcome:
    """Have the model write the briefing that ``way`` gives it on the problem's libraries.

    This runs in a new ``folder``; the briefing is kept with the index, for all runs of that way.
    """
    folder.mkdir(parents=True)
    (folder / "task.txt").touch()
    arguments = [script(), "brief", *map(_from_anywhere, problem.libraries)]
    arguments += ["--method", way.method, "--python", _from_anywhere(problem.python)]
    replies = model_choice.replies / "briefing" if model_choice.replies is not None else None
    own_choice = replace(model_choice, replies=replies)
    exit_code, is_late = (children or Children()).call(
        [*arguments, "--json", "--quiet", *own_choice.options, *way.options],
        folder,
        environment=environment(problem),
        timeout_s=timeout_s,
    )
    report = _report((folder / "report.json").read_text(encoding="utf-8", errors="replace"))
    message = (folder / "messages.txt").read_text(encoding="utf-8", errors="replace").strip()
    if exit_code == 0:
        counts = report.get("usage", {})
        usage = Usage(**{name: counts.get(name, 0) for name in _ASKED})
        message = f"{usage.calls} model calls, {usage.total_tokens} tokens"
        return BriefingOutcome(message, usage=usage)
    late = f"It did not end within {timeout_s:g} s." if is_late else "no message"
    reason = report.get("error") or (message.splitlines()[-1] if message else late)
    # If a kept reply is missing, samples that are not told of the briefing can still go on.
    kind = report.get("error_kind")
    fault = "execution" if model_choice.answers_kept else _FAULTS.get(kind, "execution")
    return BriefingOutcome(reason, fault)


def script() -> str:
    """The command line that belongs to this interpreter. Raises FileNotFoundError."""
    path = Path(sysconfig.get_path("scripts")) / "exploracoder"
    if not path.exists():
        raise FileNotFoundError(f"There is no {path}. Install ExploraCoder into this Python.")
    return str(path)


def environment(problem: Problem, cache: Path | None = None) -> dict[str, str]:
    """The environment of a problem's commands: its search path, and ``cache`` if that is given."""
    own = dict(os.environ)
    if cache is not None:
        own |= {"EXPLORACODER_CACHE": str(cache), "EXPLORACODER_DATA": str(cache / DATA)}
    if problem.search_path is not None:
        paths = [str(problem.search_path.absolute()), own.get("PYTHONPATH", "")]
        own["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return own


def is_full_disk(failure: str) -> bool:
    """Whether an exception's text says that a disk is full, or a quota used up."""
    return any(f"[Errno {number}]" in failure for number in (errno.ENOSPC, errno.EDQUOT))


def result(
    problem: Problem,
    way: Way,
    *,
    exit_code: int,
    report: Mapping[str, Any],
    messages: str,
    seconds: float,
) -> RunResult:
    """The result from a command's exit code, its JSON report and its messages."""
    verification = report.get("verified") or {}
    usage = report.get("usage") or {}
    subtasks = report.get("subtasks") or []
    parts = report.get("usage_by_part") or {}
    lines = messages.strip().splitlines()
    failure = report.get("failure") or ""
    is_hindered = report.get("status") == "failed" and is_full_disk(failure)
    status: RunStatus = "setup" if is_hindered else _status(exit_code, report)
    return RunResult(
        problem=problem.name,
        dataset=problem.dataset,
        method=way.row,
        seed=way.seed,
        options=way.options,
        status=status,
        fault="execution" if is_hindered else _fault(status, report),
        exit_code=exit_code,
        ran=bool(verification.get("ran")),
        checks=verification.get("checks", "none"),
        reason=failure if is_hindered else _reason(report, lines),
        solution=report.get("solution") or "",
        tests_passed=int(status == "solved"),
        subtasks=len(subtasks),
        candidates=sum(subtask["candidates"] for subtask in subtasks),
        cached_calls=report.get("replies_from_cache", 0),
        subtask_tokens=sum(
            parts.get(subtask["id"], {}).get("completion_tokens", 0) for subtask in subtasks
        ),
        **{name: usage.get(name, 0) for name in _COUNTED},
        seconds_exploration=usage.get("seconds_total", 0.0),
        seconds=round(seconds, 3),
    )


def _reason(report: Mapping[str, Any], lines: Sequence[str]) -> str:
    return report.get("error") or report.get("reason") or (lines[-1] if lines else "")


_FAULTS: Mapping[str | None, Fault] = {None: "harness", "model": "model", "request": "request"}
_ASKED = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens")
_COUNTED = (*_ASKED, "seconds_model", "seconds_execution")


def _with_chain(outcome: RunResult, problem: Problem, notebook: Path) -> RunResult:
    try:
        exploration = document.load(notebook)
    except InputError as error:
        # A proper end without its trace cannot be shown to anybody: it does not count.
        if not outcome.counts:
            return outcome
        reason = f"Its notebook is not there or damaged: {error}"
        return outcome.model_copy(update={"status": "setup", "fault": "harness", "reason": reason})
    facts = facts_of(exploration, problem) if outcome.counts else {}
    return outcome.model_copy(update=facts)


def _from_anywhere(name_or_path: str) -> str:
    """A path that is valid in the working folder too; symlinks stay, as a venv's Python is one."""
    return str(Path(name_or_path).absolute()) if os.sep in name_or_path else name_or_path


def _status(exit_code: int, report: Mapping[str, Any]) -> RunStatus:
    if exit_code == 0 and report.get("status") in ("solved", "unverified"):
        return "solved" if report["status"] == "solved" else "unverified"
    if exit_code == 1 and report.get("status") == "failed":
        return "failed"
    # A useless answer, or a prompt that is too long, results from how the model was asked.
    if report.get("error_kind") == "reply":
        return "failed"
    # An uncaught exception (exit code 1, no JSON object) is our fault, not the method's.
    return "cancelled" if exit_code == 130 else "setup"


def _fault(status: RunStatus, report: Mapping[str, Any]) -> Fault:
    if status not in ("setup", "cancelled"):
        return ""
    return _FAULTS.get(report.get("error_kind"), "execution")


def _report(output: str) -> dict[str, Any]:
    try:
        report = json.loads(output)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}
