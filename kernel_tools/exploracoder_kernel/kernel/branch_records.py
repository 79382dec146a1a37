"""What the kernel records about each branch besides its process, and which one is current."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from exploracoder_kernel.errors import BranchNotFound
from exploracoder_kernel.kernel.cell_history import CellHistory
from exploracoder_kernel.kernel.request_contents import Message, options_of

OURS = "exploracoder_"


@dataclass(slots=True)
class Record:
    """One branch as front ends know it.

    Attributes:
        count: The number of the last cell that was counted.
        comms: The target names of its open comms.
        turn: Held by the request being answered; a branch does one thing at a time.
        skipped_client: The client whose cells are skipped, since an earlier one failed.
        is_running: Whether a cell runs.
        is_by_hand: Whether it was made for a cell that somebody ran by hand.
    """

    id: str
    count: int = 0
    history: CellHistory = field(default_factory=CellHistory)
    comms: dict[str, str] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    skipped_client: list[bytes] | None = None
    is_running: bool = False
    is_by_hand: bool = False

    def fork(self, child_id: str) -> Record:
        """The record of a fork of this branch."""
        return Record(child_id, self.count, self.history, dict(self.comms))

    def note_comm(self, kind: str, comm_id: str, target: str) -> None:
        """Remember whether a comm is open."""
        if kind == "comm_open":
            self.comms[comm_id] = target
        elif kind == "comm_close":
            self.comms.pop(comm_id, None)


class Records:
    """The records of all branches; one of them is current."""

    def __init__(self, root: str) -> None:
        self.current = root
        self._records = {root: Record(root)}

    def __iter__(self) -> Iterator[Record]:
        """All records, oldest first."""
        return iter(tuple(self._records.values()))

    def find(self, branch_id: object) -> Record:
        """The record of a branch, or of the current one if none is named.

        Raises:
            BranchNotFound: There is no such branch.
        """
        try:
            return self._records[str(branch_id or self.current)]
        except KeyError:
            raise BranchNotFound(str(branch_id)) from None

    def named_by(self, request: Message) -> Record:
        """The record of the branch that a request is about.

        Raises:
            BranchNotFound: It names one that does not exist.
            BadRequest: Its metadata can't be read.
        """
        if request["msg_type"].startswith(OURS):
            return self.find(request["content"].get("branch"))
        branch_id = options_of(request).branch
        comm_id = request["content"].get("comm_id")
        if branch_id is None and comm_id is not None:
            return self._owner_of(str(comm_id))
        return self.find(branch_id)

    def _owner_of(self, comm_id: str) -> Record:
        """The branch that a comm belongs to: the current one if it has it, else the newest."""
        current = self.find(None)
        others = (record for record in reversed(tuple(self)) if comm_id in record.comms)
        return current if comm_id in current.comms else next(others, current)

    def add(self, record: Record) -> None:
        """Add the record of a new branch."""
        self._records[record.id] = record

    def keep_only(self, branch_ids: set[str]) -> None:
        """Forget all other branches."""
        self._records = {id: self._records[id] for id in self._records if id in branch_ids}
