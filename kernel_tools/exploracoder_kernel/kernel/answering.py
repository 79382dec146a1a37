"""Who answers which request: the table of all message types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from exploracoder_kernel.kernel import messages
from exploracoder_kernel.kernel.arrivals import Arrivals
from exploracoder_kernel.kernel.bindings import Bindings
from exploracoder_kernel.kernel.branches import Branches
from exploracoder_kernel.kernel.cells import Cells, Outcome
from exploracoder_kernel.kernel.channels import Channels, Content, Reply, Request
from exploracoder_kernel.kernel.comms import Comms
from exploracoder_kernel.kernel.front_end import Questions
from exploracoder_kernel.kernel.hand_runs import HandRuns
from exploracoder_kernel.kernel.messages import BadRequest
from exploracoder_kernel.kernel.queries import About, Queries, debug
from exploracoder_kernel.kernel.records import Record, Records
from exploracoder_kernel.sidecar import Sidecar

OURS = "exploracoder_"

_AtOnce = Callable[[Request], Content]
_OfBranch = Callable[[Request, Record], Awaitable[Content]]
_AboutBranches = Callable[[Any], Awaitable[Content]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, if the message wants one."""

    reply: Reply | None
    is_failure: bool = False


class Answering:
    """Reads a request, and has it answered by whom it concerns."""

    def __init__(
        self,
        sidecar: Sidecar,
        channels: Channels,
        records: Records,
        questions: Questions,
        about: About,
    ) -> None:
        self._records = records
        self._cells = Cells(sidecar, channels, questions)
        self._comms = Comms(sidecar, channels, questions)
        queries = self._queries = Queries(sidecar, channels, about)
        branches = Branches(sidecar, records, about.sandbox())
        self._bindings = Bindings(records)
        self._hand_runs = HandRuns(self._cells, branches, records, channels)
        self.arrivals = Arrivals(sidecar, records)
        self._at_once: dict[str, _AtOnce] = {
            "kernel_info_request": lambda _request: queries.kernel_info(),
            "connect_request": lambda _request: queries.connect(),
            "debug_request": lambda request: debug(request.content),
            "history_request": self._history,
            "comm_info_request": self._comm_info,
        }
        self._of_branch: dict[str, _OfBranch] = {
            "complete_request": self._complete,
            "inspect_request": self._inspect,
            "is_complete_request": self._is_complete,
        }
        self._ours: dict[str, tuple[type[messages.Ours], _AboutBranches]] = {
            "fork": (messages.Fork, branches.fork),
            "promote": (messages.OneBranch, branches.promote),
            "go_to": (messages.OneBranch, branches.go_to),
            "drop": (messages.Drop, branches.drop),
            "list": (messages.TreeRequest, branches.list),
            "variables": (messages.AnyBranch, branches.variables),
            "resolve": (messages.Resolve, branches.resolve),
            "inspect": (messages.InspectName, branches.inspect),
            "bind": (messages.Bind, self._bindings.replace),
            "parcel": (messages.Chunk, self.arrivals.take),
            "unpack": (messages.Unpack, self.arrivals.unpack),
        }

    def needs_branch(self, request: Request) -> bool:
        """Whether a request takes its turn in the line of a branch."""
        if request.kind.startswith(OURS):
            return _verb(request) in self._ours and _verb(request) != "list"
        in_line = request.kind in self._of_branch or request.kind == "execute_request"
        return in_line or (request.kind.startswith("comm_") and request.kind != "comm_info_request")

    def record_for(self, request: Request) -> Record:
        """The branch that a request is about.

        Raises:
            BranchNotFound: It names one that is not there.
            BadRequest: It can't be read.
        """
        if request.kind.startswith(OURS):
            model, _answer = self._ours[_verb(request)]
            asked = messages.read(model, request.content)
            return self._records.find(getattr(asked, "branch", None))
        named = messages.wishes(request.metadata).branch
        if named is None and request.kind.startswith("comm_"):
            return self._records.owner_of(str(request.content.get("comm_id")))
        return self._records.find(named)

    async def answer(self, request: Request, record: Record | None) -> Answer:
        """Answer a request; ``record`` is given when it has waited for its turn.

        Raises:
            BadRequest: It can't be read, or nobody here knows its type.
            SidecarError: The branch could not.
        """
        if request.kind in self._at_once:
            return Answer(Reply(self._at_once[request.kind](request)))
        if request.kind.startswith(OURS) and _verb(request) in self._ours:
            model, answer = self._ours[_verb(request)]
            content = await answer(messages.read(model, request.content))
            return Answer(Reply({"status": "ok", **content}))
        if not self.needs_branch(request):
            raise BadRequest(f"This kernel does not know what a {request.kind!r} is.")
        branch = self.record_for(request) if record is None else record
        if request.kind == "execute_request":
            outcome = await self._execute(request, branch)
            return Answer(outcome.reply, outcome.is_failure)
        if request.kind.startswith("comm_"):
            await self._comms.pass_on(request, branch)
            return Answer(None)
        return Answer(Reply(await self._of_branch[request.kind](request, branch)))

    async def _execute(self, request: Request, record: Record) -> Outcome:
        cell = messages.read(messages.Execute, request.content)
        wishes = messages.wishes(request.metadata)
        base = self._bindings.base_of(cell, wishes)
        if base is not None:
            return await self._hand_runs.execute(request, cell, wishes, base)
        return await self._cells.execute(request, cell, wishes, record)

    def _history(self, request: Request) -> Content:
        asked = messages.read(messages.HistoryRequest, request.content)
        return self._queries.history(asked, self.record_for(request))

    def _comm_info(self, request: Request) -> Content:
        asked = messages.read(messages.CommInfo, request.content)
        named = messages.wishes(request.metadata).branch
        return self._queries.comm_info(asked, self._records.find(named))

    async def _complete(self, request: Request, record: Record) -> Content:
        return await self._queries.complete(
            messages.read(messages.Complete, request.content), record
        )

    async def _inspect(self, request: Request, record: Record) -> Content:
        return await self._queries.inspect(messages.read(messages.Inspect, request.content), record)

    async def _is_complete(self, request: Request, record: Record) -> Content:
        return await self._queries.is_complete(
            messages.read(messages.IsComplete, request.content), record
        )


def _verb(request: Request) -> str:
    return request.kind.removeprefix(OURS).removesuffix("_request")
