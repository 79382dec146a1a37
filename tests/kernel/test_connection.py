"""Frames over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Iterator

import pytest
from exploracoder_kernel.branch import wire
from exploracoder_kernel.connection import Connection, ConnectionClosed, ProtocolError


@pytest.fixture
def other_end() -> Iterator[tuple[Connection, socket.socket]]:
    ours, theirs = socket.socketpair()
    connection = Connection(ours)
    yield connection, theirs
    connection.close()
    theirs.close()


Ends = tuple[Connection, socket.socket]


async def test_a_message_in_pieces_is_received_whole(other_end: Ends) -> None:
    connection, theirs = other_end
    frame = wire.pack({"text": "ü" * 1000})
    receiving = asyncio.create_task(connection.receive(5))

    for start in range(0, len(frame), 300):
        theirs.sendall(frame[start : start + 300])
        await asyncio.sleep(0.001)

    assert await receiving == {"text": "ü" * 1000}


async def test_a_wait_that_ran_out_loses_nothing(other_end: Ends) -> None:
    connection, theirs = other_end
    frame = wire.pack({"n": 1})
    theirs.sendall(frame[:6])

    with pytest.raises(TimeoutError):
        await connection.receive(0.05)
    theirs.sendall(frame[6:])

    assert await connection.receive(5) == {"n": 1}


async def test_a_message_larger_than_the_buffers_waits_for_its_reader(other_end: Ends) -> None:
    connection, theirs = other_end
    message = {"text": "x" * 5_000_000}
    sending = asyncio.create_task(connection.send(message))

    delivery, _ = await asyncio.to_thread(wire.receive, theirs)
    await sending

    assert delivery == message


async def test_what_is_sent_at_once_arrives_whole_and_in_order(other_end: Ends) -> None:
    connection, theirs = other_end
    messages = [{"n": number, "text": "x" * 1_000_000} for number in range(4)]

    connection.send_now(messages[0])
    sending = asyncio.create_task(connection.send(messages[1]))
    await asyncio.sleep(0)
    connection.send_now(messages[2])
    connection.send_now(messages[3])

    assert [(await asyncio.to_thread(wire.receive, theirs))[0] for _ in messages] == messages
    await sending


async def test_a_frame_that_is_begun_goes_to_its_end_though_its_sender_gave_up(
    other_end: Ends,
) -> None:
    connection, theirs = other_end
    begun, waiting, last = ({"text": letter * 1_000_000} for letter in "abc")

    with pytest.raises(TimeoutError):
        await connection.send(begun, timeout_s=0.05)
    with pytest.raises(TimeoutError):
        await connection.send(waiting, timeout_s=0.05)
    connection.send_now(last)

    received = [(await asyncio.to_thread(wire.receive, theirs))[0] for _ in range(2)]
    assert received == [begun, last]


async def test_a_closed_connection_watches_no_file_that_gets_its_number(other_end: Ends) -> None:
    connection, _theirs = other_end
    connection.send_now({"text": "x" * 1_000_000})
    number = connection._sock.fileno()

    connection.close()

    assert not asyncio.get_running_loop().remove_writer(number)


async def test_a_closed_connection_takes_nothing(other_end: Ends) -> None:
    connection, _theirs = other_end
    connection.close()
    connection.send_now({"op": "stop"})

    start = time.monotonic()
    with pytest.raises(ConnectionClosed):
        await connection.send({"op": "fork"})
    assert time.monotonic() - start < 5


async def test_a_sender_learns_that_the_other_end_has_gone(other_end: Ends) -> None:
    connection, _theirs = other_end
    sending = asyncio.create_task(connection.send({"text": "x" * 1_000_000}))
    await asyncio.sleep(0)

    connection.mark_ended()

    with pytest.raises(ConnectionClosed):
        await sending


async def test_descriptors_travel_with_a_message(other_end: Ends) -> None:
    connection, theirs = other_end
    read_end, write_end = os.pipe()

    await connection.send({"op": "fork"}, (write_end,))
    message, descriptors = wire.receive(theirs)

    assert message == {"op": "fork"}
    assert len(descriptors) == 1
    for fd in (read_end, write_end, *descriptors):
        os.close(fd)


async def test_an_end_that_closes_is_said_to_have_closed(other_end: Ends) -> None:
    connection, theirs = other_end
    theirs.close()

    with pytest.raises(ConnectionClosed):
        await connection.receive(5)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (wire.HEADER.pack(4) + b"????", "no message"),
        (wire.HEADER.pack(2) + b"[]", "no message"),
        (wire.HEADER.pack(200_000) + b"[" * 200_000, "no message"),
        (wire.HEADER.pack(2) + b"\xff\xff", "no message"),
        (wire.HEADER.pack(wire.MAX_FRAME_BYTES + 1), "67,108,865 bytes"),
    ],
    ids=["no JSON", "no object", "too deep", "no UTF-8", "too large"],
)
async def test_what_is_no_frame_is_told_from_an_end(
    other_end: Ends, frame: bytes, words: str
) -> None:
    connection, theirs = other_end
    sending = asyncio.get_running_loop().run_in_executor(None, theirs.sendall, frame)

    with pytest.raises(ProtocolError, match=words):
        await connection.receive(5)

    await sending


async def test_who_never_stops_sending_does_not_keep_the_loop(other_end: Ends) -> None:
    connection, theirs = other_end
    theirs.setblocking(False)
    frame = wire.pack({"output": {}})
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            theirs.send(frame)
        await connection.receive(5)
    counting.cancel()

    assert turns > 5
    with pytest.raises(TimeoutError):
        theirs.send(frame)
        await connection.receive(0)


async def test_closing_wakes_who_waits(other_end: Ends) -> None:
    connection, _theirs = other_end
    receiving = asyncio.create_task(connection.receive(60))
    await asyncio.sleep(0.01)

    connection.close()

    with pytest.raises(ConnectionClosed):
        await receiving


def test_lone_surrogates_do_not_break_a_frame() -> None:
    assert b"?" in wire.pack({"text": "\ud800"})
