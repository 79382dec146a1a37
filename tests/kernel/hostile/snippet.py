"""Snippets that mean harm, each with the Observation that has to come of it.

They lie in files of cells: a cell starts with ``# %% name``, and comments right below say what is
expected. ``status`` (any of these), ``ename`` (any of these), ``limits`` (all of these are hit),
``says`` (text of the error or of the output), ``result`` (exactly this), ``then: clean`` (the next
cell of the branch prints what it prints and nothing else, or is said to have had company);
``seconds`` and ``memory`` (in MB) are the limits it runs under. ``harm`` says what would be harm,
and ``only`` in which sandboxes there is anything to attack (a level or a mechanism). A comment such
as ``status in landlock`` takes the place of ``status`` there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from exploracoder_kernel.observation import Observation
from exploracoder_kernel.run_limits import Limits

SNIPPETS = Path(__file__).parent / "snippets"
PRELUDE = SNIPPETS / "prelude.py"

_HEAD = re.compile(r"^# %% (.+)$", re.MULTILINE)
_FACT = re.compile(r"# (\w+(?: in \w+)?): (.*)")
_SECONDS = 60.0
_SECONDS_TO_RUN_OUT = 0.5


Level = Literal["strict", "network"]
Mechanism = Literal["bubblewrap", "landlock"]
Strategy = Literal["fork", "replay"]


@dataclass(frozen=True, slots=True)
class Variant:
    """In which sandbox snippets run, and how their branches are made."""

    mechanism: Mechanism = "bubblewrap"
    level: Level = "strict"
    strategy: Strategy = "fork"

    def __str__(self) -> str:
        """Level, mechanism and strategy."""
        return f"{self.level}, {self.mechanism}, {self.strategy}"


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code, its limits, and what has to come of it; empty expectations are none."""

    family: str
    name: str
    code: str
    limits: Limits
    statuses: tuple[str, ...]
    enames: tuple[str, ...] = ()
    limits_hit: tuple[str, ...] = ()
    says: str = ""
    result: str | None = None
    is_clean_after: bool = False

    def __str__(self) -> str:
        """Its name with its family's."""
        return f"{self.family}: {self.name}"

    def differences(self, observation: Observation) -> list[str]:
        """What is not as expected, in words."""
        ename = observation.error.ename if observation.error else ""
        evalue = observation.error.evalue if observation.error else ""
        problems = []
        if observation.status not in self.statuses:
            problems.append(
                f"status {observation.status}, not {' or '.join(self.statuses)}: {evalue[:300]}"
            )
        if self.enames and observation.error and ename not in self.enames:
            problems.append(f"{ename}, not {' or '.join(self.enames)}: {evalue[:300]}")
        missing = set(self.limits_hit) - set(observation.limits_hit)
        if missing:
            unmet = ", ".join(sorted(missing))
            problems.append(
                f"limits not hit: {unmet}; but {observation.status}: "
                f"{evalue[:300]} {observation.note}"
            )
        if self.says and self.says not in evalue + observation.stdout + observation.stderr:
            problems.append(f"{self.says!r} is said nowhere, but: {evalue[:300]}")
        if self.result is not None and observation.result != self.result:
            problems.append(f"result {observation.result}, not {self.result}")
        return problems


def read(folder: Path = SNIPPETS, variant: Variant | None = None) -> tuple[Snippet, ...]:
    """All snippets that have something to attack in a variant, by file and place."""
    kind = variant or Variant()
    snippets = (
        _snippet(file.stem, name, body, kind)
        for file in sorted(folder.glob("*.py"))
        for name, body in _cells(file.read_text(encoding="utf-8"))
    )
    return tuple(snippet for snippet in snippets if snippet is not None)


def _cells(text: str) -> list[tuple[str, str]]:
    parts = _HEAD.split(text)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def _snippet(family: str, name: str, body: str, variant: Variant) -> Snippet | None:
    lines = body.strip().splitlines()
    facts: dict[str, str] = {}
    while lines and (fact := _FACT.fullmatch(lines[0])):
        facts[fact[1]] = fact[2]
        del lines[0]
    words = (variant.level, variant.mechanism, variant.strategy)
    if not set(facts.get("only", "").split()) <= set(words):
        return None
    for word in words:
        special = [name for name in facts if name.endswith(f" in {word}")]
        facts |= {name.partition(" ")[0]: facts[name] for name in special}
    megabytes = facts.get("memory")
    usual = _SECONDS_TO_RUN_OUT if facts["status"] == "timeout" else _SECONDS
    limits = Limits(
        wall_seconds=float(facts.get("seconds", usual)),
        memory_bytes=None if megabytes is None else int(megabytes) * 2**20,
    )
    return Snippet(
        family=family,
        name=name,
        code="\n".join(lines),
        limits=limits,
        statuses=tuple(facts["status"].split()),
        enames=tuple(facts.get("ename", "").split()),
        limits_hit=tuple(facts.get("limits", "").split()),
        says=facts.get("says", ""),
        result=facts.get("result"),
        is_clean_after=facts.get("then") == "clean",
    )
