"""Asks the model about cells: with a beginning that stays the same, and turns added to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.knowing.knowledge import library_knowledge
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.result_names import result_names
from exploracoder.engine.reading.value_text import describe_output, describe_variables, listed
from exploracoder.errors import PromptError
from exploracoder.models.chat import Message, OnText, Reply, Sampling
from exploracoder.prompts import render
from exploracoder.state import Step, Task

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench

# Less than this says next to nothing about a library.
_LEAST_CHARS = 500


@dataclass(slots=True)
class CellsRequest:
    """The beginning of each conversation about the cells of an exploration.

    ``before`` are the steps that were done when it was first asked, ``base`` is the branch with the
    state that they left, and ``room`` the number of characters for the libraries. Once written,
    ``text`` is the user's turn: it begins with ``knowledge``, the part about the libraries, whose
    first ``stable_chars`` are the same for every task, and shows ``docs`` in full.
    """

    before: tuple[Step, ...]
    base: str
    room: int
    text: str = ""
    knowledge: str = ""
    stable_chars: int = 0
    docs: tuple[ApiDoc, ...] = ()


async def ask_about_cells(
    bench: Workbench,
    part: str,
    sampling: Sampling,
    more: Sequence[Message] = (),
    on_text: OnText | None = None,
) -> Reply:
    """Ask with the beginning, followed by ``more`` turns.

    If that is too long for the model, less is said about the libraries from then on. Raises
    BudgetError and ModelError.
    """
    request = bench.cells_request
    if request is None:
        request = bench.cells_request = CellsRequest(
            (), bench.branches.root, bench.settings.prompt_chars
        )
    system = Message("system", render("cells", "system", library=bench.libraries.words))
    while True:
        if not request.text:
            await _write(bench, request)
        user_message = Message("user", request.text, stable_chars=request.stable_chars)
        messages = [system, user_message, *more]
        try:
            return await bench.model.ask(part, messages, sampling, on_text=on_text)
        except PromptError:
            room = min(request.room, len(request.knowledge)) // 2
            if room < _LEAST_CHARS:
                raise
            request.room = room
            request.text = ""


def wants_calls(task: Task) -> bool:
    """Whether the model should also call the function that it writes: a check does so itself."""
    return not (task.check or stub.assignment_target(task.stub))


async def _write(bench: Workbench, request: CellsRequest) -> None:
    task = bench.exploration.task
    knowledge = await library_knowledge(bench, request.room)
    request.knowledge, request.docs = knowledge.text, knowledge.docs
    request.stable_chars = knowledge.stable_chars
    question = render(
        "cells",
        "ask",
        library=bench.libraries.words,
        context=task.context,
        done=[_shown(bench, step) for step in request.before],
        variables=describe_variables(await bench.sidecar.variables(request.base)),
        task=task.text,
        stub="" if task.stub in task.text else task.stub,
        function=stub.wanted_function(task),
        target=stub.assignment_target(task.stub) or "",
        # Without a check the task's own words say best what is wanted.
        wanted=listed(result_names(task)) if task.check else "",
        calls=wants_calls(task),
        brought=listed(one.name for one in bench.exploration.brought.variables),
    )
    request.text = f"{request.knowledge}\n\n{question}".strip()


def _shown(bench: Workbench, step: Step) -> dict[str, str]:
    observation = step.candidate.observation if step.candidate else None
    return {
        "goal": step.subtask.goal,
        "code": step.candidate.code if step.candidate else "",
        "output": describe_output(observation, bench.settings.output_chars) if observation else "",
    }
