"""What a model is told about a library before it plans: a summary and example plans.

Each model derives both once per version of a library, from the library's own overview and examples;
they are stored with its index (ExploraCoder, section 3.2 and appendix A.9).
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress

from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.harvest import LibraryInfo, UsageExample
from exploracoder_retrieval.index import Index
from pydantic import BaseModel, ConfigDict, Field

from exploracoder.engine.reading.value_text import clip
from exploracoder.errors import ReplyError
from exploracoder.models.chat import ChatModel, Message, Sampling
from exploracoder.models.structured import complete_json
from exploracoder.prompts import fingerprint, render
from exploracoder.settings import Settings

_OVERVIEW_CHARS = 3500
_EXAMPLE_CHARS = 900
_EXAMPLE_MIN_LINES = 3


class ExamplePlan(BaseModel):
    """A task and its subtasks, taken from a library's example code."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    subtasks: list[str] = Field(min_length=1, max_length=8)


class Briefing(BaseModel):
    """A library's summary and example plans."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: str = ""
    plans: tuple[ExamplePlan, ...] = ()


async def brief(
    model: ChatModel, index: Index, settings: Settings, library: LibraryInfo
) -> Briefing:
    """The briefing on one library: from the index if stored there, otherwise from the model.

    Raises ModelError if the model cannot be asked.
    """
    if not wants_briefing(settings):
        return Briefing()
    key = await _key(model, settings)
    memo = index.memo(library.name, key)
    if memo is not None:
        return Briefing.model_validate(memo)
    summary = await _summarize(model, library)
    plans = await _example_plans(model, library, settings.few_shot_plans)
    briefing = Briefing(summary=summary, plans=plans)
    is_answered = bool(summary or plans or not (library.overview.strip() or library.examples))
    if is_answered:
        # An empty answer may be the server's fault, and the next one may be better.
        # In a thread: another process may be writing to the index for minutes. If it cannot be
        # kept, it is asked for again.
        with suppress(RetrievalError):
            value = briefing.model_dump(mode="json")
            await asyncio.to_thread(index.set_memo, library.name, key, value)
    return briefing


def wants_briefing(settings: Settings) -> bool:
    """Whether the settings ask for a briefing before planning."""
    return settings.few_shot_plans > 0


async def _key(model: ChatModel, settings: Settings) -> str:
    """The briefing's key in the index: distinct for each model, prompt and number of plans.

    A model's name alone is not enough: the model behind it may have been replaced.
    """
    identity = hashlib.sha256((await model.identity()).encode()).hexdigest()[:16]
    prompts = f"{fingerprint('summary')}/{fingerprint('example_plan')}"
    return f"briefing/{model.name}/{identity}/{settings.few_shot_plans}/{prompts}"


async def _summarize(model: ChatModel, library: LibraryInfo) -> str:
    overview = clip(library.overview.strip(), _OVERVIEW_CHARS)
    if not overview:
        return ""
    messages = [
        Message("system", render("summary", "system")),
        Message("user", render("summary", "user", library=library.import_name, overview=overview)),
    ]
    reply = await model.complete(messages, Sampling(max_tokens=220, seed=0))
    return reply.text.strip()


async def _example_plans(
    model: ChatModel, library: LibraryInfo, count: int
) -> tuple[ExamplePlan, ...]:
    plans = []
    for example in _choose(library, count):
        messages = [
            Message("system", render("example_plan", "system")),
            Message(
                "user",
                render(
                    "example_plan",
                    "user",
                    library=library.import_name,
                    title=" ".join(example.title.split()),
                    code=clip(example.code, _EXAMPLE_CHARS),
                ),
            ),
        ]
        try:
            sampling = Sampling(max_tokens=300, seed=0)
            plans.append(await complete_json(model, messages, sampling, ExamplePlan))
        except ReplyError:
            # An example that the model cannot explain is left out; the plan does without it.
            continue
    return tuple(plans)


def _choose(library: LibraryInfo, count: int) -> list[UsageExample]:
    """The examples with the most calls in the least text, in their original order."""
    usable = [
        example
        for example in library.examples
        if len(example.code.splitlines()) >= _EXAMPLE_MIN_LINES
        and len(example.code) <= 2 * _EXAMPLE_CHARS
    ]
    best = sorted(usable, key=lambda example: -_richness(example.code))[:count]
    return [example for example in usable if example in best]


def _richness(code: str) -> float:
    return code.count("(") / (1 + len(code) / 400)
