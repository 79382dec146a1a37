"""Pictures of a run, in SVG: pass@k, cost against success, and where chains break."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exploracoder_bench.metrics import by_problem, estimate_at_k, is_pass, summarize
from exploracoder_bench.report.tables import grouped
from exploracoder_bench.results import RunResult

_SIZE_INCHES = (6.4, 4.0)


def draw(out: Path, results: Sequence[RunResult]) -> list[str] | None:
    """Write the pictures that show something; return their names, or None without matplotlib."""
    try:
        # The object-oriented API only: pyplot would open windows and keep state.
        from matplotlib.figure import Figure
    except ImportError:
        return None
    groups = grouped([one for one in results if one.counts], lambda one: one.method)
    names = []
    for name, paint in (("pass-at-k", _curves), ("cost", _cost), ("breaks", _breaks)):
        figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
        if paint(figure.add_subplot(), groups):
            figure.savefig(out / f"{name}.svg", metadata={"Date": None})
            names.append(f"{name}.svg")
    return names


def _curves(axes: Any, groups: dict[str, list[RunResult]]) -> bool:
    most = 0
    for method, group in groups.items():
        n = min(map(len, by_problem(group).values()))
        most = max(most, n)
        estimates = [estimate_at_k(group, k, is_pass) for k in range(1, n + 1)]
        xs = list(range(1, n + 1))
        (line,) = axes.plot(xs, [one.value for one in estimates], marker="o", label=method)
        lows, highs = [one.low for one in estimates], [one.high for one in estimates]
        axes.fill_between(xs, lows, highs, alpha=0.12, color=line.get_color())
    axes.set(xlabel="k, samples", ylabel="pass@k", ylim=(0, 1), title="Solved by one of k samples")
    axes.xaxis.get_major_locator().set_params(integer=True)
    if groups:
        axes.legend()
    return most > 1


def _cost(axes: Any, groups: dict[str, list[RunResult]]) -> bool:
    for method, group in groups.items():
        estimate, sums = estimate_at_k(group, 1, is_pass), summarize(group)
        error = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
        at = sums.prompt_tokens - sums.cached_tokens + sums.completion_tokens
        axes.errorbar([at], [estimate.value], yerr=error, marker="o", capsize=3, label=method)
        axes.annotate(method, (at, estimate.value), xytext=(6, 6), textcoords="offset points")
    axes.set(
        xlabel="tokens of a sample, without those cached",
        ylabel="pass@1",
        ylim=(0, 1),
        title="Cost against success",
    )
    return bool(groups)


def _breaks(axes: Any, groups: dict[str, list[RunResult]]) -> bool:
    """Bars: of a method's chains, how many broke first at which subtask, or not at all."""
    chains = {name: [one for one in group if one.chain.explored] for name, group in groups.items()}
    chains = {name: group for name, group in chains.items() if group}
    width = 0.8 / max(1, len(chains))
    for number, (method, group) in enumerate(chains.items()):
        counts = Counter(_place(one) for one in group)
        places = list(range(max(counts) + 1))
        shares = [counts[place] / len(group) for place in places]
        axes.bar([place + number * width for place in places], shares, width, label=method)
    if chains:
        last = max(_place(one) for group in chains.values() for one in group)
        names = ["solved", "all ran,\nnot solved", *(f"subtask {n}" for n in range(1, last))]
        axes.set_xticks(range(len(names)), names, fontsize="small")
        axes.legend()
    axes.set(ylabel="share of the chains", title="Where chains break")
    return bool(chains)


def _place(one: RunResult) -> int:
    """0 when solved, 1 when the chain held and the solution is wrong, else 1 + the subtask."""
    if one.is_solved:
        return 0
    return 1 + one.chain.broken_at
