"""Noise in documentation: names and descriptions removed, numbered, or swapped.

A function's name and its behaviour are kept apart here: noise on names gives each function
one new name, by a permutation without a fixed point, so that nothing is renamed twice or keeps its
own name; signatures are translated accordingly.

Source: Measuring Novel API Use, section 4.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from exploracoder.errors import InputError

from exploracoder_bench.api_use.invented_libraries import Library, Shelf

NameNoise = Literal["none", "numbered", "scrambled"]
DescriptionNoise = Literal["none", "empty", "scrambled"]
# A function, by its library's id and its name.
Key = tuple[str, str]


def new_names(keys: Sequence[Key], noise: NameNoise, rng: random.Random) -> dict[Key, str]:
    """What each documented function is called under this noise.

    Raises:
        InputError: Names are to be swapped in a library with only one documented function.
    """
    if noise == "none":
        return {}
    if noise == "numbered":
        return {key: f"func{number}" for number, key in enumerate(keys, 1)}
    return {key: other[1] for key, other in _exchanged(keys, rng)}


def with_names(shelf: Shelf, names: dict[Key, str]) -> Shelf:
    """The libraries with their functions renamed."""
    return _changed(shelf, lambda library: _renamed(library, names))


def with_descriptions(
    shelf: Shelf, keys: Sequence[Key], noise: DescriptionNoise, rng: random.Random
) -> Shelf:
    """The libraries with their documentation emptied or exchanged. Raises InputError."""
    if noise == "none":
        return shelf
    texts: dict[Key, str] = dict.fromkeys(keys, "")
    if noise == "scrambled":
        pairs = _exchanged(keys, rng)
        texts = {key: shelf.find(other[0]).function(other[1]).doc for key, other in pairs}
    return _changed(
        shelf,
        lambda library: library.with_functions(
            replace(one, doc=texts.get((library.id, one.name), one.doc))
            for one in library.functions
        ),
    )


def _renamed(library: Library, names: dict[Key, str]) -> Library:
    return library.with_functions(
        replace(one, name=names.get((library.id, one.name), one.name)) for one in library.functions
    )


def _exchanged(all_keys: Sequence[Key], rng: random.Random) -> Iterable[tuple[Key, Key]]:
    """Each function with another one of its library: a single cycle through all of them."""
    for library in dict.fromkeys(key[0] for key in all_keys):
        keys = [key for key in all_keys if key[0] == library]
        if len(keys) < 2:
            raise InputError(
                f"Nothing can be exchanged in library {library}: one function of it is documented."
                " Ask for distractors."
            )
        rng.shuffle(keys)
        yield from zip(keys, [*keys[1:], keys[0]], strict=True)


def _changed(shelf: Shelf, change: Callable[[Library], Library]) -> Shelf:
    return Shelf(tuple(change(library) for library in shelf))
