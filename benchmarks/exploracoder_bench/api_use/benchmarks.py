"""The four benchmarks: COMPOSITIONALITY, DISTRACTOR, SEMANTICS, ARGUMENTS.

Source: Measuring Novel API Use, section 5.2. The numbers of problems are those of the published
package (160, 36, 175, 581); libraries, texts and the choice of functions are ours.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from exploracoder_bench.api_use.composed_problems import Problem, PromptTask
from exploracoder_bench.api_use.expressions import Call, outers
from exploracoder_bench.api_use.invented_libraries import Shelf
from exploracoder_bench.api_use.library_files import as_json, provided, shelf_of
from exploracoder_bench.api_use.sampling import constant_of, sample
from exploracoder_bench.api_use.signature import parse, write
from exploracoder_bench.api_use.task_wording import describe
from exploracoder_bench.datasets.json_lines import first_fault

SHOTS = (
    "zero", "in-1", "in-2", "out-1", "out-2", "mixed-in-out", "mixed-out-in",
)  # fmt: skip
_LONGEST, _CHAINS_PER_LENGTH = 20, 8
_MOST_FUNCTIONS = 8
_DISTRACTORS = 5
# Functions by their number of arguments; the first is asked for, the others are examples.
_BY_ARGUMENTS = {
    2: ("get_volume_of_cone", "get_volume_of_cylinder", "get_volume_of_pyramid"),
    3: ("get_volume_of_frustum", "get_volume_of_box", "get_surface_area_of_box"),
    4: ("get_volume_of_wedge", "get_volume_of_tube", "get_volume_of_sector"),
}
_DOC_NOISE = {
    "baseline": {},
    "descriptions empty": {"description_noise_type": "empty"},
    "descriptions scrambled": {"description_noise_type": "scrambled"},
    "names numbered": {"function_noise_type": "numbered"},
    "names scrambled": {"function_noise_type": "scrambled"},
}
_PROMPT_NOISE: dict[str, dict[str, str]] = {
    "baseline": {},
    "description empty": {"description": ""},
    "description scrambled": {"description": "works out the area of the six faces of a cube"},
    "name meaningless": {"func_name": "func"},
    "name adversarial": {"func_name": "compute_surface_area_of_cube"},
}


def compositionality() -> Iterator[Problem]:
    """Chains of one to twenty changes to an image, eight of each length."""
    shelf, rng = provided("image"), random.Random(7)
    library = shelf.libraries[0]
    steps = [one for one in library.functions if one.returns == "image" and one.name != "overlay"]
    for length, number in itertools.product(range(1, _LONGEST + 1), range(_CHAINS_PER_LENGTH)):
        text = "image"
        for function in rng.choices(steps, k=length):
            keyword_arguments = [
                f"{one.name}={constant_of(one.type, rng)!r}" for one in function.arguments
            ]
            text += f".{function.name}({', '.join(keyword_arguments)})"
        yield Problem(
            **_asked(text, shelf, f"change_image_{number + 1}"),
            id=f"compositionality-{length}-{number}",
            benchmark=f"compositionality-{length:02}",
            # The library has enough functions even beside the longest chain: as in the paper's
            # section 5.4 the number of distractors is constant, and chains differ only in length.
            num_distractors=_DISTRACTORS,
            target_func_location="mixed",
            seed=number,
        )


def distractor() -> Iterator[Problem]:
    """The volume of a cylinder among up to eight functions, at every place."""
    shelf = provided("solids")
    for count in range(1, _MOST_FUNCTIONS + 1):
        for place in range(count):
            yield Problem(
                **_asked("solids.get_volume_of_cylinder()", shelf),
                id=f"distractor-{count - 1}-{place}",
                benchmark=f"distractor-{count - 1}",
                num_distractors=count - 1,
                target_func_location=place,
                seed=count,
            )


def semantics() -> Iterator[Problem]:
    """The volume of a cone with noise in the documentation, in the prompt, or in both."""
    shelf = provided("solids")
    names = _BY_ARGUMENTS[2]
    target = _asked(f"solids.{names[0]}()", shelf)
    alike = [PromptTask(**_asked(f"solids.{name}()", shelf)) for name in names[1:]]
    unlike = [
        PromptTask(**_asked("solids.get_volume_of_box(width=3)", shelf)),
        PromptTask(**_asked("solids.get_surface_area_of_cube(side=2)", shelf)),
    ]
    for docs, prompt, shots in itertools.product(_DOC_NOISE, _PROMPT_NOISE, SHOTS):
        yield Problem(
            **{**target, **_PROMPT_NOISE[prompt]},
            **_DOC_NOISE[docs],
            id=f"semantics-{docs}-{prompt}-{shots}".replace(" ", "-"),
            benchmark=_noises(docs, prompt),
            num_distractors=_DISTRACTORS,
            fewshot=_shots(shots, alike, unlike),
        )


def _noises(docs: str, prompt: str) -> str:
    """The benchmark's name, as in the paper's table 2: one of the two varies at a time."""
    if "baseline" not in (docs, prompt):
        return "semantics-both"
    variations = [f"docs-{docs}"] * (docs != "baseline") + [f"prompt-{prompt}"] * (
        prompt != "baseline"
    )
    return f"semantics-{(variations or ['baseline'])[0]}".replace(" ", "-")


def arguments() -> Iterator[Problem]:
    """Every choice and order of free arguments of functions with two, three and four of them."""
    for count in sorted(_BY_ARGUMENTS, reverse=True):
        orders = [
            order
            for free in range(count, 0, -1)
            for order in itertools.permutations(range(count), free)
        ]
        for place, order in enumerate(orders):
            for shots in SHOTS:
                yield _with_order(count, order, orders[(place + 1) % len(orders)], shots)


def _with_order(count: int, order: tuple[int, ...], other: tuple[int, ...], shots: str) -> Problem:
    target, *examples = _BY_ARGUMENTS[count]
    digits = "".join(str(one + 1) for one in order)
    return Problem(
        **_ordered(target, order, 0),
        id=f"arguments-{count}-{digits}-{shots}",
        benchmark=f"arguments-{count}-{shots}",
        num_distractors=_DISTRACTORS,
        fewshot=_shots(
            shots,
            [PromptTask(**_ordered(name, order, at)) for at, name in enumerate(examples, 1)],
            [PromptTask(**_ordered(name, other, at)) for at, name in enumerate(examples, 1)],
        ),
    )


def _ordered(function: str, order: Sequence[int], at: int) -> dict[str, Any]:
    """A call whose arguments are free in this order; those that it does not name are fixed."""
    shelf = provided("solids")
    names = [one.name for one in shelf.libraries[0].function(function).arguments]
    constants = [
        f"{name}={3 + place + 2 * at}" for place, name in enumerate(names) if place not in order
    ]
    fields = _asked(f"solids.{function}({', '.join(constants)})", shelf)
    return {**fields, "outer_order": tuple(names[place] for place in order)}


def _shots(
    kind: str, alike: Sequence[PromptTask], unlike: Sequence[PromptTask]
) -> tuple[PromptTask, ...]:
    return {
        "zero": (),
        "in-1": (alike[0],),
        "in-2": tuple(alike[:2]),
        "out-1": (unlike[0],),
        "out-2": tuple(unlike[:2]),
        "mixed-in-out": (alike[0], unlike[1]),
        "mixed-out-in": (unlike[0], alike[1]),
    }[kind]


def _asked(signature: str, shelf: Shelf, func_name: str | None = None) -> dict[str, Any]:
    expression = parse(signature, shelf)
    name = func_name or f"compute_{expression.function.removeprefix('get_')}"
    return {
        "signature": signature,
        "description": describe(expression, shelf),
        "func_name": name,
    }


BENCHMARKS: dict[str, Callable[[], Iterator[Problem]]] = {
    "compositionality": compositionality,
    "distractor": distractor,
    "semantics": semantics,
    "arguments": arguments,
}


def sampled(shelf: Shelf, count: int, *, depth: int, distractors: int, seed: int) -> list[Problem]:
    """Random problems on any libraries."""
    rng = random.Random(seed)
    return [_sampled(shelf, rng, number, depth, distractors) for number in range(count)]


def _sampled(
    shelf: Shelf, rng: random.Random, number: int, depth: int, distractors: int
) -> Problem:
    expression: Call = sample(shelf, rng, depth=depth)
    signature = write(expression)
    order = [one.name for one in outers(expression)]
    rng.shuffle(order)
    return Problem(
        **_asked(signature, shelf, "test"),
        outer_order=tuple(order),
        id=f"sampled-{number}",
        benchmark="sampled",
        num_distractors=distractors,
        target_func_location="mixed",
        seed=number,
    )


class _File(BaseModel):
    """Problems, with their libraries unless these are the provided ones."""

    model_config = ConfigDict(extra="forbid")

    problems: list[Problem] = Field(min_length=1)
    libraries: Any = None

    @field_validator("problems")
    @classmethod
    def _no_id_twice(cls, problems: list[Problem]) -> list[Problem]:
        if len({one.id for one in problems}) != len(problems):
            raise ValueError("two have the same id")
        return problems


def problem_file(problems: Sequence[Problem], shelf: Shelf) -> str:
    """The problems as JSON, for `open_benchmark` to read."""
    own = None if shelf == provided() else as_json(shelf)
    file = _File(problems=list(problems), libraries=own)
    return file.model_dump_json(indent=1, exclude_defaults=True) + "\n"


def open_benchmark(name_or_file: str) -> tuple[Shelf, list[Problem]]:
    """A benchmark by name, or a file, with its libraries. Raises InputError."""
    if name_or_file in BENCHMARKS:
        return provided(), list(BENCHMARKS[name_or_file]())
    try:
        file = _File.model_validate_json(Path(name_or_file).read_bytes())
    except OSError as error:
        raise InputError(
            f"{name_or_file} cannot be read: {error.strerror}, and it is none of"
            f" {', '.join(BENCHMARKS)}."
        ) from error
    except ValidationError as error:
        raise InputError(f"{name_or_file}: {first_fault(error)}") from error
    shelf = shelf_of(file.libraries, name_or_file) if file.libraries else provided()
    return shelf, file.problems
