"""Libraries and compositions that hypothesis thinks of. It is needed for checking alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from exploracoder_bench.api_use.expressions import Call
from exploracoder_bench.api_use.libraries import SCALARS, Argument, Function, Library, Shelf, Style
from exploracoder_bench.api_use.sampling import sample

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def shelves() -> SearchStrategy[Shelf]:
    """One to three libraries of either style whose functions give each other's objects."""
    from hypothesis import strategies as st

    @st.composite
    def draw_shelf(draw: DrawFn) -> Shelf:
        names = draw(st.lists(_names("lib"), min_size=1, max_size=3, unique=True))
        styles: list[Style] = [draw(st.sampled_from(("import", "class"))) for _ in names]
        classes = [name for name, style in zip(names, styles, strict=True) if style == "class"]
        types = st.sampled_from([*SCALARS, *classes])
        libraries = []
        for name, style in zip(names, styles, strict=True):
            known = draw(st.lists(_names("do"), min_size=2, max_size=6, unique=True))
            functions = [_function(draw, one, types) for one in known]
            libraries.append(Library(name, name, style, tuple(functions)))
        return Shelf(tuple(libraries))

    return draw_shelf()


def compositions() -> SearchStrategy[tuple[Shelf, Call, random.Random]]:
    """A shelf, a composition from it, and a source of what else is to be chosen."""
    from hypothesis import strategies as st

    @st.composite
    def draw_composition(draw: DrawFn) -> tuple[Shelf, Call, random.Random]:
        shelf = draw(shelves())
        rng = random.Random(draw(st.integers(0, 2**32)))
        return shelf, sample(shelf, rng, depth=draw(st.integers(1, 5))), rng

    return draw_composition()


def _function(draw: DrawFn, name: str, types: SearchStrategy[str]) -> Function:
    from hypothesis import strategies as st

    arguments = draw(st.lists(_names("arg"), max_size=4, unique=True))
    typed = tuple(Argument(one, draw(types)) for one in arguments)
    return Function(name, f"Does what {name} says.", typed, draw(types))


def _names(prefix: str) -> SearchStrategy[str]:
    """Legal names; the prefix keeps them apart from Python's own and from each other's kinds."""
    from hypothesis import strategies as st

    letters = st.text(alphabet="abcxyz_019é", max_size=6)
    return letters.map(lambda rest: f"{prefix}{rest}")
