"""Ablations of ``exploration``: parts that settings switch off, one at a time or all but one.

Anything that no setting switches off on its own counts as part of the method itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from exploracoder.errors import InputError
from exploracoder.methods import DEFAULT
from exploracoder.settings import Settings

# Accepted besides a part's name: each part off in turn; all off, and then each on in turn.
ALL, EACH, BARE, ONLY = "all", "each", "bare", "only-"
# Switching this off yields a different method, with other parts.
_WAY = "cells"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the method, the settings that switch it ``off``, and what it does.

    Some exist ``only`` when all cells are written at once, or only when subtasks are planned.
    """

    name: str
    off: Mapping[str, object]
    what: str
    only: Literal["", "cells", "plans"] = ""

    def is_in(self, settings: Settings) -> bool:
        """Whether the method has this part under these settings."""
        is_there = not self.only or (self.only == "cells") == settings.cells
        return is_there and any(getattr(settings, name) != self.off[name] for name in self.off)


@dataclass(frozen=True, slots=True)
class Ablation:
    """The method with other ``settings``, under a ``name``: a row of its own in tables."""

    name: str
    settings: Mapping[str, object]

    @property
    def row(self) -> str:
        """Its name in results, in the style of the published ablations."""
        return f"{DEFAULT}-{self.name}"

    @property
    def options(self) -> tuple[str, ...]:
        """The arguments of ``exploracoder explore``."""
        return tuple(f"--set={name}={value}" for name, value in self.settings.items())


PARTS = (
    Part(_WAY, {"cells": False}, "all cells and the solution in one request, not a plan"),
    Part("looks", {"looks": 0}, "looks at what the cells and the solution gave", "cells"),
    Part("library", {"prompt_chars": 0}, "overview, library map and docs for the cells", "cells"),
    Part("first-tries", {"first_tries": 0}, "solutions tried before anything is planned", "plans"),
    Part("briefing", {"few_shot_plans": 0}, "the library's summary and example plans", "plans"),
    Part("live", {"candidate_style": "self_contained"}, "candidates of new lines alone", "plans"),
    Part("one-by-one", {"stop_at_first": False}, "drafting ends at a candidate that is good"),
    Part("grammar", {"existing_names": False}, "code bound to names that exist"),
    Part("names", {"repair_names": False}, "imports, near names, other APIs without asking"),
    Part("hints", {"name_hints": False}, "wrong names said in repairs, with docs of near ones"),
    Part("sieve", {"sift": False}, "what is retrieved sifted by examples and live variables"),
    Part("rerank", {"rerank": "none"}, "retrieved APIs ranked and dropped by the model"),
    Part("docs", {"doc_chars": 0}, "of each API more than its signature and summary"),
    Part("overall", {"overall_apis": 0}, "APIs recommended for the whole task"),
    Part("examples", {"shown_examples": 0}, "example codes of the library", "plans"),
    Part("memory", {"memory": False}, "what was solved before, as examples"),
    Part("arguments", {"example_arguments": False}, "example values for a function's parameters"),
    Part("source", {"source_chars": 0}, "what the source says of a line that failed"),
    Part("functions", {"functions": "off"}, "functions that the model may call"),
    Part("candidates", {"candidates": 1}, "several candidates for a subtask"),
    Part("debug", {"self_debug": False}, "repairs of a subtask of which nothing ran"),
    Part("evidence", {"selection": "random"}, "the candidate that shows most is chosen"),
    Part("backtracks", {"backtracks": 0}, "going back to a subtask before"),
    Part("compose", {"compose": False}, "the solution composed of what the steps made"),
    Part("repairs", {"repair_rounds": 0}, "repairs of the solution"),
    Part("attempts", {"solution_attempts": 1}, "several texts of the solution from scratch"),
)


def find_ablations(names: Sequence[str], settings: Settings) -> tuple[Ablation, ...]:
    """The ablations with these names, for the method under these settings; each once.

    Raises InputError for an unknown name, or a part that these settings leave out already.
    """
    parts = {part.name: part for part in PARTS if part.is_in(settings)}
    without = [_without(part) for part in parts.values()]
    others = [part for part in parts.values() if part.name != _WAY]
    alone = [_bare(others), *(_bare(others, but=part) for part in others)]
    ablations: dict[str, tuple[Ablation, ...]] = {
        one.name.removeprefix("no-"): (one,) for one in (*without, *alone)
    }
    ablations |= {ALL: tuple(without), EACH: tuple(alone)}
    for name in names:
        if name not in ablations:
            raise InputError(_refusal(name, ablations))
    return tuple({one.name: one for name in names for one in ablations[name]}.values())


def _without(part: Part) -> Ablation:
    return Ablation(f"no-{part.name}", part.off)


def _bare(parts: Sequence[Part], but: Part | None = None) -> Ablation:
    off = {name: value for part in parts if part is not but for name, value in part.off.items()}
    return Ablation(BARE if but is None else f"{ONLY}{but.name}", off)


def _refusal(name: str, ablations: Mapping[str, object]) -> str:
    there = ", ".join(one for one in ablations if not one.startswith(ONLY))
    part = next((part for part in PARTS if part.name == name.removeprefix(ONLY)), None)
    if part is None:
        return f"There is no ablation {name!r}. There are: {there}, and {ONLY}NAME."
    return (
        f"With these settings {DEFAULT} does without {part.name} ({part.what}): there is nothing to"
        f" leave out. There are: {there}."
    )
