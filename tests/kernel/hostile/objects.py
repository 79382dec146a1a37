"""Objects of System V and of POSIX that belong to this process, and what has become of them."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any

_PRIVATE, _CREATE, _ALL = 0, 0o1000, 0o666
_REMOVE, _STAT, _GET_PID, _GET_VALUE, _SET_VALUE = 0, 2, 11, 12, 16
_BYTES = 4096
_TEXT = b"nobody else's"


@dataclass(frozen=True, slots=True)
class Objects:
    """A segment, a semaphore and two queues, open to everybody who can name them.

    Attributes:
        segment: The id of the shared memory.
        semaphore: The id of a set of one, whose value is 5.
        queue: The id of a queue with one message.
        posix: The name of a POSIX queue with one message.
    """

    segment: int
    semaphore: int
    queue: int
    posix: str
    _key: int
    _address: int
    _posix: int

    @classmethod
    def create(cls, tag: str, key: int) -> Objects:
        """Make all of them; ``key`` is what a snippet may make others under.

        Raises:
            OSError: The kernel has none, or no more.
        """
        libc = _libc()
        segment = _checked(libc.shmget(_PRIVATE, _BYTES, _CREATE | _ALL))
        address = _checked(libc.shmat(segment, None, 0))
        ctypes.memmove(address, _TEXT, len(_TEXT))
        semaphore = _checked(libc.semget(_PRIVATE, 1, _CREATE | _ALL))
        _checked(libc.semctl(semaphore, 0, _SET_VALUE, 5))
        queue = _checked(libc.msgget(_PRIVATE, _CREATE | _ALL))
        _checked(libc.msgsnd(queue, _message(), len(_TEXT), 0))
        name = f"/{tag}"
        posix = _checked(libc.mq_open(name.encode(), os.O_RDWR | os.O_CREAT, _ALL, None))
        _checked(libc.mq_send(posix, _TEXT, len(_TEXT), 0))
        return cls(segment, semaphore, queue, name, key, address, posix)

    def harm(self) -> list[str]:
        """What is not as it was."""
        libc = _libc()
        problems = []
        if ctypes.string_at(self._address, len(_TEXT)) != _TEXT or self._attachments() != 1:
            problems.append("shared memory was attached, changed or removed")
        state = [libc.semctl(self.semaphore, 0, ask) for ask in (_GET_VALUE, _GET_PID)]
        if state != [5, os.getpid()]:
            problems.append("a semaphore was changed or removed")
        if self._messages() != (1, os.getpid(), 0):
            problems.append("a queue was read, written or removed")
        attributes = (ctypes.c_long * 8)()
        if libc.mq_getattr(self._posix, attributes) == -1 or attributes[3] != 1:
            problems.append("a POSIX queue was read or written")
        if not _has_queue(self.posix):
            problems.append("a POSIX queue was removed")
        if _has_queue(f"{self.posix}-left"):
            problems.append("a POSIX queue was left")
        return problems

    def remove(self) -> None:
        """Remove what is still there."""
        libc = _libc()
        libc.shmdt(ctypes.c_void_p(self._address))
        libc.shmctl(self.segment, _REMOVE, None)
        libc.semctl(self.semaphore, 0, _REMOVE)
        libc.msgctl(self.queue, _REMOVE, None)
        libc.mq_close(self._posix)
        libc.shmctl(libc.shmget(self._key, 0, 0), _REMOVE, None)
        libc.semctl(libc.semget(self._key, 0, 0), 0, _REMOVE)
        libc.msgctl(libc.msgget(self._key, 0), _REMOVE, None)
        for name in (self.posix, f"{self.posix}-left"):
            libc.mq_unlink(name.encode())

    def _attachments(self) -> int:
        """How often the segment is attached; it has been attached to once, by this process."""
        state = ctypes.create_string_buffer(256)
        if _libc().shmctl(self.segment, _STAT, state) == -1:
            return -1
        # After the permissions: size, three times, two processes, then the count.
        start = 48 + 8 * 4 + 4 * 2
        last = int.from_bytes(state.raw[start - 4 : start], "little")
        count = int.from_bytes(state.raw[start : start + 8], "little")
        return count if last == os.getpid() else -1

    def _messages(self) -> tuple[int, int, int]:
        """How many wait in the queue, who sent last, and who received last."""
        state = ctypes.create_string_buffer(256)
        if _libc().msgctl(self.queue, _STAT, state) == -1:
            return (-1, -1, -1)
        # After the permissions: three times, bytes, messages, the limit, two processes.
        start = 48 + 8 * 3 + 8
        count = int.from_bytes(state.raw[start : start + 8], "little")
        sender = int.from_bytes(state.raw[start + 16 : start + 20], "little")
        receiver = int.from_bytes(state.raw[start + 20 : start + 24], "little")
        return (count, sender, receiver)


def _has_queue(name: str) -> bool:
    libc = _libc()
    queue = libc.mq_open(name.encode(), os.O_RDONLY)
    if queue == -1:
        return False
    libc.mq_close(queue)
    return True


def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_ssize_t
    return libc


def _message() -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer((1).to_bytes(8, "little") + _TEXT)


def _checked(answer: int) -> int:
    if answer == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
