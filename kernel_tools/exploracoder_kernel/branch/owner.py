"""The owner, at the other end of the branch's socket."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes enums of all numbers each time
import contextlib
import os
import select
import signal
import socket
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, Optional

from . import wire
from .interrupts import Interrupts
from .loops import Loop
from .streams import Channels

_ALL_SIGNALS = _signal.valid_signals()
_TOO_LARGE = "[an output too large to keep was left out]"


class Owner:
    """Sends events to the owner and receives its requests. The user's threads may send, too."""

    def __init__(self, sock: socket.socket, interrupts: Interrupts, channels: Channels) -> None:
        self._sock = sock
        self._interrupts = interrupts
        self._channels = channels
        self._pid = os.getpid()
        self._turn = threading.Lock()
        self._frames: deque[bytes] = deque()
        self._questions = 0

    @property
    def is_ours(self) -> bool:
        """Whether this process is the branch; a process that a snippet forked is not."""
        return os.getpid() == self._pid

    def replace(self, sock: socket.socket) -> None:
        """After a fork: make this process a branch of its own, with its own socket."""
        self._sock.close()
        self._sock = sock
        self._pid = os.getpid()
        self._turn = threading.Lock()
        self._frames.clear()
        self._channels.reset()

    def receive(self) -> tuple[Optional[wire.Message], list[int]]:
        """The next request, with its descriptors; None if the owner is gone."""
        return wire.receive(self._sock)

    def let_run(self, loop: Loop) -> None:
        """Run the event loop until a request arrives."""
        loop.run_until_readable(self._sock)

    def reply(self, message: wire.Message) -> None:
        """Send from our own work between cells."""
        self._frames.append(wire.pack(message))
        self._send_all()

    def tell(self, message: wire.Message) -> None:
        """Send from inside the user's code; a process that a snippet forked sends nothing."""
        if not self.is_ours:
            return
        frame = _bounded_frame(message)
        if threading.current_thread() is threading.main_thread():
            with self._interrupts.held():
                self._channels.enter_socket(self._sock.fileno())
                self._frames.append(frame)
                self._send_all()
        else:
            self._frames.append(frame)
            self._send_all()

    def ask(self, prompt: str, is_password: bool) -> Optional[str]:
        """Ask the owner's user for a line, from inside the user's code; None if there is none.

        SIGINT ends the wait, but never splits a frame. An answer that comes later is ignored.
        """
        self._questions += 1
        number = self._questions
        self.tell({"input": {"id": number, "prompt": prompt, "is_password": is_password}})
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        while True:
            poll.poll()
            with self._interrupts.held():
                message, descriptors = self.receive()
            for fd in descriptors:
                os.close(fd)
            if message is None:
                os._exit(0)
            if message.get("op") == "input_reply" and message.get("id") == number:
                value = message.get("value")
                return None if value is None else str(value)

    def _send_all(self) -> None:
        """Send queued frames, one sender at a time, which also sends what others add meanwhile."""
        while self._frames and self._turn.acquire(blocking=False):
            try:
                with _no_signals():
                    while self._frames:
                        self._sock.sendall(self._frames.popleft())
            finally:
                self._turn.release()


@contextlib.contextmanager
def _no_signals() -> Iterator[None]:
    """Block signals: a user's handler that raises would leave half a frame."""
    before = _signal.pthread_sigmask(signal.SIG_BLOCK, _ALL_SIGNALS)
    try:
        yield
    finally:
        _signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _bounded_frame(message: wire.Message) -> bytes:
    frame = wire.pack(message)
    if len(frame) <= wire.MAX_FRAME_BYTES:
        return frame
    output: dict[str, Any] = {
        "output_type": "display_data",
        "data": {"text/plain": _TOO_LARGE},
        "metadata": {},
    }
    return wire.pack({"output": output})
