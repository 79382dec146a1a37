"""Problems: what is asked, on which documentation, with which solved examples before it."""

from __future__ import annotations

import keyword
import random
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict, Field

from exploracoder_bench.api_use import noise
from exploracoder_bench.api_use.distractors import MIDDLE, documented
from exploracoder_bench.api_use.expressions import Call, Outer, renamed
from exploracoder_bench.api_use.flow_checks import check_of
from exploracoder_bench.api_use.invented_libraries import Shelf
from exploracoder_bench.api_use.noise import DescriptionNoise, Key, NameNoise
from exploracoder_bench.api_use.programs import program
from exploracoder_bench.api_use.signature import ordered, parse
from exploracoder_bench.api_use.task_wording import python_style


class PromptTask(BaseModel):
    """One thing to write: the problem itself, or a solved example before it.

    ``outer_order`` names the arguments of its function, if their order is not the signature's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    signature: str
    description: str
    func_name: str
    outer_order: tuple[str, ...] | None = None


class Problem(PromptTask):
    """A problem as a benchmark's file says it (Measuring Novel API Use, sections 3 and 4).

    Attributes:
        id: Tells it from all others.
        benchmark: Where it belongs, with what is varied there: a line of a report.
        num_distractors: Functions in the documentation besides those that are needed.
        target_func_location: How many of them come before those; ``middle``; or ``mixed``: those
            are shuffled in among them.
        function_noise_type: What is done to the names in the documentation.
        description_noise_type: What is done to its descriptions.
        fewshot: Solved examples, which share the documentation.
        seed: Decides which distractors there are and what is exchanged for what.
    """

    id: str
    benchmark: str = "own"
    num_distractors: int = Field(default=0, ge=0, le=1000)
    target_func_location: int | Literal["middle", "mixed"] = MIDDLE  # type: ignore[assignment] # the same
    function_noise_type: NameNoise = "none"
    description_noise_type: DescriptionNoise = "none"
    fewshot: tuple[PromptTask, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PreparedProblem:
    """A problem ready to be asked and judged.

    Attributes:
        problem: What it was made from.
        task: What is asked, with the documentation and the solved examples before it.
        shelf: The libraries as they are documented, whole.
        shown_keys: The functions that the documentation has, by the names it gives them.
        target: What is asked for, in the documentation's names.
        outer: The arguments of the function.
        reference: A program that computes it.
        check: Code that judges a program.
    """

    problem: Problem
    task: str
    shelf: Shelf
    shown_keys: tuple[Key, ...]
    target: Call
    outer: tuple[Outer, ...]
    reference: str
    check: str


def prepare(problem: Problem, shelf: Shelf) -> PreparedProblem:
    """Document, distract, add noise, and write the task.

    Args:
        problem: What is asked.
        shelf: The libraries that it is about, without noise.

    Raises:
        InputError: The signature, the order, the noise or the number of distractors is impossible.
    """
    rng = random.Random(f"{problem.seed} {problem.signature}")
    problems = [*problem.fewshot, problem]
    targets = [_call(one, shelf) for one in problems]
    keys = documented(
        shelf,
        targets[-1],
        targets[:-1],
        distractors=problem.num_distractors,
        place=problem.target_func_location,
        rng=rng,
    )
    names = noise.new_names(keys, problem.function_noise_type, rng)
    noisy = noise.with_descriptions(shelf, keys, problem.description_noise_type, rng)
    noisy = noise.with_names(noisy, names)
    noisy_keys = tuple((library, names.get((library, name), name)) for library, name in keys)
    examples = [
        _solved(one, _translated(call, names), noisy)
        for one, call in zip(problems[:-1], targets[:-1], strict=True)
    ]
    target = _translated(targets[-1], names)
    outer = tuple(ordered(target, problem.outer_order))
    return PreparedProblem(
        problem,
        "\n\n".join([_documentation(noisy, noisy_keys), *examples, _task(problem, outer)]),
        noisy,
        noisy_keys,
        target,
        outer,
        program(target, outer, noisy, function=problem.func_name),
        check_of(problem.func_name, target, outer, noisy),
    )


def check_function_name(name: str) -> None:
    """Raise InputError if no function can have this name."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"{name!r} cannot be the name of a function.")


def _call(problem: PromptTask, shelf: Shelf) -> Call:
    check_function_name(problem.func_name)
    target = parse(problem.signature, shelf)
    ordered(target, problem.outer_order)
    return target


def _translated(call: Call, names: dict[Key, str]) -> Call:
    translation = renamed(call, names)
    assert isinstance(translation, Call)
    return translation


def _task(problem: PromptTask, outer: Sequence[Outer]) -> str:
    head = f"Write a function {problem.func_name}({', '.join(one.name for one in outer)})"
    text = problem.description.strip().rstrip(".")
    return f"{head} that {text}." if text else f"{head}."


def _solved(example: PromptTask, call: Call, shelf: Shelf) -> str:
    order = ordered(call, example.outer_order)
    text = program(call, order, shelf, function=example.func_name).rstrip()
    # Not fenced: a fenced function could be taken for the unfinished code to complete.
    return f"{_task(example, order)} Its solution:\n\n{textwrap.indent(text, '    ')}"


def _documentation(shelf: Shelf, keys: Sequence[Key]) -> str:
    libraries = ((shelf.find(id), name) for id, name in keys)
    entries = [python_style(library, library.function(name)) for library, name in libraries]
    return "There are these functions:\n\n" + "\n\n".join(entries)
