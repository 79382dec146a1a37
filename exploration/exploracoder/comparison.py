"""Two explorations side by side: what one did that the other did not."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import zip_longest
from typing import Literal

from exploracoder import document
from exploracoder.replay import difference, shown, stable
from exploracoder.state import Exploration, State, Step

Aspect = Literal[
    "task",
    "context",
    "check",
    "libraries",
    "goal",
    "status",
    "docs",
    "code",
    "output",
    "solution",
    "verdict",
]


class Difference(State):
    """One thing that differs, as text in A and in B."""

    aspect: Aspect
    before: str
    now: str

    def __str__(self) -> str:
        """Say it: short texts in a line, others as a unified diff."""
        if max(len(self.before), len(self.now)) <= 60 and "\n" not in self.before + self.now:
            return f"{self.aspect}: {self.before or 'none'} → {self.now or 'none'}"
        lines = difference(self.before, self.now)
        return "\n".join([f"{self.aspect}:", *(f"  {line}" for line in lines)])


class ComparedStep(State):
    """A subtask of A and the one of B that stands for it; ids are None where there is none."""

    before: str | None
    now: str | None
    goal: str
    differences: tuple[Difference, ...] = ()

    @property
    def result(self) -> Literal["same", "changed", "added", "removed"]:
        """How the plans and what was found differ here."""
        if self.before is None:
            return "added"
        if self.now is None:
            return "removed"
        return "changed" if self.differences else "same"

    def __str__(self) -> str:
        """Say it in a line, and what differs in the lines after it."""
        name = self.before or self.now
        moved = f" (now {self.now})" if self.before and self.now not in (None, self.before) else ""
        head = f"{self.result:8} {name}{moved}: {self.goal}"
        return "\n".join([head, *(_indented(str(one)) for one in self.differences)])


class Spent(State):
    """What an exploration has cost."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.calls} calls, {self.prompt_tokens} + {self.completion_tokens} tokens,"
            f" {self.seconds:.0f} s"
        )


class Comparison(State):
    """Two explorations compared. What they cost is told, and is no difference between them."""

    differences: tuple[Difference, ...]
    steps: tuple[ComparedStep, ...]
    outcome: tuple[Difference, ...]
    cost_before: Spent
    cost_now: Spent

    @property
    def is_same(self) -> bool:
        """Whether both set out from the same, did the same, and found the same."""
        return not (self.differences or self.outcome) and all(
            step.result == "same" for step in self.steps
        )

    def __str__(self) -> str:
        """All of it in words: what they set out from, steps, outcome, cost, verdict."""
        same = sum(step.result == "same" for step in self.steps)
        verdict = "They are the same." if self.is_same else "They differ."
        return "\n".join(
            [
                *map(str, self.differences),
                *map(str, self.steps),
                *map(str, self.outcome),
                f"cost: {self.cost_before} → {self.cost_now}",
                f"{verdict} {same} of {len(self.steps)} subtasks are the same.",
            ]
        )


def compare(before: Exploration, now: Exploration) -> Comparison:
    """Compare A with B, step by step. Subtasks belong together by their goals, then by place."""
    return Comparison(
        differences=tuple(_start(before, now)),
        steps=tuple(_compare_steps(one, other) for one, other in _pairs(before, now)),
        outcome=tuple(_outcome(before, now)),
        cost_before=_spent(before),
        cost_now=_spent(now),
    )


def _start(before: Exploration, now: Exploration) -> Iterator[Difference]:
    yield from _differ("task", before.task.text, now.task.text)
    yield from _differ("context", before.task.context, now.task.context)
    yield from _differ("check", before.task.check, now.task.check)
    yield from _differ("libraries", _libraries(before), _libraries(now))


def _libraries(exploration: Exploration) -> str:
    return ", ".join(f"{one.name} {one.version}".strip() for one in exploration.libraries)


def _pairs(before: Exploration, now: Exploration) -> Iterator[tuple[Step | None, Step | None]]:
    old, new = ([step.subtask.goal for step in one.steps] for one in (before, now))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for _, start, end, other_start, other_end in matcher.get_opcodes():
        yield from zip_longest(before.steps[start:end], now.steps[other_start:other_end])


def _compare_steps(before: Step | None, now: Step | None) -> ComparedStep:
    either = now or before
    assert either is not None, "a pair has at least one step"
    return ComparedStep(
        before=before.subtask.id if before else None,
        now=now.subtask.id if now else None,
        goal=either.subtask.goal,
        differences=tuple(_step_differences(before, now)) if before and now else (),
    )


def _step_differences(before: Step, now: Step) -> Iterator[Difference]:
    yield from _differ("goal", before.subtask.goal, now.subtask.goal)
    yield from _differ("status", before.status, now.status)
    yield from _differ("docs", _docs(before), _docs(now))
    old, new = before.candidate, now.candidate
    yield from _differ("code", old.code if old else "", new.code if new else "")
    yield from _differ(
        "output", shown(old.observation if old else None), shown(new.observation if new else None)
    )


def _docs(step: Step) -> str:
    return ", ".join(doc.path for doc in step.recommendation.kept)


def _outcome(before: Exploration, now: Exploration) -> Iterator[Difference]:
    finals = [one.solution.final if one.solution else None for one in (before, now)]
    code = [final.code if final else "" for final in finals]
    yield from _differ("solution", code[0], code[1])
    outputs = [shown(final.observation) if final else "" for final in finals]
    yield from _differ("output", outputs[0], outputs[1])
    words = [document.verification(one).replace("**", "") for one in (before, now)]
    yield from _differ("verdict", words[0], words[1])
    yield from _differ("status", before.status, now.status)


def _differ(aspect: Aspect, before: str, now: str) -> Iterator[Difference]:
    if stable(before) != stable(now):
        yield Difference(aspect=aspect, before=before, now=now)


def _spent(exploration: Exploration) -> Spent:
    usage = exploration.usage
    return Spent(
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        seconds=exploration.seconds_total,
    )


def _indented(text: str) -> str:
    return "\n".join(f"         {line}" for line in text.split("\n"))
