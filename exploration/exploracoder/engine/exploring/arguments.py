"""Binds the parameters of the requested function to example values.

A first step creates these variables and the others build on it: the steps then work on data under
the names that the function's body has to use, and the finished function can be called.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from exploracoder.engine.exploring.conversation import error_text
from exploracoder.engine.knowing.recommender import find
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.value_text import describe_apis, describe_problems, listed
from exploracoder.engine.running import mending
from exploracoder.engine.running.selection import is_sound, missing
from exploracoder.engine.running.steering import find_in
from exploracoder.engine.running.trial import Trial
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import ReplyError
from exploracoder.models.chat import Message, Sampling
from exploracoder.prompts import fenced, render
from exploracoder.state import Candidate, Exploration, Step, Subtask, Task

# The subtasks of a plan are numbered from 1.
STEP = "step-0"
RESULT = "example_result"
_TRIES = 2
_VALUE_TOKENS = 80
_NAMED_APIS = 8


def bound_in(exploration: Exploration) -> str:
    """The code that binds the parameters to their example values; empty if there is none."""
    step = find_in(exploration, STEP)
    if step is None or step.status != "done" or step.candidate is None:
        return ""
    return step.candidate.code


def call_in(exploration: Exploration) -> str | None:
    """Code that calls the function with the example values and stores its result.

    None if no function is requested, or if its parameters have no values.
    """
    name, parameters = _asked(exploration)
    if name is None or not exploration.settings.example_arguments:
        return None
    code = bound_in(exploration)
    if stub.is_async(_stub_of(exploration.task)):
        name = f"await {name}"
    if not code:
        has_values = all(one.default is not None for one in parameters)
        return f"{RESULT} = {name}()" if has_values else None
    arguments = (
        f"{one.name}={one.name}" if one.is_keyword_only else one.name for one in parameters
    )
    return f"{code}\n{RESULT} = {name}({', '.join(arguments)})"


async def give_examples(bench: Workbench) -> None:
    """Make the first step, using the parameters' defaults as values where they have one.

    Changes nothing if no function is requested, if its parameters are variables already, or if
    neither the defaults nor the model's reply can bind them. Raises BudgetError and ModelError.
    """
    name, parameters = _asked(bench.exploration)
    if bench.exploration.steps or not (name and bench.settings.example_arguments):
        return
    names = listed(one.name for one in parameters)
    goal = f"Give the parameters of `{name}` example values: {names}"
    await _make(bench, Step(subtask=Subtask(id=STEP, goal=goal)))


async def give_others(bench: Workbench, failure: str) -> bool:
    """Ask the model for other values: several versions of the function failed alike on these.

    Returns False and changes nothing if the values are not the model's or it has no others.
    """
    step = find_in(bench.exploration, STEP)
    if step is None or not step.candidate or not any(p.default is None for p in _parameters(bench)):
        return False
    branch = bench.branches.current
    bench.branches.current = await bench.branches.base_of(step)
    bench.change(steps=())
    is_made = False
    try:
        is_made = await _make(bench, step, failure)
    finally:
        if not is_made:
            bench.branches.current = branch
            bench.change(steps=(step,))
    return is_made


async def _make(bench: Workbench, step: Step, doubt: str = "") -> bool:
    """Bind the parameters and record the step; returns whether that succeeded."""
    parameters = _parameters(bench)
    # A default that is a variable of the parameter's own name binds nothing new.
    optional = [one for one in parameters if one.default is not None and one.default != one.name]
    names = [one.name for one in parameters if one.default is None]
    lines = "\n".join(f"{one.name} = {one.default}" for one in optional)
    if not (lines or names):
        return False
    trial = Trial(
        bench,
        step,
        await bench.sidecar.variables(bench.branches.current),
        candidates=list(step.candidates),
    )
    before = bench.branches.current
    try:
        candidate = await _bind(trial, lines, names, doubt)
        if candidate is not None:
            bench.branches.bases[STEP] = before
            bench.branches.current = trial.branches.pop(candidate.id)
    finally:
        await trial.drop_branches()
    if candidate is None:
        return False
    new_step = trial.shown.model_copy(update={"chosen": candidate.id, "status": "done"})
    await bench.update(step.subtask.goal, steps=(new_step,))
    return True


def _parameters(bench: Workbench) -> tuple[stub.Parameter, ...]:
    return _asked(bench.exploration)[1]


def _asked(exploration: Exploration) -> tuple[str | None, tuple[stub.Parameter, ...]]:
    """The requested function's name, and its parameters."""
    head = _stub_of(exploration.task)
    return stub.function_name(head), stub.parameters(head)


def _stub_of(task: Task) -> str:
    """The function's head: the task's stub, or what the task's words say about it."""
    if task.target is not None:
        return ""
    if stub.function_name(task.stub):
        return task.stub
    return stub.head_in_words(task.text, task.entry_point)


async def _bind(trial: Trial, lines: str, names: Sequence[str], doubt: str) -> Candidate | None:
    """The candidate that binds all parameters; the model is asked for values of ``names``.

    ``doubt`` says how the values that the step already has failed.
    """
    if not names:
        return await _try(trial, lines, ())
    bench, form = trial.bench, _form(names)
    usual = bench.settings.temperature
    messages = await _messages(bench, lines, names)
    if doubt and trial.step.candidate is not None:
        messages += _doubt(trial.step.candidate.code, doubt)
    for number in range(len(trial.candidates), len(trial.candidates) + _TRIES):
        sampling = Sampling(
            # When values are in doubt, the likeliest ones are not wanted again.
            temperature=usual if doubt else min(usual, 0.3),
            top_p=bench.settings.top_p,
            max_tokens=_VALUE_TOKENS * len(names),
            seed=bench.model.seed(STEP, number),
        )
        try:
            reply = await bench.model.ask_json(STEP, messages, sampling, form)
        except ReplyError:
            return None
        values = reply.model_dump(by_alias=True)
        code = "\n".join([*lines.splitlines(), *(f"{name} = {values[name]}" for name in names)])
        bound = await _try(trial, code, names)
        if bound is not None:
            return bound
        candidate = trial.candidates[-1]
        request = render(
            "arguments",
            "repair",
            error=f"It failed: {error_text(bench, candidate, missing(candidate, names))}",
            problems=describe_problems(bench.settings, candidate.problems),
        )
        answer = Message("assistant", json.dumps(values))
        messages = [*messages[:2], answer, Message("user", request)]
    return None


def _form(names: Sequence[str]) -> type[BaseModel]:
    """A form with an expression for each name; names need not be valid as field names."""
    fields: dict[str, Any] = {f"value_{n}": (str, Field(alias=one)) for n, one in enumerate(names)}
    return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)


async def _try(trial: Trial, code: str, names: Sequence[str]) -> Candidate | None:
    """Run the code, replacing wrong names if need be."""
    id_ = f"{STEP}/{trial.next_number}"
    trial.candidates.append(await trial.run(id_, code, "draft", None))
    await mending.rename(trial, trial.candidates[-1:])
    await mending.substitute(trial, trial.candidates[-1:])
    last = trial.candidates[-1]
    is_usable = last.ran if not names else is_sound(last) and not missing(last, names)
    return last if is_usable else None


def _doubt(code: str, doubt: str) -> list[Message]:
    answer = f"The values were:\n\n{fenced(code, 'python')}"
    return [
        Message("assistant", answer),
        Message("user", render("arguments", "doubt", error=doubt)),
    ]


async def _messages(bench: Workbench, lines: str, names: Sequence[str]) -> list[Message]:
    task = bench.exploration.task
    docs = await find(bench, task.text, _NAMED_APIS)
    user = render(
        "arguments",
        "user",
        library=bench.libraries.words,
        context=task.context,
        apis=describe_apis((hit.doc for hit in docs), 0),
        task=stub.without_stub(task.text, task.stub),
        head=_head(_stub_of(task)),
        known=lines,
        wanted=listed(names),
    )
    system = render("arguments", "system", library=bench.libraries.words)
    return [Message("system", system), Message("user", user)]


def _head(text: str) -> str:
    """Only the function's name and parameters: a model that sees a stub completes it."""
    name, parameters = stub.function_name(text), stub.parameters(text)
    return f"{name}({', '.join(one.name for one in parameters)})"
