"""Two methods, models or versions, problem by problem."""

from __future__ import annotations

from exploracoder.errors import InputError

from exploracoder_bench.markdown import markdown
from exploracoder_bench.metrics import CONFIDENCE, RESAMPLES, by_problem, compare, summarize
from exploracoder_bench.report.reading import read_method
from exploracoder_bench.report.tables import number, percent

_SHOWN = 20


def comparison(first: str, second: str) -> str:
    """A table of both, the difference with its interval, and which problems differ.

    Each is ``DIR`` or ``DIR:METHOD``. Raises InputError when they share no problem.
    """
    (one, ours), (other, theirs) = read_method(first), read_method(second)
    shared = by_problem(ours).keys() & by_problem(theirs).keys()
    if not shared:
        raise InputError(f"{first} and {second} have no problem in common with samples that count.")
    paired = compare(ours, theirs)
    rows = []
    for name, results, rate in ((one, ours, paired.first), (other, theirs, paired.second)):
        sums = summarize(result for result in results if result.problem in shared)
        row = (name, sums.problems, sums.samples, percent(rate), number(sums.completion_tokens))
        rows.append((*row, number(sums.seconds, 1)))
    head = ("", "problems", "samples", "pass@1", "completion tokens", "median s")
    gap = paired.difference
    said = (
        f"Second minus first, in pass@1 on the {len(shared)} problems of both:"
        f" {gap.value:+.1%} [{gap.low:+.1%}, {gap.high:+.1%}]"
        f" ({CONFIDENCE:.0%} interval, {RESAMPLES} resamples of problems)."
    )
    verdict = (
        "The interval leaves out no difference."
        if paired.is_clear
        else "That may be chance: the interval holds no difference too."
    )
    lists = (_named("Better", paired.better), _named("Worse", paired.worse))
    return "\n\n".join([markdown(head, rows), f"{said} {verdict}", *filter(None, lists)])


def _named(word: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{word} on {len(names)}: {', '.join(names[:_SHOWN])}{more}."
