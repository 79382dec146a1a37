"""Programs that are nearly right: each differs from its problem in the data flow, on purpose."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from exploracoder_bench.api_use.expressions import (
    Call,
    Constant,
    Expression,
    Outer,
    calls,
    walk,
)
from exploracoder_bench.api_use.invented_libraries import Library, Shelf
from exploracoder_bench.api_use.sampling import constant_of

_TRIES = 2_000


def mutations(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random, count: int
) -> list[Expression]:
    """``count`` wrong expressions, no two with the same data flow.

    Where a problem is too small for so many, mutations are mutated again. That a mutation is wrong
    is seen from the expressions alone; the check has no part in it.
    """
    seen_flows, mutants = {_with_floats(expression)}, list[Expression]()
    for _ in range(_TRIES):
        if len(mutants) == count:
            break
        base = rng.choice(mutants) if mutants and rng.random() < 0.2 else expression
        mutant = rng.choice(KINDS)(base, order, shelf, rng) if calls(base) else None
        if mutant is not None and _with_floats(mutant) not in seen_flows:
            seen_flows.add(_with_floats(mutant))
            mutants.append(mutant)
    return mutants


def _with_floats(part: Expression) -> Expression:
    """The expression with all numbers as floats: 5 and 5.0 are the same value, 1 and True not."""
    if isinstance(part, Call):
        return part.with_parts(tuple(_with_floats(one) for one in part.parts()))
    if isinstance(part, Constant) and type(part.value) in (int, float):
        return Constant(f"number {float(part.value)!r}")  # type: ignore[arg-type] # a number
    return part


def swapped_arguments(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random
) -> Expression | None:
    """Two arguments of a call exchanged."""
    wide = [one for one in calls(expression) if len(one.arguments) > 1]
    if not wide:
        return None
    call = rng.choice(wide)
    one, other = rng.sample(range(len(call.arguments)), 2)
    values = [value for _, value in call.arguments]
    values[one], values[other] = values[other], values[one]
    names = [name for name, _ in call.arguments]
    replacement = replace(call, arguments=tuple(zip(names, values, strict=True)))
    return _put(expression, call, replacement, rng)


def wrong_function(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random
) -> Expression | None:
    """Another function of the same library, with the values that there are."""
    call = rng.choice(calls(expression))
    library = shelf.find(call.library)
    others = [one for one in library.functions if one.name != call.function]
    if not others:
        return None
    other = rng.choice(others)
    values = [value for _, value in call.arguments]
    values += [Constant(rng.randint(0, 99)) for _ in other.arguments[len(values) :]]
    names = [one.name for one in other.arguments]
    arguments = tuple(zip(names, values[: len(names)], strict=True))
    return _put(expression, call, Call(library.id, other.name, call.on, arguments), rng)


def dropped_call(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random
) -> Expression | None:
    """A call left out: what went into it takes its place, or a constant if nothing did."""
    call = rng.choice(calls(expression))
    instead = rng.choice(call.parts()) if call.parts() else Constant(rng.randint(0, 99))
    return _put(expression, call, instead, rng)


def changed_constant(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random
) -> Expression | None:
    """Another constant, its text instead of the number, or a constant where none should be."""
    leaves = [part for part in walk(expression) if not isinstance(part, Call)]
    if not leaves:
        return None
    leaf = rng.choice(leaves)
    if isinstance(leaf, Outer):
        return _put(expression, leaf, Constant(rng.randint(0, 99)), rng)
    value = leaf.value
    if isinstance(value, str):
        other = Constant(value + "?")
    elif rng.random() < 0.3:
        other = Constant(str(value))
    else:
        other = Constant(constant_of("int", rng))
    return _put(expression, leaf, other, rng)


def wrong_receiver(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random
) -> Expression | None:
    """A member function of another object: one that is there, or one made from the right one."""
    members = [one for one in calls(expression) if one.on is not None]
    if not members:
        return None
    call = rng.choice(members)
    library = shelf.find(call.library)
    objects: list[Expression] = [one for one in order if one.type == library.id]
    objects += [one for one in calls(expression) if _gives(one, library, shelf)]
    objects += list(_made_from(call.on, library, shelf))
    # A call on itself would be a tree without an end.
    objects = [one for one in objects if call not in walk(one)]
    if not objects:
        return None
    return _put(expression, call, replace(call, on=rng.choice(objects)), rng)


def wrong_argument(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random
) -> Expression | None:
    """One outer argument in the place of another."""
    leaves = [part for part in walk(expression) if isinstance(part, Outer)]
    if not leaves or len(order) < 2:
        return None
    return _put(expression, rng.choice(leaves), rng.choice(list(order)), rng)


KINDS: list[Callable[[Expression, Sequence[Outer], Shelf, random.Random], Expression | None]] = [
    swapped_arguments,
    wrong_function,
    dropped_call,
    changed_constant,
    wrong_receiver,
    wrong_argument,
]


def _gives(call: Call, library: Library, shelf: Shelf) -> bool:
    returns = shelf.find(call.library).function(call.function).returns
    return shelf.plain(returns) == library.id


def _made_from(on: Expression | None, library: Library, shelf: Shelf) -> Iterator[Call]:
    """The right object after one call more."""
    for function in library.functions:
        if shelf.plain(function.returns) == library.id and not function.arguments:
            yield Call(library.id, function.name, on, ())


def _put(
    expression: Expression, old: Expression, new: Expression, rng: random.Random
) -> Expression:
    """The expression with ``new`` in one of the places where ``old`` is."""
    places = sum(part == old for part in walk(expression))
    at = rng.randrange(places)
    seen = -1

    def put(part: Expression) -> Expression:
        nonlocal seen
        inner = part
        if isinstance(part, Call):
            inner = part.with_parts(tuple(put(one) for one in part.parts()))
        if part == old:
            seen += 1
            return new if seen == at else inner
        return inner

    return put(expression)
