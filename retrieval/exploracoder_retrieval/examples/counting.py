"""Kept examples count as use of the APIs in them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from exploracoder_retrieval.examples.kept import KeptExample
from exploracoder_retrieval.shelf import Shelf


def with_examples(
    shelf: Shelf, kept: Sequence[KeptExample]
) -> tuple[Shelf, tuple[KeptExample, ...]]:
    """The shelf on which examples count as use, and those of them that use what is on it.

    Another version, or another library of this name, may have none of an example's APIs.
    """
    uses: Counter[int] = Counter()
    fitting = []
    for example in kept:
        rows = {row for path in example.apis for row in shelf.tables.paths.find(path)}
        if rows:
            uses.update(rows)
            fitting.append(example)
    if not fitting:
        return shelf, ()
    counted = dataclasses.replace(shelf, corpus=shelf.corpus.with_uses(uses))
    return counted, tuple(fitting)
