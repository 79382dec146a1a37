"""Explorations that were saved in an older form: one function from each version to the next.

A step only says what the newer form needs said; it drops nothing, and it takes the metadata as
they come, so a damaged part stays as it is for the model to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exploracoder.config import Settings

Metadata = dict[str, Any]


def migrate(metadata: Mapping[str, Any]) -> Metadata:
    """The metadata in the newest form; ``schema_version`` is a version that there is."""
    migrated = dict(metadata)
    for version in range(migrated["schema_version"], max(STEPS) + 1):
        migrated = STEPS[version](migrated) | {"schema_version": version + 1}
    return migrated


def known_settings(settings: Metadata) -> tuple[Metadata, tuple[str, ...]]:
    """The settings that this version knows, under their names of today, and the names of the rest.

    Settings come and go without another version of the format: what an exploration did is in its
    steps, and one that goes on without a setting does as it would by default.
    """
    named: Metadata = {}
    for name, value in settings.items():
        newer, converted = _RENAMED.get(name, (name, _as_it_is))
        named.setdefault(newer, converted(value))
    known = {name: value for name, value in named.items() if name in Settings.model_fields}
    return known, tuple(name for name in named if name not in known)


def _as_it_is(value: Any) -> Any:
    return value


def _as_count(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


# What a setting was called before there was a release, its name of today, and how to say it now.
_RENAMED: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "first_try": ("first_tries", _as_count),
    "api_search": ("functions", _as_it_is),
}


def _from_1(metadata: Metadata) -> Metadata:
    """Version 2 says what code was kept from, and what came along from a running kernel.

    Version 1 had no sandbox and no way to bring variables.
    """
    return {"sandbox": "", "brought": {}, **metadata}


def _from_2(metadata: Metadata) -> Metadata:
    """Version 3 knows steps in ``review``, and explorations that are ``waiting`` or ``paused``.

    A person may steer one only since then, so what version 2 says is true as it stands. Early
    notebooks of version 2 do not say what came along.
    """
    return {"brought": {}, **metadata}


def _from_3(metadata: Metadata) -> Metadata:
    """Version 4 knows classes written into repositories, notes of attempts, and more methods.

    The product's own is called ``exploration`` since then.
    """
    is_ours = metadata.get("method", "exploracoder") == "exploracoder"
    return {**metadata, "method": "exploration"} if is_ours else dict(metadata)


def _from_4(metadata: Metadata) -> Metadata:
    """Version 5 knows the searches that an attempt was written with; before, there were none."""
    return dict(metadata)


def _from_5(metadata: Metadata) -> Metadata:
    """Version 6 knows calls with example arguments; before, none was made."""
    return dict(metadata)


def _from_6(metadata: Metadata) -> Metadata:
    """Version 7 knows the docs behind an attempt; before, only those of subtasks were kept."""
    return dict(metadata)


def _from_7(metadata: Metadata) -> Metadata:
    """Version 8 keeps the solution that was written with the cells, and says what was called."""
    solution = metadata.get("solution")
    if not isinstance(solution, dict) or not isinstance(solution.get("attempts"), list):
        return dict(metadata)
    attempts = [_with_called(attempt) for attempt in solution["attempts"]]
    return {**metadata, "solution": {**solution, "attempts": attempts}}


def _with_called(attempt: Any) -> Any:
    call = attempt.get("call") if isinstance(attempt, dict) else None
    if not isinstance(call, dict) or not isinstance(call.get("code"), str):
        return attempt
    last = call["code"].splitlines()[-1:] or [""]
    return {**attempt, "call": {**call, "called": last[0].partition(" = ")[2]}}


STEPS: Mapping[int, Callable[[Metadata], Metadata]] = {
    1: _from_1,
    2: _from_2,
    3: _from_3,
    4: _from_4,
    5: _from_5,
    6: _from_6,
    7: _from_7,
}
OLDEST = min(STEPS)
