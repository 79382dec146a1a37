"""What front ends ask of a kernel without running anything."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel import messages
from exploracoder_kernel.kernel.channels import Channels, Content
from exploracoder_kernel.kernel.records import Record
from exploracoder_kernel.sandbox import Sandboxing
from exploracoder_kernel.sidecar import Sidecar

PROTOCOL = "5.4"


class Queries:
    """Answers them; those that take a record ask the branch itself, and wait while it is busy."""

    def __init__(self, sidecar: Sidecar, channels: Channels, about: About) -> None:
        self._sidecar = sidecar
        self._channels = channels
        self._about = about

    def kernel_info(self) -> Content:
        """What this kernel is: its language is that of the branches' Python, not of ours."""
        python = self._sidecar.python_version
        return {
            "status": "ok",
            "protocol_version": PROTOCOL,
            "implementation": "exploracoder",
            "implementation_version": own_version(),
            "language_info": {
                "name": "python",
                "version": python,
                "mimetype": "text/x-python",
                "codemirror_mode": {"name": "ipython", "version": 3},
                "pygments_lexer": "ipython3",
                "nbconvert_exporter": "python",
                "file_extension": ".py",
            },
            "banner": self._about.banner(self._sidecar),
            "help_links": [],
            "debugger": False,
            "supported_features": [],
        }

    def connect(self) -> Content:
        """The ports, for what is older than connection files."""
        return {"status": "ok", **self._channels.connection.ports}

    def history(self, request: messages.HistoryRequest, record: Record) -> Content:
        """Cells of a branch."""
        return {"status": "ok", "history": record.history.answer(request)}

    def comm_info(self, request: messages.CommInfo, record: Record) -> Content:
        """The open comms of a branch."""
        comms = {
            comm_id: {"target_name": target}
            for comm_id, target in record.comms.items()
            if request.target_name in (None, "", target)
        }
        return {"status": "ok", "comms": comms}

    async def complete(self, request: messages.Complete, record: Record) -> Content:
        """What may stand at the cursor."""
        found = await self._sidecar.complete(record.id, request.code, request.cursor)
        return {
            "status": "ok",
            "matches": list(found.matches),
            "cursor_start": found.start,
            "cursor_end": found.end,
            "metadata": found.metadata,
        }

    async def inspect(self, request: messages.Inspect, record: Record) -> Content:
        """What is known about the name at the cursor."""
        bundle = await self._sidecar.inspect_at(
            record.id, request.code, request.cursor, request.detail_level
        )
        return {"status": "ok", "found": bool(bundle), "data": bundle, "metadata": {}}

    async def is_complete(self, request: messages.IsComplete, record: Record) -> Content:
        """Whether Enter should run the code or go on with it."""
        try:
            status, indent = await self._sidecar.is_complete(record.id, request.code)
        except SidecarError:
            status, indent = "unknown", ""
        return {"status": status, **({"indent": indent} if status == "incomplete" else {})}


def debug(request: Content) -> Content:
    """The answer to every request of a debugger, in the form of its protocol."""
    return {
        "type": "response",
        "request_seq": request.get("seq", 0),
        "success": False,
        "command": str(request.get("command", "")),
        "message": "The ExploraCoder kernel has no debugger: a branch stopped in one can't fork.",
        "body": {},
    }


def own_version() -> str:
    """The version of this package; ``0`` when it runs without being installed."""
    try:
        return version("exploracoder")
    except PackageNotFoundError:
        return "0"


@dataclass(frozen=True, slots=True)
class About:
    """How the kernel was started: the interpreter of its cells, and what keeps them in."""

    python: str
    sandboxing: Sandboxing

    def sandbox(self) -> Content:
        """What keeps cells in, for a list of branches."""
        chosen = self.sandboxing
        return {"level": chosen.level, "mechanism": chosen.mechanism, "reason": chosen.reason}

    def banner(self, sidecar: Sidecar) -> str:
        """What a console shows first: how branches are made and how they are kept in, and why."""
        lines = (
            f"ExploraCoder {own_version()}: a kernel whose state branches.",
            f"Python {sidecar.python_version} ({self.python})",
            f"Branches by {sidecar.strategy}: {sidecar.strategy_reason}.",
            f"Sandbox {self.sandboxing}: {self.sandboxing.reason}",
        )
        return "\n".join(lines) + "\n"
