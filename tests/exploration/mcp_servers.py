"""`exploracoder mcp` as a process of its own, and the protocol's own client."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from exploracoder_kernel.branch import linux
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from waiting import PATIENCE_S

PROGRAM = Path(sys.executable).with_name("exploracoder")


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that runs: where, with which token, as which process."""

    url: str
    token: str
    pid: int

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A client with the token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport) as client:
                yield client


@contextmanager
def http_server(
    folder: Path, words: Sequence[object], environment: Mapping[str, str]
) -> Iterator[HttpServer]:
    """Serve a folder over HTTP within."""
    process = subprocess.Popen(
        [PROGRAM, "mcp", "--http", *map(str, words)],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        url, authorization = process.stderr.readline(), process.stderr.readline()
        yield HttpServer(url.strip(), authorization.rpartition(" ")[2].strip(), process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


@asynccontextmanager
async def stdio(
    folder: Path, *words: object, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Client]:
    """A client of a server of its own over standard input and output."""
    parameters = StdioServerParameters(
        command=str(PROGRAM),
        args=["mcp", *map(str, words)],
        env=dict(environment or os.environ),
        cwd=folder,
    )
    async with Client(stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr)) as client:
        yield client


def text(result: CallToolResult) -> str:
    """The text of a tool's answer."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def result_of(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool answers: its structure where it has one, else its text."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return result.structured_content or text(result)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The sentence with which a tool refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text(result)
    return text(result)


def descendants(pid: int) -> set[int]:
    """The processes that descend from one and have not ended."""
    return set(linux.descendants([pid]))
