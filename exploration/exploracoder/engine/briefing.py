"""What a model is told of a library before it plans: a summary, and example plans.

Both are derived once for each version of a library from its own overview and examples, and kept
with its index (ExploraCoder, section 3.2 and appendix A.9).
"""

from __future__ import annotations

import re

from exploracoder_retrieval.harvest import LibraryInfo, UsageExample
from pydantic import BaseModel, ConfigDict, Field

from exploracoder.engine.wording import clip
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import ReplyError
from exploracoder.models.chat import Message, Sampling
from exploracoder.prompts import fingerprint, render
from exploracoder.state import Example

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


async def brief(bench: Workbench, library: LibraryInfo) -> Briefing:
    """The briefing of one library: from the index when it is there, or else from the model."""
    key = _key(bench)
    kept = bench.index.memo(library.name, key)
    if kept is not None:
        return Briefing.model_validate(kept)
    summary = await _summarize(bench, library) if bench.settings.library_summary else ""
    briefing = Briefing(summary=summary, plans=await _example_plans(bench, library))
    bench.index.set_memo(library.name, key, briefing.model_dump(mode="json"))
    return briefing


def choose_examples(task: str, library: LibraryInfo, count: int) -> tuple[Example, ...]:
    """The examples of a library's documentation that are nearest to the task, short ones first."""
    usable = [one for one in library.examples if 0 < len(one.code) <= _EXAMPLE_CHARS]
    words = set(_words(task))

    def nearness(one: UsageExample) -> float:
        said = set(_words(f"{one.title} {one.code}"))
        return len(words & said) / (10 + len(said))

    chosen = sorted(usable, key=nearness, reverse=True)[:count]
    return tuple(
        Example(title=clip(one.title.strip(), 160), code=one.code.strip())
        for one in usable
        if one in chosen
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])", text)]


def _key(bench: Workbench) -> str:
    """Another model, prompt or number of plans makes another briefing."""
    prompts = f"{fingerprint('summary')}/{fingerprint('example_plan')}"
    count = bench.settings.few_shot_plans
    kind = f"{count}" if bench.settings.library_summary else f"{count}/no-summary"
    return f"briefing/{bench.model.name}/{kind}/{prompts}"


async def _summarize(bench: Workbench, library: LibraryInfo) -> str:
    overview = clip(library.overview.strip(), _OVERVIEW_CHARS)
    if not overview:
        return ""
    messages = [
        Message("system", render("summary", "system")),
        Message("user", render("summary", "user", library=library.import_name, overview=overview)),
    ]
    reply = await bench.ask("briefing", messages, Sampling(max_tokens=220, seed=0))
    return reply.text.strip()


async def _example_plans(bench: Workbench, library: LibraryInfo) -> tuple[ExamplePlan, ...]:
    plans = []
    for example in _choose(library, bench.settings.few_shot_plans):
        messages = [
            Message("system", render("example_plan", "system")),
            Message(
                "user",
                render(
                    "example_plan",
                    "user",
                    library=library.import_name,
                    title=example.title,
                    code=clip(example.code, _EXAMPLE_CHARS),
                ),
            ),
        ]
        try:
            sampling = Sampling(max_tokens=300, seed=0)
            plans.append(await bench.ask_json("briefing", messages, sampling, ExamplePlan))
        except ReplyError:
            # An example that the model cannot explain is left out; the plan does without it.
            continue
    return tuple(plans)


def _choose(library: LibraryInfo, count: int) -> list[UsageExample]:
    """The examples that show most calls of the library in few lines, in their own order."""
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
