"""What the kernel keeps of each branch beside its process, and which one is current."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from exploracoder_kernel.errors import BranchNotFound
from exploracoder_kernel.kernel.channels import Request
from exploracoder_kernel.kernel.history import History


@dataclass(slots=True)
class Record:
    """One branch as front ends know it.

    Attributes:
        count: The number of the last cell that was counted.
        comms: The target names of its open comms.
        waiting: Requests that wait for their turn; a branch does one thing at a time.
        is_working: Whether somebody takes from ``waiting``.
        is_running: Whether a cell runs.
        is_by_hand: Whether it was made for a cell that somebody ran by hand.
    """

    id: str
    count: int = 0
    history: History = field(default_factory=History)
    comms: dict[str, str] = field(default_factory=dict)
    waiting: deque[Request] = field(default_factory=deque)
    is_working: bool = False
    is_running: bool = False
    is_by_hand: bool = False

    def fork(self, child_id: str) -> Record:
        """The record of a fork of this branch."""
        return Record(child_id, self.count, self.history.copy(), dict(self.comms))


class Records:
    """The records of all branches; one of them is current."""

    def __init__(self, root: str) -> None:
        self.current = root
        self._records = {root: Record(root)}

    def __iter__(self) -> Iterator[Record]:
        """All records, oldest first."""
        return iter(tuple(self._records.values()))

    def find(self, branch_id: str | None) -> Record:
        """The record of a branch; of the current one when none is named.

        Raises:
            BranchNotFound: There is no such branch.
        """
        try:
            return self._records[branch_id or self.current]
        except KeyError:
            raise BranchNotFound(str(branch_id)) from None

    def owner_of(self, comm_id: str) -> Record:
        """The branch that a comm belongs to: the current one if it knows it, else the newest."""
        current = self.find(None)
        others = (record for record in reversed(tuple(self)) if comm_id in record.comms)
        return current if comm_id in current.comms else next(others, current)

    def add(self, record: Record) -> None:
        """A new branch."""
        self._records[record.id] = record

    def keep_only(self, branch_ids: set[str]) -> list[Record]:
        """Forget all other branches; theirs is what is left."""
        gone = [record for record in self if record.id not in branch_ids]
        for record in gone:
            del self._records[record.id]
        return gone
