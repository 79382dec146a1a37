"""What was run in a branch, for a front end's arrow keys: in memory, inherited by its forks."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from exploracoder_kernel.kernel.messages import HistoryRequest

# There is one session: what a kernel that ran before knew, nobody keeps.
SESSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell with its number, and the plain text of its result."""

    number: int
    code: str
    result: str | None = None


class History:
    """The cells of one branch, oldest first."""

    def __init__(self, entries: tuple[Entry, ...] = ()) -> None:
        self._entries = list(entries)

    def add(self, entry: Entry) -> None:
        """Keep one more."""
        self._entries.append(entry)

    def copy(self) -> History:
        """The history of a fork."""
        return History(tuple(self._entries))

    def answer(self, request: HistoryRequest) -> list[list[Any]]:
        """What was asked for, as ``[session, number, code]`` or with ``[code, result]`` last."""
        chosen = {"tail": self._tail, "range": self._range, "search": self._search}
        entries = chosen[request.hist_access_type](request)
        return [[SESSION, entry.number, _shown(entry, request.output)] for entry in entries]

    def _tail(self, request: HistoryRequest) -> list[Entry]:
        return _last(self._entries, request.n)

    def _range(self, request: HistoryRequest) -> list[Entry]:
        """Session 0 is the one that runs; negative ones count back from it."""
        if request.session not in (0, SESSION):
            return []
        start, stop = request.start or 0, request.stop
        return [e for e in self._entries if e.number >= start and (stop is None or e.number < stop)]

    def _search(self, request: HistoryRequest) -> list[Entry]:
        pattern = request.pattern or "*"
        found = [entry for entry in self._entries if fnmatchcase(entry.code, pattern)]
        if request.unique:
            newest = {entry.code: entry for entry in found}
            found = [entry for entry in found if newest[entry.code] is entry]
        return _last(found, request.n)


def _last(entries: list[Entry], count: int | None) -> list[Entry]:
    if count is None:
        return entries
    return entries[-count:] if count > 0 else []


def _shown(entry: Entry, with_result: bool) -> Any:
    return [entry.code, entry.result] if with_result else entry.code
