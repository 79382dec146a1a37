"""Splits a task into subtasks of one or two API calls each (ExploraCoder, section 3.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, Field, create_model

from exploracoder.engine.exploring.briefing import Briefing
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.value_text import clip, describe_variables
from exploracoder.engine.running.trial import next_number
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import ReplyError
from exploracoder.models.chat import Message, Sampling
from exploracoder.prompts import render
from exploracoder.state import Subtask

_TASK_CHARS = 1200
_GOAL_TOKENS = 60
# A plan that is a little longer than requested is better than one that loses its end.
_MOST = 2


class _PlanReply(BaseModel):
    """The form that the model answers in."""

    model_config = ConfigDict(extra="forbid")

    subtasks: list[str] = Field(min_length=1)


def _form(most: int) -> type[_PlanReply]:
    """The form with an upper bound: a small model adds subtasks until it is cut off."""
    subtasks = (list[str], Field(min_length=1, max_length=most))
    return create_model("_PlanReply", __base__=_PlanReply, subtasks=subtasks)


async def plan(
    bench: Workbench, briefings: Sequence[Briefing], before: Sequence[Subtask] = ()
) -> list[str]:
    """The goals of the task's subtasks, or of those that remain after ``before``.

    Example plans are earlier turns of the conversation, because small models copy examples from
    the question itself. If the reply is not a plan in the requested form, the whole task becomes
    the only subtask. Raises BudgetError, and ModelError if the model cannot be asked.
    """
    question = await _question(bench, briefings, before)
    return await _ask(bench, [*_examples(bench, briefings), question])


async def _ask(bench: Workbench, messages: Sequence[Message]) -> list[str]:
    most = _MOST * bench.settings.max_subtasks
    sampling = Sampling(
        temperature=min(bench.settings.temperature, 0.3),
        top_p=bench.settings.top_p,
        max_tokens=_GOAL_TOKENS * most,
        seed=bench.model.seed("plan"),
    )
    try:
        reply = await bench.model.ask_json("plan", messages, sampling, _form(most))
    except ReplyError:
        task = bench.exploration.task
        return [clip(stub.without_stub(task.text, task.stub), _TASK_CHARS)]
    return _distinct(reply.subtasks)


def _examples(bench: Workbench, briefings: Sequence[Briefing]) -> list[Message]:
    library = bench.libraries.words
    messages = [Message("system", render("plan", "system", library=library))]
    for example in (example for briefing in briefings for example in briefing.plans):
        messages.append(Message("user", render("plan", "example", task=example.task)))
        messages.append(Message("assistant", json.dumps({"subtasks": example.subtasks})))
    return messages


async def _question(
    bench: Workbench, briefings: Sequence[Briefing], before: Sequence[Subtask]
) -> Message:
    task, settings = bench.exploration.task, bench.settings
    variables = await bench.sidecar.variables(bench.branches.current)
    return Message(
        "user",
        render(
            "plan",
            "question",
            library=bench.libraries.words,
            summary="\n\n".join(one.summary for one in briefings if one.summary),
            context=task.context,
            variables=describe_variables(variables, bench.libraries.known),
            task=stub.without_stub(task.text, task.stub),
            before=[one.goal for one in before],
            most=settings.max_subtasks,
        ),
    )


def _distinct(goals: Sequence[str]) -> list[str]:
    """The goals stripped of leading numbers or bullets, without empty ones and duplicates."""
    texts = (re.sub(r"^\s*(?:\d+[.)]|[-*])(?!\d)\s*", "", goal).strip() for goal in goals)
    return list(dict.fromkeys(goal for goal in texts if goal))


def numbered(goals: Iterable[str], taken_ids: Iterable[str]) -> tuple[Subtask, ...]:
    """The goals as subtasks with unused ids."""
    first = next_number(taken_ids)
    return tuple(Subtask(id=f"step-{n}", goal=goal) for n, goal in enumerate(goals, start=first))
