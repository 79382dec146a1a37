"""Strict: no network at all. Network: the machine's, and no socket of its programs by name."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Look

RESOLVER = Path("/etc/resolv.conf")
ASK = """
import socket
def outcome(action):
    try:
        return action()
    except OSError as error:
        return type(error).__name__
"""


@pytest.fixture
def port() -> Iterator[int]:
    """A server on loopback that greets whoever comes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            try:
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.sendall(b"hello")
            except OSError:
                return

        thread = threading.Thread(target=greet)
        thread.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture
def datagrams() -> Iterator[socket.socket]:
    """A socket on loopback that takes datagrams."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.3)
        yield receiver


async def test_strict_reaches_no_server_of_this_machine(look: Look, port: int) -> None:
    observation = await look(
        f"{ASK}outcome(lambda: socket.create_connection(('127.0.0.1', {port})).recv(9))"
    )

    assert observation.result in ("'ConnectionRefusedError'", "'PermissionError'")


async def test_network_reaches_it(look: Look, port: int) -> None:
    observation = await look(
        f"{ASK}outcome(lambda: socket.create_connection(('127.0.0.1', {port})).recv(9))", "network"
    )

    assert observation.result == "b'hello'"


@pytest.mark.parametrize("level", ["strict", "network"])
async def test_datagrams_leave_only_with_network(
    look: Look, datagrams: socket.socket, level: str
) -> None:
    address = datagrams.getsockname()
    await look(
        f"{ASK}outcome(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', {address}))",
        level,
    )

    payloads = []
    with contextlib.suppress(TimeoutError):
        payloads.append(datagrams.recv(9))

    assert payloads == ([b"x"] if level == "network" else [])


# Landlock has no network of its own: no socket can be made instead.
@pytest.mark.parametrize("mechanism", ["bubblewrap"], indirect=True)
async def test_no_interface_but_loopback_is_there_in_strict(
    look: Look, value_of: Callable[..., Any]
) -> None:
    observation = await look("import socket\n[name for _, name in socket.if_nameindex()]")

    assert value_of(observation) == ["lo"]


@pytest.mark.parametrize("level", ["strict", "network"])
@pytest.mark.parametrize("kind", ["abstract", "file"])
async def test_local_sockets_of_other_programs_are_out_of_reach(
    look: Look, tmp_path: Path, level: str, kind: str
) -> None:
    name = "\0exploracoder-test-abstract" if kind == "abstract" else str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()

        observation = await look(
            f"{ASK}outcome(lambda: socket.socket(socket.AF_UNIX).connect({name!r}))", level
        )

    assert observation.result in (
        "'PermissionError'",
        "'FileNotFoundError'",
        "'ConnectionRefusedError'",
    )


async def test_pairs_of_sockets_and_event_loops_work(look: Look) -> None:
    observation = await look(
        "import asyncio, socket\na, b = socket.socketpair()\na.send(b'x')\n"
        "await asyncio.sleep(0.01)\nb.recv(1)"
    )

    assert observation.result == "b'x'"


async def test_names_and_certificates_can_be_read_with_network(look: Look) -> None:
    if not RESOLVER.exists():  # noqa: ASYNC240  # nothing waits
        pytest.skip("this machine has no /etc/resolv.conf")

    observation = await look("open('/etc/resolv.conf').read()", "network")

    assert observation.result == repr(RESOLVER.read_text())  # noqa: ASYNC240
