"""No message is lost on a kernel's sockets, nor on a client's, and there are no others."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import random
import time
from pathlib import Path
from typing import Any

from exploracoder_kernel.kernel.kernel_client import Conversation
from jupyter_client.blocking.client import BlockingKernelClient

Console = Any


def ask_much(client: BlockingKernelClient, count: int) -> int:
    """Keep three requests under way until that many are answered; how many were."""
    reply_count = 0
    for _ in range(3):
        client.control_channel.send(client.session.msg("kernel_info_request"))
    with contextlib.suppress(queue.Empty):
        while reply_count < count:
            client.control_channel.get_msg(timeout=5)
            reply_count += 1
            time.sleep(random.random() / 1000)
            client.control_channel.send(client.session.msg("kernel_info_request"))
    return reply_count


async def test_requests_that_come_while_replies_are_sent_are_all_taken(console: Console) -> None:
    client = BlockingKernelClient(connection_file=console.manager.connection_file)
    client.load_connection_file()

    reply_count = await asyncio.to_thread(ask_much, client, 1000)
    client.stop_channels()

    assert reply_count == 1000


async def test_a_reply_that_comes_just_before_a_request_is_sent_is_taken(
    console: Console,
) -> None:
    async with Conversation(console.manager.client()) as talk:
        await talk.request("kernel_info_request", channel="shell")
        first = asyncio.ensure_future(talk.request("kernel_info_request", channel="shell"))
        await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251  # it has come, which the event loop is not told yet
        sleep = {"code": "import time; time.sleep(60)"}
        second = asyncio.ensure_future(talk.request("execute_request", sleep, channel="shell"))
        reply = await asyncio.wait_for(first, 5)
        second.cancel()

    assert reply["content"]["status"] == "ok"


def listening_on_tcp(pid: int) -> set[str]:
    """The sockets of a process that somebody may connect with over the network."""
    listening = {
        fields[9]
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
        if fields[3] == "0A"
    }
    open_files = (str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir())
    return listening & {name.removeprefix("socket:[").rstrip("]") for name in open_files}


async def test_a_kernel_whose_sockets_are_files_listens_on_no_port(console: Console) -> None:
    assert console.manager.transport == "ipc"
    assert listening_on_tcp(console.manager.provisioner.pid) == set()
