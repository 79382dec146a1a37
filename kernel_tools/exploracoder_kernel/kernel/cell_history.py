"""The cells run in a branch, for a front end's arrow keys: in memory, inherited by forks."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

# There is only one session: the history of earlier kernels is not kept.
SESSION = 1


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One cell with its number, and the plain text of its result."""

    number: int
    code: str
    result: str | None = None


@dataclass(frozen=True, slots=True)
class CellHistory:
    """The cells of one branch, oldest first."""

    entries: tuple[HistoryEntry, ...] = ()

    def plus(self, number: int, code: str, result: str | None) -> CellHistory:
        """The history with one more cell."""
        return CellHistory((*self.entries, HistoryEntry(number, code, result)))

    def answer(self, hist_access_type: str, **options: Any) -> list[list[Any]]:
        """The requested cells, as ``[session, number, code]`` or with ``[code, result]`` last.

        ``options`` are the other fields of a ``history_request``.
        """
        if hist_access_type == "range":
            cells = self._range(**options)
        elif hist_access_type == "search":
            cells = _last(self._search(**options), options.get("n"))
        else:
            cells = _last(self.entries, options.get("n"))
        wants_results = options.get("output", False)
        return [[SESSION, e.number, [e.code, e.result] if wants_results else e.code] for e in cells]

    def _range(
        self, session: int = 0, start: int | None = None, stop: int | None = None, **_: Any
    ) -> tuple[HistoryEntry, ...]:
        """Session 0 is the current one."""
        if session not in (0, SESSION):
            return ()
        numbers = range(start or 0, sys.maxsize if stop is None else stop)
        return tuple(entry for entry in self.entries if entry.number in numbers)

    def _search(
        self, pattern: str | None = None, unique: bool = False, **_: Any
    ) -> tuple[HistoryEntry, ...]:
        """With ``unique``, only the newest of equal cells."""
        matches = [entry for entry in self.entries if fnmatchcase(entry.code, pattern or "*")]
        newest = {entry.code: entry for entry in matches}
        return tuple(e for e in matches if not unique or newest[e.code] is e)


def _last(entries: tuple[HistoryEntry, ...], count: int | None) -> tuple[HistoryEntry, ...]:
    return entries if count is None else entries[max(len(entries) - count, 0) :]
