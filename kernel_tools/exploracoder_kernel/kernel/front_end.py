"""One cell's view of the front ends: outputs go to all, questions to the one that sent it."""

from __future__ import annotations

import asyncio

from exploracoder_kernel.kernel.branch_records import Record
from exploracoder_kernel.kernel.concurrent_kernel import ConcurrentKernel
from exploracoder_kernel.kernel.request_contents import Message, Request

_COLLECT_SECONDS = 0.05


class CellFrontEnd:
    """A FrontEnd (see ``presentation.py``) for one request; use it with ``with``."""

    def __init__(
        self,
        kernel: ConcurrentKernel,
        request: Request,
        record: Record,
        *,
        allow_stdin: bool = False,
    ) -> None:
        self.allow_stdin = allow_stdin
        self._kernel = kernel
        self._request = request
        self._record = record
        self._stream = ""
        self._texts: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> CellFrontEnd:
        """Mark the branch as running."""
        self._record.is_running = True
        return self

    def __exit__(self, *_: object) -> None:
        self._record.is_running = False
        self.flush()

    def output(self, message: Message) -> None:
        """Publish an output under the request that it belongs to."""
        content = dict(message)
        kind = str(content.pop("output_type"))
        if kind == "stream":
            self._collect(str(content["name"]), str(content["text"]))
            return
        self.flush()
        metadata, buffers = None, ()
        if kind.startswith("comm_"):
            metadata, buffers = content.pop("metadata", None), content.pop("buffers", ())
            target = str(content.get("target_name", ""))
            self._record.note_comm(kind, str(content.get("comm_id")), target)
        parent = self._request.message
        self._kernel.publish(kind, content, parent, metadata=metadata, buffers=buffers)

    def flush(self) -> None:
        """Publish text that was written but not shown yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._texts:
            content = {"name": self._stream, "text": "".join(self._texts)}
            self._texts.clear()
            self._kernel.publish("stream", content, self._request.message)

    def _collect(self, name: str, text: str) -> None:
        """Merge writes in quick succession into one output: ``print`` alone makes two."""
        if name != self._stream:
            self.flush()
        self._stream = name
        self._texts.append(text)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_COLLECT_SECONDS, self.flush)

    async def input(self, prompt: str, is_password: bool) -> str:
        """Ask the user."""
        self.flush()
        return await self._kernel.ask_user(self._request, prompt, is_password=is_password)
