"""The client's end of a socket to the branch process: framed JSON, a deadline on every wait."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from exploracoder_kernel.branch.wire import HEADER, MAX_FRAME_BYTES, Message, pack

_CHUNK = 1 << 16
_LONGEST_TURN_SECONDS = 0.02


class ConnectionClosed(Exception):  # noqa: N818  # a fact about the other end, not our failure
    """The process at the other end has gone."""


class ProtocolError(Exception):
    """The other end sent something that no branch sends: a snippet has taken over its socket.

    ``str()`` continues the sentence "the branch's process ...".
    """


@dataclass(eq=False, slots=True)
class _Frame:
    """A message on its way: what is left of it, and the future of a sender who waits."""

    rest: memoryview
    descriptors: Sequence[int] = ()
    delivery: asyncio.Future[None] | None = None
    is_begun: bool = False


class Connection:
    """One socket with one reader; frames are sent whole, in their order.

    Nothing is read from the socket before somebody receives it, so a wait that is cancelled or
    times out loses no bytes.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._buffer = bytearray()
        self._outbox: deque[_Frame] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._has_ended = False
        self._turn_until = 0.0
        self.before_read: Callable[[], None] = lambda: None

    def close(self) -> None:
        """Close our end; the branch process ends when it sees that."""
        self.mark_ended()
        # Another file may get the number.
        with contextlib.suppress(RuntimeError, ValueError):  # there is no loop, or no socket
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._sock.fileno())
            loop.remove_writer(self._sock.fileno())
        self._sock.close()

    def mark_ended(self) -> None:
        """Note that the process has ended, though a child may keep its end of the socket open."""
        self._has_ended = True
        self._lose()
        self._wake()

    async def send(
        self, message: Message, descriptors: Sequence[int] = (), *, timeout_s: float = 10.0
    ) -> None:
        """Send one frame; the descriptors travel with its first bytes.

        Raises:
            ConnectionClosed: The other end has gone.
            TimeoutError: It did not take the frame in time.
        """
        delivery = asyncio.get_running_loop().create_future()
        frame = _Frame(memoryview(pack(message)), descriptors, delivery)
        self._outbox.append(frame)
        self._flush()
        try:
            if not delivery.done():
                await asyncio.wait({delivery}, timeout=timeout_s)
        finally:
            frame.delivery = None
            # What is begun has to go to its end: nothing else would be read behind half a frame.
            if frame in self._outbox and not frame.is_begun:
                self._outbox.remove(frame)
        if not delivery.done():
            raise TimeoutError
        delivery.result()

    def send_now(self, message: Message) -> None:
        """Send a frame without waiting, after those before it; socket errors are ignored.

        What the socket does not take is sent as soon as it does.
        """
        self._outbox.append(_Frame(memoryview(pack(message))))
        self._flush()

    def _flush(self) -> None:
        """Send of the outbox what the socket takes, and the rest once it takes more."""
        fd = self._sock.fileno()
        while self._outbox:
            frame = self._outbox[0]
            try:
                count = self._send_some(frame)
            except BlockingIOError:
                if self._has_ended:
                    self._lose()
                break
            except (OSError, ValueError) as error:
                self._lose(error)
                break
            frame.rest, frame.descriptors, frame.is_begun = frame.rest[count:], (), True
            if not frame.rest:
                self._outbox.popleft()
                if frame.delivery is not None and not frame.delivery.done():
                    frame.delivery.set_result(None)
        with contextlib.suppress(RuntimeError, ValueError):  # there is no loop, or no socket
            loop = asyncio.get_running_loop()
            if self._outbox:
                loop.add_writer(fd, self._flush)
            else:
                loop.remove_writer(fd)

    def _lose(self, error: Exception | None = None) -> None:
        """Give up what could not be sent: the other end has gone."""
        for frame in self._outbox:
            if frame.delivery is not None and not frame.delivery.done():
                closure = ConnectionClosed()
                closure.__cause__ = error
                frame.delivery.set_exception(closure)
        self._outbox.clear()

    def _send_some(self, frame: _Frame) -> int:
        if frame.descriptors:
            return socket.send_fds(self._sock, [frame.rest], list(frame.descriptors))
        return self._sock.send(frame.rest)

    async def receive(self, timeout_s: float) -> Message:
        """The next message.

        Raises:
            ConnectionClosed: The other end has gone.
            ProtocolError: It sent something that is not a valid frame.
            TimeoutError: No complete message came in time; what came is kept.
        """
        loop = asyncio.get_running_loop()
        if timeout_s <= 0:
            raise TimeoutError
        deadline = loop.time() + timeout_s
        while True:
            message = self._next_message()
            if message is not None:
                return message
            if loop.time() > self._turn_until:  # a constant sender must not block the loop
                await asyncio.sleep(0)
                self._turn_until = loop.time() + _LONGEST_TURN_SECONDS
            if not self._fill():
                await self._wait(deadline)

    def _next_message(self) -> Message | None:
        if len(self._buffer) < HEADER.size:
            return None
        size = HEADER.unpack_from(self._buffer)[0]
        if size > MAX_FRAME_BYTES:
            raise ProtocolError(f"sent a message of {size:,} bytes")
        end = HEADER.size + size
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[HEADER.size : end])
        del self._buffer[:end]
        try:
            message: Any = json.loads(body)
        except (ValueError, RecursionError):
            raise ProtocolError("sent what is no message") from None
        if not isinstance(message, dict) or (b"\\ud" in body.lower() and not _is_text(message)):
            raise ProtocolError("sent what is no message")
        return message

    def _fill(self) -> bool:
        """Read what is available; False if there is nothing yet.

        Reads no more than was available before ``before_read``, so that callback has already read
        all output that was written before the messages taken now.
        """
        try:
            size = _readable(self._sock)
            self.before_read()
            chunk = self._sock.recv(min(max(size, 1), _CHUNK))
        except BlockingIOError:
            if self._has_ended:
                raise ConnectionClosed from None
            return False
        except OSError as error:
            raise ConnectionClosed from error
        if not chunk:
            raise ConnectionClosed
        self._buffer += chunk
        return True

    async def _wait(self, deadline: float) -> None:
        """Wait until there is something to read, or the process has ended."""
        loop = asyncio.get_running_loop()
        self._waiter = waiter = loop.create_future()
        fd = self._sock.fileno()
        loop.add_reader(fd, self._wake)
        try:
            done, _pending = await asyncio.wait({waiter}, timeout=deadline - loop.time())
        finally:
            if self._sock.fileno() == fd:  # once closed, another may have the number
                loop.remove_reader(fd)
            self._waiter = None
        if not done:
            raise TimeoutError

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _readable(sock: socket.socket) -> int:
    """How many bytes can be read now."""
    try:
        import fcntl
        import termios

        answer = fcntl.ioctl(sock, termios.FIONREAD, b"\0\0\0\0")
        return int.from_bytes(answer, sys.byteorder)
    except (ImportError, OSError, ValueError):
        return _CHUNK


def _is_text(message: Message) -> bool:
    """Whether no string in it has a lone surrogate, which UTF-8 can't encode."""
    try:
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):
        return False
    return True
