"""Libraries and compositions that Hypothesis thinks of."""

from __future__ import annotations

import random

from exploracoder_bench.api_use.expressions import Call
from exploracoder_bench.api_use.invented_libraries import (
    SCALARS,
    Argument,
    Function,
    Library,
    Shelf,
    Style,
)
from exploracoder_bench.api_use.sampling import sample
from hypothesis import strategies as st

STYLES: tuple[Style, ...] = ("import", "class")


def names(prefix: str) -> st.SearchStrategy[str]:
    """Legal names; the prefix keeps them apart from Python's own and from each other's kinds."""
    return st.text(alphabet="abcxyz_019é", max_size=6).map(lambda rest: f"{prefix}{rest}")


@st.composite
def shelves(draw: st.DrawFn) -> Shelf:
    """One to three libraries of either style whose functions give each other's objects."""
    styles = draw(st.dictionaries(names("lib"), st.sampled_from(STYLES), min_size=1, max_size=3))
    types = st.sampled_from([*SCALARS, *(name for name in styles if styles[name] == "class")])
    argument = st.builds(Argument, names("arg"), types)
    arguments = st.lists(argument, max_size=4, unique_by=lambda one: one.name).map(tuple)
    function = st.builds(Function, names("do"), st.just("Does it."), arguments, types)
    functions = st.lists(function, min_size=2, max_size=6, unique_by=lambda one: one.name)
    return Shelf(
        tuple(Library(name, name, styles[name], tuple(draw(functions))) for name in styles)
    )


@st.composite
def compositions(draw: st.DrawFn) -> tuple[Shelf, Call, random.Random]:
    """A shelf, a composition from it, and a source of what else is to be chosen."""
    shelf = draw(shelves())
    rng = random.Random(draw(st.integers(0, 2**32)))
    return shelf, sample(shelf, rng, depth=draw(st.integers(1, 5))), rng
