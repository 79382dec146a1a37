"""The trace as a conversation: what the model sees before it drafts the next cell.

The beginning never changes and each experience is appended, so that a server with a prefix cache
reads only what is new.
"""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.reading import stub
from exploracoder.engine.reading.result_names import wanted_in
from exploracoder.engine.reading.value_text import (
    describe_apis,
    describe_error,
    describe_output,
    describe_problems,
    describe_variables,
    listed,
    without_addresses,
)
from exploracoder.engine.workbench import Workbench
from exploracoder.models.chat import Message
from exploracoder.prompts import as_code, render
from exploracoder.state import Candidate, Experience, Step


def draft_messages(
    bench: Workbench,
    step: Step,
    variables: Sequence[Variable],
    focus: ApiDoc | None = None,
    hint: str = "",
) -> list[Message]:
    """The conversation that asks for a candidate.

    ``focus`` is an API that it should try; ``hint`` says what was wrong with an earlier one.
    """
    turns = [Message("system", render("explore", "system", library=bench.libraries.words))]
    parts = [_opening(bench)]
    for experience in bench.exploration.trace:
        parts.append(f"Step: {experience.subtask.goal}")
        turns += [_user(parts), as_answer(experience.candidate.code)]
        parts = [_seen(bench, experience)]
    parts.append(_question(bench, step, variables, focus, hint))
    return [*turns, _user(parts)]


def debug_messages(
    bench: Workbench,
    messages: Sequence[Message],
    candidate: Candidate,
    apis: Sequence[ApiDoc],
    missing: Sequence[str] = (),
    source: str = "",
) -> list[Message]:
    """The conversation that asks for a repair of a failed candidate.

    ``source`` is what the libraries' source says about the names in the failing line.
    """
    request = render(
        "explore",
        "debug",
        library=bench.libraries.words,
        error=error_text(bench, candidate, missing),
        problems=describe_problems(bench.settings, candidate.problems),
        apis=describe_apis(apis, bench.settings.doc_chars),
        source=source,
    )
    return [*messages, as_answer(candidate.code), Message("user", request)]


def error_text(bench: Workbench, candidate: Candidate, missing: Sequence[str] = ()) -> str:
    """What went wrong with a candidate, in words for the model.

    ``missing`` are the names of results that it should have made.
    """
    observation = candidate.observation
    if observation is None:
        return "It was not run."
    unreadable_variables = [
        variable for variable in observation.variables if variable.preview_error
    ]
    if observation.ran and unreadable_variables:
        error = without_addresses(unreadable_variables[0].preview_error or "")
        return f"reading {unreadable_variables[0].name} failed: {error}"
    if observation.ran and missing:
        return f"It ran, but it made no variable named {', '.join(missing)}."
    if observation.ran:
        outcome = describe_variables(observation.variables) or "no variable and no output"
        return f"It ran, but what came out is empty:\n{outcome}"
    return describe_error(observation, candidate.code, bench.settings.output_chars)


def _opening(bench: Workbench) -> str:
    task = bench.exploration.task
    return render(
        "explore",
        "opening",
        library=bench.libraries.words,
        summary=bench.exploration.summary,
        examples=bench.exploration.examples,
        # The stub is left out: a model that sees it writes the whole function at the first step.
        task=stub.without_stub(task.text, task.stub),
        context=task.context,
    )


def _seen(bench: Workbench, experience: Experience) -> str:
    observation = experience.observation
    return render(
        "explore",
        "seen",
        ran=observation.ran,
        error=describe_error(observation, experience.candidate.code, bench.settings.output_chars),
        output=describe_output(observation, bench.settings.output_chars),
    )


def _question(
    bench: Workbench,
    step: Step,
    variables: Sequence[Variable],
    focus: ApiDoc | None,
    hint: str,
) -> str:
    there = [variable.name for variable in variables]
    wanted_names = wanted_in(step.subtask.goal, bench.exploration.task, there)
    return render(
        "explore",
        "step",
        library=bench.libraries.words,
        variables=describe_variables(variables, bench.libraries.known),
        apis=describe_apis(step.recommendation.kept, bench.settings.doc_chars),
        number=bench.exploration.position(step) + 1,
        count=len(bench.exploration.steps),
        goal=step.subtask.goal,
        style=bench.settings.candidate_style,
        focus=f"`{focus.path}`" if focus else "",
        hint=hint,
        wanted=listed(wanted_names),
    )


def _user(parts: Sequence[str]) -> Message:
    return Message("user", "\n\n".join(parts))


def as_answer(code: str) -> Message:
    """Code as the model's own answer."""
    return Message("assistant", as_code(code))
