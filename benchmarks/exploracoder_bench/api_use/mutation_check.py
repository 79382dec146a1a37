"""Is the judge right? References and programs that mean the same must pass, mutations must not."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from exploracoder.errors import SetupError

from exploracoder_bench.api_use.expressions import Call, Outer, outers
from exploracoder_bench.api_use.flow import Flow, of_expression
from exploracoder_bench.api_use.judging import Judge, Question
from exploracoder_bench.api_use.libraries import Shelf
from exploracoder_bench.api_use.library_files import provided
from exploracoder_bench.api_use.mutations import mutations
from exploracoder_bench.api_use.programs import PLAIN, program, random_style
from exploracoder_bench.api_use.sampling import sample
from exploracoder_bench.api_use.signature import parse, write

_DEEPEST = 6
_GROUP = 25


@dataclass(frozen=True, slots=True)
class Attempt:
    """A program and what the judge must say of it; ``kind`` is what it is or how it was spoiled."""

    kind: str
    must_pass: bool
    question: Question
    expected: Flow


@dataclass(slots=True)
class Tally:
    """What came of the attempts, by kind; and those that the judge got wrong."""

    problems: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, Any]] = field(default_factory=list)

    def lines(self) -> list[tuple[str, int, int]]:
        """Kind, how many, how many of them the judge got wrong."""
        wrong = Counter(one["kind"] for one in self.faults)
        return [(kind, count, wrong[kind]) for kind, count in sorted(self.judged.items())]


def provided_problems(count: int, seed: int) -> Iterator[tuple[Shelf, Call, random.Random]]:
    """Random problems on the libraries that are provided."""
    shelf, rng = provided(), random.Random(seed)
    for _ in range(count):
        yield shelf, sample(shelf, rng, depth=rng.randint(1, _DEEPEST)), rng


def hypothesis_problems(count: int, seed: int) -> Iterator[tuple[Shelf, Call, random.Random]]:
    """Problems on libraries that hypothesis makes up. Raises SetupError when it is missing."""
    try:
        from hypothesis import HealthCheck, Phase, given, settings
        from hypothesis import seed as seeded
    except ImportError as error:
        raise SetupError("hypothesis is not installed. pip install hypothesis") from error
    from exploracoder_bench.api_use.strategies import compositions

    found: list[tuple[Shelf, Call, random.Random]] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(compositions())
    def collect(example: tuple[Shelf, Call, random.Random]) -> None:
        found.append(example)

    collect()
    yield from found[:count]


def attempts(
    shelf: Shelf, expression: Call, rng: random.Random, *, wrong: int, alike: int
) -> Iterator[Attempt]:
    """The reference, ``alike`` programs that mean the same, and ``wrong`` mutations."""
    # Through the signature and back: what is asked for is what a file of problems would ask for.
    asked = parse(write(expression), shelf)
    order = outers(asked)
    rng.shuffle(order)
    expected = of_expression(asked, order)

    def question(one: Any, is_plain: bool = False) -> Question:
        style = PLAIN if is_plain else random_style(rng)
        text = program(one, order, shelf, style=style, rng=rng)
        return Question(shelf, text, "test", tuple(order))

    yield Attempt("reference", True, question(asked, is_plain=True), expected)
    for _ in range(alike):
        yield Attempt("means the same", True, question(asked), expected)
    for mutation in mutations(asked, order, shelf, rng, wrong):
        yield Attempt(mutation.kind, False, question(mutation.expression), expected)


async def check(
    judge: Judge,
    problems: Iterator[tuple[Shelf, Call, random.Random]],
    *,
    wrong: int,
    alike: int,
    is_apart: bool,
    tell: Callable[[str], None],
) -> Tally:
    """Judge all attempts at all problems.

    Args:
        judge: Is what is checked.
        problems: Shelves, compositions, and what decides the rest.
        wrong: Mutations of each.
        alike: Programs besides the reference that mean the same.
        is_apart: Each program has a process of its own, as those of models have. Otherwise up to
            fifty share one, which is several times as fast.
        tell: Is told how far it is.
    """
    tally, waiting = Tally(), list[Attempt]()
    for shelf, expression, rng in problems:
        made = list(attempts(shelf, expression, rng, wrong=wrong, alike=alike))
        tally.problems += 1
        if waiting and waiting[0].question.shelf is not shelf:
            await _judge(judge, waiting, tally, is_apart)
            waiting = []
        waiting += made
        if len(waiting) >= _GROUP * (1 + wrong + alike):
            await _judge(judge, waiting, tally, is_apart)
            waiting = []
        if tally.problems % _GROUP == 0:
            tell(f"{tally.problems} problems, {tally.judged.total()} programs judged")
    await _judge(judge, waiting, tally, is_apart)
    return tally


async def _judge(judge: Judge, made: Sequence[Attempt], tally: Tally, is_apart: bool) -> None:
    questions, flows = [one.question for one in made], [one.expected for one in made]
    verdicts = await judge.judge_all(questions, flows, is_apart=is_apart)
    for attempt, verdict in zip(made, verdicts, strict=True):
        tally.judged[attempt.kind] += 1
        if verdict.correct is not attempt.must_pass:
            tally.faults.append(
                {
                    "kind": attempt.kind,
                    "must_pass": attempt.must_pass,
                    "why": verdict.why,
                    "program": attempt.question.program,
                    "outer": [_name(one) for one in attempt.question.outer],
                }
            )


def _name(outer: Outer) -> str:
    return f"{outer.name}: {outer.type}"
