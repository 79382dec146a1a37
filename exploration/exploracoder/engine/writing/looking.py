"""One look at the results: the solution is right, or cells and solution need to change."""

from __future__ import annotations

from exploracoder_kernel.observation import Observation

from exploracoder.engine.exploring.conversation import error_text
from exploracoder.engine.finishing.solution_prompt import failure_words
from exploracoder.engine.knowing.helpful import helpful_apis
from exploracoder.engine.knowing.source_lookup import look_up
from exploracoder.engine.reading.cells import Script, read_script
from exploracoder.engine.reading.result_names import shown
from exploracoder.engine.reading.value_text import (
    clip,
    describe_apis,
    describe_error,
    describe_output,
    describe_problems,
    describe_variables,
    without_addresses,
)
from exploracoder.engine.running.trial import earlier_cells
from exploracoder.engine.running.written_cells import chain_steps
from exploracoder.engine.workbench import Workbench
from exploracoder.engine.writing.cells_request import ask_about_cells, wants_calls
from exploracoder.models.chat import Message
from exploracoder.prompts import as_code, render
from exploracoder.state import Attempt, Candidate, ExampleCall, Step

PART = "look"


async def look(bench: Workbench, attempt: Attempt | None) -> Script:
    """Show the model what its cells and its solution gave, and ask what needs to change.

    ``attempt`` is the solution's last run, or None if there is no solution yet. Raises BudgetError
    and ModelError.
    """
    bench.tell(PART, "Looking at what came out")
    looks = sum(one.usage.calls for one in bench.exploration.spending if one.part == PART)
    sampling = bench.model.sampling(PART, number=looks, max_tokens=bench.settings.write_tokens)
    more = [_as_written(bench), await _what_came_out(bench, attempt)]
    reply = await ask_about_cells(bench, PART, sampling, more)
    script = read_script(reply.text, is_cut_off="length" in reply.finish_reasons[:1])
    await bench.update(_verdict(script))
    return script


def _verdict(script: Script) -> str:
    count = len(script.cells)
    if count:
        return f"Looked at it: {count} cell{'s need' if count > 1 else ' needs'} changes"
    return "Looked at it: " + ("the solution needs changes" if script.solution else "it is right")


def _as_written(bench: Workbench) -> Message:
    """The model's own answer, as the notebook has it now."""
    parts = [
        f"### {number}. {step.subtask.goal}\n{as_code(_shown(step).code)}"
        for number, step in enumerate(chain_steps(bench), 1)
        if step.candidates
    ]
    answer = bench.exploration.written
    if answer.solution:
        parts.append(f"### Solution\n{as_code(answer.solution)}")
    if answer.calls:
        parts.append(f"### Calls\n{as_code(answer.calls)}")
    return Message("assistant", "\n".join(parts) or "### Solution")


def _shown(step: Step) -> Candidate:
    """The candidate that stands for a step: the chosen one, or else the last."""
    return step.candidate or step.candidates[-1]


async def _what_came_out(bench: Workbench, attempt: Attempt | None) -> Message:
    steps = [pair for pair in enumerate(chain_steps(bench), 1) if pair[1].candidates]
    candidate = next((_shown(one) for _, one in steps if _has_failed(_shown(one))), None)
    doubtful = candidate or (attempt if attempt and not attempt.leaves_no_doubt else None)
    task = bench.exploration.task
    source = ""
    if candidate is not None and candidate.observation is not None:
        source = await look_up(
            bench,
            candidate.code,
            candidate.observation,
            branch=await bench.branches.probe(bench.branches.current),
            earlier=earlier_cells(bench),
        )
    problems = (*(candidate.problems if candidate else ()), *(attempt.problems if attempt else ()))
    observation = None if doubtful is None else _raised(doubtful)
    apis = await helpful_apis(bench, problems, observation, task.text) if doubtful else ()
    text = render(
        "cells",
        "look",
        library=bench.libraries.words,
        cells=[_cell(bench, number, step) for number, step in steps],
        solution=_solution(bench, attempt) if attempt else None,
        problems=describe_problems(bench.settings, tuple(dict.fromkeys(problems))),
        apis=describe_apis(apis, bench.settings.doc_chars),
        source=source,
        # A model that wrote none was not asked for a function.
        calls=wants_calls(task) and bool(bench.exploration.written.calls),
    )
    return Message("user", text)


def _has_failed(candidate: Candidate) -> bool:
    return candidate.observation is not None and not candidate.ran


def _raised(doubtful: Candidate | Attempt) -> Observation | None:
    if isinstance(doubtful, Candidate):
        return doubtful.observation
    return doubtful.failure or (doubtful.call.observation if doubtful.call else None)


def _cell(bench: Workbench, number: int, step: Step) -> dict[str, object]:
    candidate, chars = _shown(step), bench.settings.output_chars
    observation = candidate.observation
    if observation is None:
        return {"number": number, "has_run": False, "error": "", "output": "", "variables": ""}
    return {
        "number": number,
        "has_run": True,
        "error": "" if candidate.ran else error_text(bench, candidate),
        "output": describe_output(observation, chars),
        "variables": describe_variables(observation.variables),
    }


def _solution(bench: Workbench, attempt: Attempt) -> dict[str, str]:
    chars, call = bench.settings.output_chars, attempt.call
    if not attempt.is_good:
        words, error, output, variables = failure_words(bench, attempt), "", "", ""
    elif call is None:
        words, error, variables = "It ran.", "", _otherwise(bench, attempt)
        output = describe_output(attempt.observation, chars)
    else:
        words, error, variables = "It ran, and so did its calls.", "", ""
        output = describe_output(call.observation, chars)
        if call.failure:
            words = "It ran, but its calls failed:"
            error = _call_error(call, chars)
    return {"words": words, "error": error, "output": output, "variables": variables}


def _call_error(call: ExampleCall, chars: int) -> str:
    """The error that was raised, or else what failed while the result was read."""
    if call.observation.ran:
        return clip(without_addresses(call.failure), chars)
    return describe_error(call.observation, call.code, chars)


def _otherwise(bench: Workbench, attempt: Attempt) -> str:
    """The variables of a solution that the cells lack, or have with other values."""
    links = bench.exploration.trace
    values = {name: value for link in links for name, value in shown(link.observation)}
    same = {name for name, value in shown(attempt.observation) if values.get(name) == value}
    others = [one for one in attempt.observation.variables if one.name not in same]
    return describe_variables(others)
