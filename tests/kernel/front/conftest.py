"""Real kernels, started by Jupyter from a kernelspec, and a console that talks to them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.kernel import spec
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

Message = dict[str, Any]
_DEADLINE = 30


@pytest.fixture(scope="session", autouse=True)
def jupyter_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Jupyter that knows our kernel and nothing of the user's."""
    home = tmp_path_factory.mktemp("jupyter")
    spec.install(prefix=home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(home / "share" / "jupyter"))
        for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
            patch.setenv(f"JUPYTER_{name}", str(home / name.lower()))
        patch.setenv("IPYTHONDIR", str(home / "ipython"))
        yield home


@dataclass
class RequestOutcome:
    """What came back for one request: its reply, and what was published under it."""

    reply: Message
    published: list[Message] = field(default_factory=list)

    @property
    def content(self) -> Message:
        return self.reply["content"]

    @property
    def outputs(self) -> list[Message]:
        """Contents of the outputs, each with its type."""
        return [
            {"output_type": message["msg_type"], **message["content"]}
            for message in self.published
            if message["msg_type"] not in ("status", "execute_input")
        ]

    def stream(self, name: str = "stdout") -> str:
        return "".join(
            output["text"]
            for output in self.outputs
            if output["output_type"] == "stream" and output["name"] == name
        )

    @property
    def states(self) -> list[str]:
        return [
            m["content"]["execution_state"] for m in self.published if m["msg_type"] == "status"
        ]


class Console:
    """A front end that may ask several things at once."""

    def __init__(self, manager: AsyncKernelManager, client: AsyncKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.published: dict[str, list[Message]] = defaultdict(list)
        self.arrivals: list[Message] = []
        self._replies: dict[str, asyncio.Future[Message]] = defaultdict(asyncio.Future)
        self._idle: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def listen(self, channel: str) -> None:
        while True:
            message = await getattr(self.client, f"get_{channel}_msg")()
            parent = message["parent_header"].get("msg_id", "")
            if channel != "iopub":
                if not self._replies[parent].done():  # nobody waits any more: it was given up
                    self._replies[parent].set_result(message)
                continue
            self.arrivals.append(message)
            self.published[parent].append(message)
            if message["content"].get("execution_state") == "idle":
                self._idle[parent].set()

    def send(self, kind: str, content: Message, *, channel: str = "shell", **wishes: Any) -> str:
        metadata = {"exploracoder": wishes} if wishes else {}
        message = self.client.session.msg(kind, content, metadata=metadata)
        getattr(self.client, f"{channel}_channel").send(message)
        return str(message["header"]["msg_id"])

    def send_cell(self, code: str, *, options: Message | None = None, **wishes: Any) -> str:
        return self.send("execute_request", {"code": code, **(options or {})}, **wishes)

    async def outcome_of(self, message_id: str, timeout_s: float = _DEADLINE) -> RequestOutcome:
        """All about one request, once it is done."""
        reply = await asyncio.wait_for(self._replies[message_id], timeout_s)
        await asyncio.wait_for(self._idle[message_id].wait(), timeout_s)
        return RequestOutcome(reply, self.published[message_id])

    async def reply_to(self, message_id: str) -> Message:
        """The content of a reply, where what is published may not come any more."""
        reply = await asyncio.wait_for(self._replies[message_id], _DEADLINE)
        return dict(reply["content"])

    async def reconnect(self) -> None:
        """Wait until a kernel that was started again answers and publishes."""
        for _attempt in range(_DEADLINE):
            with contextlib.suppress(asyncio.TimeoutError):
                await self.outcome_of(self.send("kernel_info_request", {}), 1)
                return
        raise TimeoutError("The kernel did not come back.")

    async def run(
        self, code: str, *, options: Message | None = None, **wishes: Any
    ) -> RequestOutcome:
        return await self.outcome_of(self.send_cell(code, options=options, **wishes))

    async def ask(
        self, kind: str, content: Message | None = None, *, channel: str = "shell", **wishes: Any
    ) -> Message:
        return (
            await self.outcome_of(self.send(kind, content or {}, channel=channel, **wishes))
        ).content

    async def branch(self, verb: str, *, channel: str = "control", **content: Any) -> Message:
        return await self.ask(f"exploracoder_{verb}_request", content, channel=channel)

    async def until_printed(self, message_id: str, text: str) -> None:
        """Wait until a cell has printed a text."""

        async def look() -> None:
            while text not in RequestOutcome({}, self.published[message_id]).stream():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

        await asyncio.wait_for(look(), _DEADLINE)


@contextlib.asynccontextmanager
async def opened(manager: AsyncKernelManager, **options: Any) -> AsyncIterator[Console]:
    """A console on a kernel that is started for it."""
    await manager.start_kernel(**options)
    client = manager.client()
    client.start_channels()
    listeners: list[asyncio.Task[None]] = []
    try:
        await client.wait_for_ready(timeout=_DEADLINE)
        console = Console(manager, client)
        channels = ("shell", "control", "iopub")
        listeners = [asyncio.create_task(console.listen(channel)) for channel in channels]
        yield console
    finally:
        for listener in listeners:
            listener.cancel()
        await asyncio.gather(*listeners, return_exceptions=True)
        client.stop_channels()
        if manager.has_kernel:
            await manager.shutdown_kernel()


Open = Callable[..., contextlib.AbstractAsyncContextManager[Console]]


@pytest.fixture
def open_console() -> Open:
    """Opens a console on a kernel of its own."""
    return opened


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    """A console on a kernel whose cells run in a folder of their own."""
    manager = AsyncKernelManager(kernel_name="exploracoder")
    async with opened(manager, cwd=str(tmp_path)) as console:
        yield console
