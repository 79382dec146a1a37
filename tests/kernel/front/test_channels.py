"""The kernel's sockets, and what a client does with them."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from exploracoder_kernel.kernel import connection_file
from exploracoder_kernel.kernel.channels import Channels, Reply, Request
from exploracoder_kernel.kernel.lines import SocketLine
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.blocking.client import BlockingKernelClient


@pytest.fixture
async def ends(tmp_path: Path) -> AsyncIterator[tuple[Channels, SocketLine, AsyncKernelClient]]:
    """A kernel's sockets with nobody behind them, and a client's."""
    file = tmp_path / "kernel.json"
    client = AsyncKernelClient(connection_file=str(file))
    async with Channels(connection_file.create(file)) as channels:
        client.load_connection_file()
        line = SocketLine(client, hears_all=False)
        await line.open()
        yield channels, line, client
        line.close()


def wait_without_the_loop() -> None:
    """Until what was sent has come, which the event loop is not told yet."""
    time.sleep(0.2)


def ask_much(client: BlockingKernelClient, count: int) -> int:
    """Keep three requests under way until that many are answered; how many were."""
    answered = 0
    for _ in range(3):
        client.control_channel.send(client.session.msg("some_request"))
    with contextlib.suppress(queue.Empty):
        while answered < count:
            client.control_channel.get_msg(timeout=5)
            answered += 1
            time.sleep(random.random() / 1000)
            client.control_channel.send(client.session.msg("some_request"))
    return answered


async def test_requests_that_come_while_replies_are_sent_are_all_taken(tmp_path: Path) -> None:
    file = tmp_path / "kernel.json"
    async with Channels(connection_file.create(file)) as channels:

        async def reply(request: Request) -> None:
            await asyncio.sleep(random.random() / 1000)
            channels.publish("status", {"execution_state": "busy"}, request)
            channels.reply(request, Reply({}))

        async def serve() -> None:
            async for request in channels.requests("control"):
                replies.append(asyncio.create_task(reply(request)))

        replies: list[asyncio.Task[None]] = []
        serving = asyncio.create_task(serve())
        client = BlockingKernelClient(connection_file=str(file))
        client.load_connection_file()
        answered = await asyncio.to_thread(ask_much, client, 1000)
        client.stop_channels()
        serving.cancel()
        await asyncio.wait({serving, *replies})

    assert answered == 1000


async def test_a_reply_that_comes_just_before_a_request_is_sent_is_taken(
    ends: tuple[Channels, SocketLine, AsyncKernelClient],
) -> None:
    channels, line, client = ends
    requests = channels.requests("control")
    line.send("control", client.session.msg("first_request"))
    first = await asyncio.wait_for(anext(requests), 10)
    waiting = asyncio.ensure_future(line.receive("control"))
    await asyncio.sleep(0.1)

    channels.reply(first, Reply({"n": 1}))
    wait_without_the_loop()
    line.send("control", client.session.msg("second_request"))

    assert (await asyncio.wait_for(waiting, 10))["content"] == {"n": 1}
