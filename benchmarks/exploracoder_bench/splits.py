"""Which problems may be looked at (seen), and which may only be counted (held out).

A problem is seen when the method was changed because of it, or may have been. ``splits.json``
records this for the known sets, with the reason; one in a folder of problems does so for those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.datasets.json_lines import read_json

FILE = "splits.json"
Split = Literal["seen", "held-out"]
# What a command can be asked for besides a split.
ALL = "all"
_WORDS: dict[Split | None, str] = {"seen": "seen", "held-out": "held out", None: "in no split"}


class Group(BaseModel):
    """Problems of one split, and why they are in it; ``*`` in a name stands for any text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    split: Split
    why: str
    problems: tuple[str, ...]


_Groups = tuple[Group, ...]


class Splits:
    """The splits of problems by their names, however a data set spells them."""

    def __init__(self, groups: Iterable[Group]) -> None:
        """Raises InputError when a problem stands in two splits."""
        self._groups: dict[str, list[Group]] = {}
        pairs = [(name, group) for group in groups for name in group.problems]
        for name, group in pairs:
            self._groups.setdefault(_plain(name), []).append(group)
        self._patterns = [name for name in self._groups if "*" in name]
        for name, _ in pairs:
            self.of(name)

    def of(self, name: str) -> Split | None:
        """The split of a problem, if it has one. Raises InputError when it has two."""
        splits = sorted({group.split for group in self._found(name)})
        if len(splits) > 1:
            raise InputError(
                f"{name} stands in two splits, {' and '.join(splits)}. Take it out of one {FILE}: a"
                " problem that was looked at is seen."
            )
        return splits[0] if splits else None

    def _found(self, name: str) -> list[Group]:
        plain = _plain(name)
        patterns = (pattern for pattern in self._patterns if fnmatchcase(plain, pattern))
        return [one for key in {plain, *patterns} for one in self._groups.get(key, ())]


def read_splits(folder: Path | None = None) -> Splits:
    """The known splits, and those that a folder of problems has of its own. Raises InputError."""
    files = [Path(__file__).with_name(FILE)]
    if folder is not None and (folder / FILE).is_file():
        files.append(folder / FILE)
    return Splits(group for file in files for group in read_json(file, _Groups, "list of splits"))


def tally(splits: Mapping[str, Split], names: Iterable[str]) -> dict[Split | None, int]:
    """How many of these problems each split has."""
    labels = [splits.get(name) for name in names]
    return {split: labels.count(split) for split in _WORDS if split in labels}


def in_words(counts: Mapping[Split | None, int]) -> str:
    """Such as ``Problems: 51 seen, 6 held out.``"""
    words = ", ".join(f"{number} {_WORDS[split]}" for split, number in counts.items())
    return f"Problems: {words or 'none'}."


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
