"""The paper's figures 7 and 8 and its table 2 from results, beside what it reports of Codex."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from exploracoder_bench.api_use import published
from exploracoder_bench.api_use.charts import Series, line_chart
from exploracoder_bench.api_use.running import Result
from exploracoder_bench.markdown import markdown

_Z = 1.96  # of a 95 % interval
Way = tuple[str, str]
KeyT = TypeVar("KeyT")


def report(results: Sequence[Result]) -> str:
    """The Markdown report: a part for each benchmark that there are results of."""
    parts = ["# api_use", _overview(results)]
    parts += [
        text
        for name, part in _PARTS.items()
        if (given := [one for one in results if one.benchmark == name])
        for text in part(given)
    ]
    return "\n\n".join(parts) + "\n"


def charts(results: Sequence[Result]) -> dict[str, str]:
    """Figures 7 and 8 as SVG, by file name; those that there are results for."""
    found = {}
    chains = [one for one in results if one.benchmark == "compositionality"]
    if chains:
        drawn = _series(chains, lambda one: int(one.factors["length"]))
        found["figure-7.svg"] = line_chart(
            "Right answers by number of calls in a row", "calls in a row", drawn
        )
    orders = [one for one in results if one.benchmark == "arguments"]
    orders = [one for one in orders if one.factors["arguments"] == 4]
    if orders:
        found["figure-8.svg"] = line_chart(
            "Problems in order of their share of right answers (4 arguments)",
            "problem",
            _ranked(orders),
        )
    return found


def write_report(results: Sequence[Result], folder: Path) -> None:
    """Write report.md and the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = charts(results)
    links = "".join(f"\n![{name}]({name})\n" for name in drawn)
    (folder / "report.md").write_text(report(results) + links, encoding="utf-8")
    for name, text in drawn.items():
        (folder / name).write_text(text, encoding="utf-8")


def share(results: Iterable[Result]) -> str:
    """Share of right answers, its 95 % interval (Wilson's), and their number.

    The interval is for samples that are drawn alone. Samples of the same problem are alike, so
    with several a problem it is too narrow.
    """
    given = [one.correct for one in results]
    if not given:
        return "none"
    count, rate = len(given), sum(given) / len(given)
    middle = (rate + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count)
    half *= math.sqrt(rate * (1 - rate) / count + _Z**2 / (4 * count**2))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{rate:.3f} [{low:.2f}, {high:.2f}] n={count}"


def _overview(results: Sequence[Result]) -> str:
    rows = []
    for (method, model), given in _by(results, _way).items():
        seconds = sum(one.seconds for one in given) / len(given)
        refused = sum(one.refused for one in given)
        rows.append((f"{method}, {model}", share(given), refused, f"{seconds:.1f}"))
    head = ("method, model", "right", "refused or not ended", "seconds each")
    return markdown(head, rows) if rows else "There are no results yet."


def _compositionality(results: Sequence[Result]) -> list[str]:
    ways = _by(results, _way)
    lengths = sorted({int(one.factors["length"]) for one in results})
    rows = [
        (length, *(share(one for one in given if one.factors["length"] == length)
                   for given in ways.values()))
        for length in lengths
    ]  # fmt: skip
    table = markdown(("calls in a row", *_heads(ways)), rows)
    return ["## Figure 7: COMPOSITIONALITY", table, published.COMPOSITIONALITY]


def _arguments(results: Sequence[Result]) -> list[str]:
    ways = _by(results, _way)
    rows: list[tuple[object, ...]] = []
    for count in sorted({int(one.factors["arguments"]) for one in results}, reverse=True):
        for shots in dict.fromkeys(one.fewshot_type for one in results):
            cells = []
            for given in ways.values():
                here = [one for one in given if one.factors["arguments"] == count]
                cells.append(_orders([one for one in here if one.fewshot_type == shots]))
            rows.append((f"{count}, {shots}", *cells))
    head = ("arguments, examples", *_heads(ways))
    note = "Each cell: share of right answers, and the orders of which none was right."
    return ["## Figure 8: ARGUMENTS", markdown(head, rows), note, published.ARGUMENTS]


def _orders(results: Sequence[Result]) -> str:
    orders = _by(results, lambda one: one.factors["order"])
    never = sum(not any(one.correct for one in given) for given in orders.values())
    return f"{share(results)}; {never} of {len(orders)} never" if results else "none"


def _semantics(results: Sequence[Result]) -> list[str]:
    texts = ["## Table 2: SEMANTICS"]
    for varied, other, codex in (
        ("documentation", "prompt", published.SEMANTICS_DOCUMENTATION),
        ("prompt", "documentation", published.SEMANTICS_PROMPT),
    ):
        # As in the paper: one of the two is varied while the other is as it should be.
        fair = [one for one in results if one.factors[other] == "baseline"]
        ways = _by(fair, _way)
        rows = []
        for noise, (cushman, davinci) in codex.items():
            cells = [
                share(one for one in given if one.factors[varied] == noise)
                for given in ways.values()
            ]
            rows.append((noise, *cells, f"{cushman:.3f}", f"{davinci:.3f}"))
        head = (f"{varied} noise", *_heads(ways), "cushman (paper)", "davinci (paper)")
        texts.append(markdown(head, rows))
    return texts


def _distractor(results: Sequence[Result]) -> list[str]:
    ways = _by(results, _way)
    rows = [
        (count, *(share(one for one in given if one.factors["distractors"] == count)
                  for given in ways.values()))
        for count in sorted({int(one.factors["distractors"]) for one in results})
    ]  # fmt: skip
    table = markdown(("distractors", *_heads(ways)), rows)
    return ["## DISTRACTOR", table, published.DISTRACTOR]


_PARTS: dict[str, Callable[[Sequence[Result]], list[str]]] = {
    "compositionality": _compositionality,
    "arguments": _arguments,
    "semantics": _semantics,
    "distractor": _distractor,
}


def _series(results: Sequence[Result], at: Callable[[Result], int]) -> list[Series]:
    return [
        Series(
            ", ".join(way),
            tuple(
                (place, sum(one.correct for one in here) / len(here))
                for place, here in sorted(_by(given, at).items())
            ),
        )
        for way, given in _by(results, _way).items()
    ]


def _ranked(results: Sequence[Result]) -> list[Series]:
    """For each way and kind of examples, the problems' shares from the highest to the lowest."""
    drawn = []
    for (way, shots), given in _by(results, lambda one: (_way(one), one.fewshot_type)).items():
        problems = _by(given, lambda one: one.problem).values()
        shares = sorted(sum(one.correct for one in here) / len(here) for here in problems)
        points = tuple(enumerate(reversed(shares), 1))
        drawn.append(Series(f"{way[0]}, {way[1]}, {shots}", points))
    return drawn


def _way(result: Result) -> Way:
    return (result.method, result.model)


def _heads(ways: Mapping[Way, object]) -> list[str]:
    return [", ".join(way) for way in ways]


def _by(results: Iterable[Result], key: Callable[[Result], KeyT]) -> dict[KeyT, list[Result]]:
    groups: dict[KeyT, list[Result]] = {}
    for one in results:
        groups.setdefault(key(one), []).append(one)
    return groups
