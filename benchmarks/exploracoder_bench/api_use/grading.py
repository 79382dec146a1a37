"""Decide from what a candidate did whether it is right or wrong, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exploracoder_bench.api_use.flow import Flow, MalformedError, of_record, same
from exploracoder_bench.api_use.flow_differences import differences, in_words

_WHY_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's verdict on a candidate.

    Attributes:
        correct: Whether its result comes about as the problem asks.
        why: In words, after "it" or as a sentence of its own.
        is_refused: Whether it was not run, or its behaviour could not be determined.
        actual: The candidate's data flow, where none was expected of it.
    """

    correct: bool
    why: str
    is_refused: bool = False
    actual: Flow | None = None


def refused(why: str) -> dict[str, str]:
    """The record that stands in for a run which gave none."""
    return {"refused": why}


def verdict_on(record: Any, expected: Flow | None, *, is_strict: bool = False) -> Verdict:
    """Judge a record of the runner; every path that the candidate can take must be right.

    Args:
        record: As received; nothing in it is trusted.
        expected: The data flow asked for; None to get only the candidate's own, in ``actual``.
        is_strict: Whether calls that do not reach the result make it wrong.
    """
    try:
        return _verdict(record, expected, is_strict)
    except (MalformedError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        return Verdict(False, f"gave a record that could not be believed: {error}", True)


def _verdict(record: Any, expected: Flow | None, is_strict: bool) -> Verdict:
    if "refused" in record:
        return Verdict(False, str(record["refused"])[:_WHY_CHARACTERS], True)
    verdicts = [_on_path(path, expected, is_strict) for path in record["paths"]]
    for verdict in verdicts:
        if not verdict.correct:
            return verdict
    return verdicts[0] if expected is not None else _only_flow(record["paths"], verdicts)


def _only_flow(paths: Sequence[Mapping[str, Any]], verdicts: Sequence[Verdict]) -> Verdict:
    """The flow that all paths share; refused if they differ."""
    first = verdicts[0]
    for path, verdict in zip(paths, verdicts, strict=True):
        if first.actual and verdict.actual and not same(first.actual, verdict.actual):
            when = _when(path).removesuffix(": ")
            return Verdict(False, _cut(f"computes something else {when}"), True)
    return first


def _on_path(path: Mapping[str, Any], expected: Flow | None, is_strict: bool) -> Verdict:
    when = _when(path)
    if path["outcome"] == "spoiled":
        return Verdict(False, f"{path['error']}"[:_WHY_CHARACTERS], True)
    if path["outcome"] != "returned":
        return Verdict(False, f"{when}raises {path['error']}"[:_WHY_CHARACTERS])
    actual = of_record(path["nodes"], path["result"])
    if expected is None:
        return Verdict(True, "", actual=actual)
    if not same(expected, actual):
        return Verdict(False, _cut(when + _why_not(expected, actual)))
    unused_calls = actual.unused_calls()
    if unused_calls and is_strict:
        return Verdict(False, f"{unused_calls} of its calls do not reach the result")
    note = f"; {unused_calls} calls do not reach the result" if unused_calls else ""
    return Verdict(True, f"the data flow is the expected one{note}")


def _why_not(expected: Flow, actual: Flow) -> str:
    result = actual.nodes[actual.result]
    if result.kind == "constant" and result.words == "None":
        return "returns None instead of the result"
    return "; ".join(differences(expected, actual))


def _when(path: Mapping[str, Any]) -> str:
    """The conditions under which the candidate took this path."""
    if not path["decisions"]:
        return ""
    nodes = path["nodes"]
    conditions = []
    for number, answer in path["decisions"][:3]:
        flow = of_record(nodes, number)
        conditions.append(f"{in_words(flow, number, 2)} is {'true' if answer else 'false'}")
    return f"when {' and '.join(conditions)}: "


def _cut(text: str) -> str:
    return text if len(text) <= _WHY_CHARACTERS else f"{text[:_WHY_CHARACTERS]}…"
