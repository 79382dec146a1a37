"""Runs and explorations as clients see them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from exploracoder_kernel.branch.text import shorten, without_colours
from exploracoder_kernel.observation import Observation, Variable
from pydantic import SerializerFunctionWrapHandler, model_serializer

from exploracoder import document
from exploracoder.engine.reading.value_text import describe_variable
from exploracoder.mcp import failure_place
from exploracoder.mcp.kept_branches import CellsRun
from exploracoder.state import Exploration, Solution, State, ended_as
from exploracoder.texts import whole_text

_CELL_CHARS = 8_000
_TRACEBACK_CHARS = 4_000
_MOST_VARIABLES = 60
_PICTURES = ("image/png", "image/jpeg")
_MOST_PICTURES = 4
_PICTURE_CHARS = 2_000_000
_OPTION = re.compile(r"(?<![\w-])--[a-z]")
_RESUME_ADVICE = re.compile(r" Everything so far is saved; resume [^.]*\.")


class ToolResult(State):
    """Base of all that is shown: what is empty is left out."""

    @model_serializer(mode="wrap")
    def _without_empty(self, dump: SerializerFunctionWrapHandler) -> Any:
        return {
            name: value for name, value in dump(self).items() if value not in ("", None, [], ())
        }


class ShownCell(ToolResult):
    """What a cell showed: all that it printed and displayed, as text, in order.

    ``status`` is ``ok``, ``error``, ``timeout``, ``limit``, ``killed`` or ``interrupted``;
    ``traceback`` says of what went wrong where.
    """

    status: str
    output: str = ""
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0


class ShownRun(ToolResult):
    """Cells that ran in ``branch``, which began as ``started_from``.

    There is an entry for each cell that was run: none runs after one that failed. ``variables`` are
    those that are new or bound anew: name, type, size where there is one, and the beginning of the
    value. ``note`` says what was left out.
    """

    branch: str
    started_from: str
    cells: tuple[ShownCell, ...]
    variables: tuple[str, ...] = ()
    note: str = ""


class ShownState(ToolResult):
    """The branch that cells run on now, and its variables, as in a `ShownRun`."""

    branch: str
    variables: tuple[str, ...] = ()


class Verdict(ToolResult):
    """What is known of a solution.

    ``verified``: it ran in a fresh state and the check passed. ``failed_in`` is where an error was
    raised: in the ``solution``, be it that the check called it, or in the ``check``, which did not
    get what it wants. ``traceback`` has lines of both. ``problems`` are names that the installed
    version does not have, with real ones near them; ``added_imports`` are lines that it lacked, put
    before it. ``warning`` says what it does besides computing.
    """

    verified: bool
    verdict: str
    failed_in: failure_place.Place | None = None
    error: str = ""
    traceback: str = ""
    output: str = ""
    added_imports: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warning: str = ""


class ShownStep(ToolResult):
    """A step of an exploration's plan."""

    goal: str
    status: str
    code: str | None = None


class ExplorationOutcome(Verdict):
    """How an exploration came out; ``notebook`` is where it was saved, if that was asked for."""

    solution: str | None = None
    status: str
    reason: str = ""
    plan: tuple[ShownStep, ...] = ()
    notebook: str | None = None


def shown_run(run: CellsRun) -> ShownRun:
    """The cells that were run, shortened for a client."""
    variables = {one.name: one for observation in run.observations for one in observation.variables}
    return ShownRun(
        branch=run.branch,
        started_from=run.start,
        cells=tuple(_cell(observation) for observation in run.observations),
        variables=shown_variables(list(variables.values())),
        note=" ".join(
            filter(None, dict.fromkeys(observation.note for observation in run.observations))
        ),
    )


def pictures(observations: Sequence[Observation]) -> Iterator[tuple[str, str]]:
    """The first few pictures that were displayed, as MIME type and base64 data."""
    images = (
        (kind, "".join(whole_text(output["data"][kind]).split()))
        for observation in observations
        for output in observation.outputs
        for kind in _PICTURES
        if kind in output.get("data", ())
    )
    small_images = (one for one in images if len(one[1]) <= _PICTURE_CHARS)
    yield from (one for one, _ in zip(small_images, range(_MOST_PICTURES), strict=False))


def shown_variables(variables: Sequence[Variable]) -> tuple[str, ...]:
    """A text on each variable, up to a maximum number."""
    return tuple(describe_variable(one).removeprefix("- ") for one in variables[:_MOST_VARIABLES])


def verdict_of(exploration: Exploration) -> dict[str, Any]:
    """The fields of a `Verdict` on an exploration's solution."""
    final = exploration.solution.final if exploration.solution is not None else None
    verdict = document.plain_verification(exploration)
    if final is None:
        return {"verified": False, "verdict": verdict}
    if final.checks == "failed" and failure_place.failed_in(final) == "solution":
        verdict = "Not solved: the solution fails when the check calls it."
    last = final.check_observation or (final.call.observation if final.call else final.observation)
    failure = failure_place.failed(final)
    output = "\n".join(filter(None, (_output(final.observation), _output(last))))
    return {
        "verified": final.checks == "passed",
        "verdict": verdict,
        "failed_in": failure_place.failed_in(final),
        "error": _error(failure) if failure is not None else "",
        "traceback": shorten(without_colours(failure_place.traceback(final)), _TRACEBACK_CHARS),
        "output": _output(final.observation) if last is final.observation else output,
        "added_imports": final.added_imports,
        "problems": tuple(map(str, final.problems)),
        "warning": document.warning(exploration),
    }


def explored(exploration: Exploration, notebook: str | None) -> ExplorationOutcome:
    """The outcome of an exploration."""
    reason = exploration.reason
    if notebook is None:
        reason = _RESUME_ADVICE.sub("", reason)
    exploration = exploration.model_copy(update={"reason": in_client_terms(reason)})
    steps = (
        ShownStep(
            goal=step.subtask.goal,
            status=step.status,
            code=step.candidate.code if step.candidate is not None else None,
        )
        for step in exploration.steps
    )
    solution = exploration.solution
    return ExplorationOutcome(
        **verdict_of(exploration),
        solution=solution.final.code if solution is not None else None,
        status=exploration.status,
        reason=exploration.reason,
        plan=tuple(steps),
        notebook=notebook,
    )


def in_client_terms(message: str) -> str:
    """Explain command line options in a message to a client, which cannot set them."""
    if not _OPTION.search(message):
        return message
    return (
        f"{message} (Options that begin with -- are those of the command that starts this server:"
        " only the user can change them.)"
    )


def judged(exploration: Exploration, solution: Solution) -> Verdict:
    """The verdict on a solution that was checked."""
    return Verdict(**verdict_of(exploration.model_copy(update={"solution": solution})))


def _cell(observation: Observation) -> ShownCell:
    traceback = "\n".join(observation.error.traceback) if observation.error is not None else ""
    return ShownCell(
        status=observation.status,
        output=_output(observation),
        error="" if observation.ran else _error(observation),
        traceback=shorten(without_colours(traceback), _TRACEBACK_CHARS),
        seconds=round(observation.seconds, 3),
    )


def _error(observation: Observation) -> str:
    limits = f" ({', '.join(observation.limits_hit)})" if observation.limits_hit else ""
    return shorten(f"{ended_as(observation)}{limits}", _TRACEBACK_CHARS)


def _output(observation: Observation) -> str:
    """What was printed and displayed, as text, in order, without errors."""
    parts = []
    for output in observation.outputs:
        if output["output_type"] == "stream":
            parts.append(whole_text(output["text"]))
        elif "data" in output:
            plain = whole_text(output["data"].get("text/plain", ""))
            parts.append(f"{plain or '(' + ', '.join(output['data']) + ')'}\n")
    return shorten(without_colours("".join(parts)).strip("\n"), _CELL_CHARS)
