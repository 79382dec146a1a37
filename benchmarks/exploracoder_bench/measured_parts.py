"""Benchmarks of several parts, any of which can be measured alone: one table of all figures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exploracoder_bench.markdown_table import markdown


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure, with what it is of."""

    part: str
    what: str
    value: float
    unit: str


# Each takes the number of rounds.
Parts = Mapping[str, Callable[[int], Iterator[Measure]]]


def print_parts(
    parts: Parts, arguments: Sequence[str] | None, *, about: str | None, default: str, rounds: int
) -> int:
    """Measure the parts that the arguments name and print a table; exit code 2 for others."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=default, help="separated by commas")
    parser.add_argument(
        "--rounds", type=int, default=rounds, metavar="N", help="repetitions; default: %(default)s"
    )
    options = parser.parse_args(arguments)
    names = [name.strip() for name in options.parts.split(",") if name.strip()]
    unknown = [name for name in names if name not in parts]
    if unknown:
        print(f"Error: no part {unknown[0]!r}; parts: {', '.join(parts)}.", file=sys.stderr)
        return 2
    measures = [measure for name in names for measure in parts[name](options.rounds)]
    rows = [(one.part, one.what, f"{one.value:.4g} {one.unit}") for one in measures]
    print(markdown(("part", "what", "value"), rows))
    return 0
