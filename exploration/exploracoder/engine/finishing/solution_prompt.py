"""The prompts that ask the model to write the solution, or to repair it.

ExploraCoder, appendix A.9 (listing 7).
"""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.knowing.helpful import helpful_apis
from exploracoder.engine.knowing.source_lookup import look_up
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.library_map import LibraryMap
from exploracoder.engine.reading.result_names import result_names
from exploracoder.engine.reading.value_text import (
    clip,
    describe_apis,
    describe_error,
    describe_output,
    describe_problems,
    listed,
    without_addresses,
)
from exploracoder.engine.workbench import Workbench
from exploracoder.models.chat import Message
from exploracoder.prompts import fenced, render
from exploracoder.state import Attempt, Example, Subtask


def solution_messages(
    bench: Workbench,
    apis: Sequence[ApiDoc],
    subtasks: Sequence[Subtask] = (),
    api_map: LibraryMap | None = None,
    examples: Sequence[Example] = (),
    left_out: int = 0,
) -> list[Message]:
    """The conversation that asks for the solution: docs, what was tried, and the task.

    ``subtasks`` are given as instructions, in order; ``examples`` are shown besides the
    exploration's own. The prompt mentions that ``left_out`` more APIs did not fit. If ``api_map``
    is whole it comes first, since it is the same for every task.
    """
    task, settings = bench.exploration.task, bench.settings
    trace = [
        {
            "goal": link.subtask.goal,
            "code": link.candidate.code,
            "output": describe_output(link.observation, settings.output_chars)
            if link.observation.ran
            else describe_error(link.observation, link.candidate.code, settings.output_chars),
        }
        for link in bench.exploration.trace
    ]
    is_whole = api_map is not None and api_map.is_whole
    text = api_map.text if api_map is not None else ""
    library = render(
        "solution",
        "library",
        library=bench.libraries.words,
        summary=bench.exploration.summary,
        map=text if is_whole else "",
    )
    user = render(
        "solution",
        "user",
        library=bench.libraries.words,
        examples=(*bench.exploration.examples, *examples),
        context=task.context,
        map="" if is_whole else text,
        apis=describe_apis(apis, settings.doc_chars),
        left_out=left_out,
        trace=trace,
        task=task.text,
        stub="" if task.stub in task.text else task.stub,
        entry_point=stub.wanted_function(task),
        target=stub.assignment_target(task.stub) or "",
        subtasks=[subtask.goal for subtask in subtasks],
        wanted=listed(result_names(task)),
    )
    system = render(
        "solution", "system", library=bench.libraries.words, trace=bool(trace), apis=bool(apis)
    )
    content = f"{library}\n\n{user}" if library else user
    return [Message("system", system), Message("user", content, stable_chars=len(library))]


def failure_words(bench: Workbench, attempt: Attempt) -> str:
    """What went wrong with an attempt, in words for the model."""
    failure, chars = attempt.failure, bench.settings.output_chars
    if failure is None:
        assert attempt.call is not None, "only an attempt that failed is repaired"
        message = clip(without_addresses(attempt.call.failure), chars)
        reason = f"the call `{attempt.call.called}` failed"
        return f"Your code ran, but {reason}:\n\n{fenced(message, 'text')}"
    if attempt.checks == "failed":
        # The exception's message, not the check's code: expected values are not for copying.
        message = describe_error(failure, "", chars)
        return f"Your code ran, but a check of its result failed:\n\n{fenced(message, 'text')}"
    message = describe_error(failure, attempt.code, chars)
    return f"Your code failed:\n\n{fenced(message, 'text')}"


async def repair_request(bench: Workbench, attempt: Attempt) -> Message:
    """The turn that asks for a repair of a failed attempt."""
    settings, task, failure = bench.settings, bench.exploration.task, attempt.failure
    observation = failure or (attempt.call.observation if attempt.call else None)
    source = ""
    if failure is not None and attempt.checks != "failed":
        before = [task.context]
        branch = await bench.branches.probe(bench.branches.root)
        source = await look_up(bench, attempt.code, failure, branch=branch, earlier=before)
    return Message(
        "user",
        render(
            "solution",
            "repair",
            library=bench.libraries.words,
            failure=failure_words(bench, attempt),
            problems=describe_problems(settings, attempt.problems),
            apis=describe_apis(
                await helpful_apis(bench, attempt.problems, observation, task.text),
                settings.doc_chars,
            ),
            source=source,
        ),
    )
