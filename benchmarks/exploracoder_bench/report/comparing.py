"""Two methods, models or versions, problem by problem."""

from __future__ import annotations

from exploracoder.errors import InputError

from exploracoder_bench.intervals import CONFIDENCE, RESAMPLES
from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.metrics import by_problem, compare, summarize
from exploracoder_bench.report.differences import differences_table
from exploracoder_bench.report.of_split import runs_of_split
from exploracoder_bench.report.run_folders import folder_of, read_all, read_method
from exploracoder_bench.report.tables import number, percent

_SHOWN = 20


def comparison(first: str, second: str, split: str | None = None) -> str:
    """A table of both, the difference with its interval, which problems differ, and how the
    conditions of the runs differ.

    Each is ``DIR`` or ``DIR:METHOD``; ``split`` is passed to `runs_of_split`. Raises
    InputError when they share no problem.
    """
    specs = (first, second)
    folders = list(dict.fromkeys(map(folder_of, specs)))
    split_runs, of_split = runs_of_split(read_all(folders), split)
    runs = dict(zip(folders, split_runs, strict=True))
    (one, ours), (other, theirs) = (read_method(runs[folder_of(spec)], spec) for spec in specs)
    problems = by_problem(ours).keys() & by_problem(theirs).keys()
    if not problems:
        raise InputError(f"{first} and {second} have no problem in common with samples that count.")
    pairing = compare(ours, theirs)
    rows = []
    for name, results, rate in ((one, ours, pairing.first), (other, theirs, pairing.second)):
        sums = summarize(result for result in results if result.problem in problems)
        row = (name, sums.problems, sums.samples, percent(rate), number(sums.completion_tokens))
        rows.append((*row, number(sums.seconds, 1)))
    head = ("", "problems", "samples", "pass@1", "completion tokens", "median s")
    gap = pairing.difference
    statement = (
        f"Second minus first, in pass@1 on the {len(problems)} problems of both:"
        f" {gap.value:+.1%} [{gap.low:+.1%}, {gap.high:+.1%}]"
        f" ({CONFIDENCE:.0%} interval, {RESAMPLES} resamples of problems). Being better on"
        f" {len(pairing.better)} and worse on {len(pairing.worse)} problems comes by chance with"
        f" p = {pairing.chance:.3f} (sign test)."
    )
    verdict = (
        f"That is more than chance: the interval leaves out no difference, and p is below"
        f" {1 - CONFIDENCE:.2f}."
        if pairing.is_clear
        else f"That may be chance: the interval holds no difference too, or p is not below"
        f" {1 - CONFIDENCE:.2f}."
    )
    lists = (_named("Better", pairing.better), _named("Worse", pairing.worse))
    not_alike = differences_table(list(runs.values()))
    more = filter(None, (*lists, not_alike))
    return "\n\n".join([of_split, markdown(head, rows), f"{statement} {verdict}", *more])


def _named(word: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{word} on {len(names)}: {', '.join(names[:_SHOWN])}{more}."
