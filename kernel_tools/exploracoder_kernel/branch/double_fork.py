"""One branch becomes two: a fork that outlives its parent and belongs to the reaper."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import NamedTuple, Optional

from . import descriptors, fork_safety, streams
from .forks import fork, read_lines

NO_ANSWER = "the fork did not answer"
_PATIENCE_SECONDS = 4.0
_GO = b"g"
_READY = b"ready"


class Split(NamedTuple):
    """The outcome of a split, in either process.

    Attributes:
        is_child: Whether this is the new process.
        pid: In the parent, the new process's number; None if there is none.
        refusal: Why there is no new process.
    """

    is_child: bool
    pid: Optional[int] = None
    refusal: Optional[str] = None


class _Ends(NamedTuple):
    """Two pipes: word from the new processes, and permission to go on for the first of them."""

    word_source: int
    word: int
    leave: int
    grant: int

    def keep(self, *ends: int) -> None:
        """Close all the others."""
        for fd in self:
            if fd not in ends:
                os.close(fd)


def split(refusal: Optional[str], *, is_forced: bool) -> Split:
    """Fork a child that the reaper adopts, through an intermediate process that exits at once.

    Args:
        refusal: The caller's own reason against a fork, if any.
        is_forced: Fork despite any reason against it.
    """
    if not is_forced:
        refusal = refusal or fork_safety.reason_besides_threads()
        if refusal is None and fork_safety.has_python_threads():
            refusal = fork_safety.reason_in_threads()
        if refusal is not None:
            return Split(False, refusal=refusal)
    streams.flush_all()
    ends = _Ends(*os.pipe(), *os.pipe())
    try:
        between = fork()
    except OSError as error:
        ends.keep()
        return Split(False, refusal=f"the system refused a fork: {error.strerror}")
    except BaseException:  # the task's own `random` may raise anything
        ends.keep()
        raise
    if between == 0:
        return _go_between(ends)
    ends.keep(ends.word_source, ends.grant)
    try:
        return _see_through(between, ends, is_forced=is_forced)
    except BaseException:
        with contextlib.suppress(OSError):
            os.kill(between, signal.SIGKILL)
        raise
    finally:
        os.close(ends.word_source)
        with contextlib.suppress(ChildProcessError):  # a snippet may have had children ignored
            os.waitpid(between, 0)


def _see_through(between: int, ends: _Ends, *, is_forced: bool) -> Split:
    """Let the intermediate process go on and wait for the child's word; kill both if none comes.

    Threads are counted again here: some libraries (OpenBLAS) end theirs before any fork and restart
    them when needed. If none is left now, the child lacks none.
    """
    try:
        refusal = None if is_forced else fork_safety.reason_in_threads()
        if refusal is None:
            with contextlib.suppress(OSError):
                os.write(ends.grant, _GO)
    finally:
        os.close(ends.grant)
    words = read_lines(ends.word_source, 2, _PATIENCE_SECONDS) if refusal is None else []
    pids = [int(word) for word in words if word != _READY]
    if len(words) == 2:
        return Split(False, pids[0])
    for pid in (between, *pids):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return Split(False, refusal=refusal or NO_ANSWER)


def _go_between(ends: _Ends) -> Split:
    """Fork once more and exit, so that the reaper becomes the child's parent."""
    try:
        ends.keep(ends.word, ends.leave)
        if os.read(ends.leave, 1) != _GO:
            os._exit(0)
        child = fork()
        if child:
            os.write(ends.word, b"%d\n" % child)
            os._exit(0)
        os.setsid()
        descriptors.reopen_files()
        os.write(ends.word, _READY + b"\n")
        os.close(ends.word)
        os.close(ends.leave)
    except BaseException:  # noqa: BLE001  # whatever it was, this process must not go on
        os._exit(1)
    return Split(True)
