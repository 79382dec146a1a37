"""Forks of this process, and what is evaluated in a throwaway fork."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
import sys
import tempfile
import time
import warnings
from typing import Any, Optional

from . import descriptors, fork_safety, landlock, linux
from .error_reports import brief
from .previews import preview

_FORCE_SECONDS = 2.0
_FIRST = 3
# An error may be the cause of itself.
_MOST_CAUSES = 100


def fork() -> int:
    """``os.fork``, except that the child keeps the state of ``random``, which Python reseeds.

    Newer Pythons' warning about threads is suppressed: the owner has already decided.
    """
    module = sys.modules.get("random")
    state = module.getstate() if module is not None else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0 and module is not None:
        # The child must not leave its caller's path: it would take itself for its parent.
        with contextlib.suppress(Exception):
            module.setstate(state)
    return pid


def first_elements(value: Any) -> dict[str, Any]:
    """The first elements of a lazy object, taken in a throwaway fork.

    It may write to no file, make none and remove none. What older Landlocks can't forbid remains:
    emptying a file (before Linux 6.2), and changing modes and times.

    Returns:
        ``{"elements": [repr, ...], "has_more": bool}``, or ``{"error": "EName: message"}``, or
        ``{}`` if a fork is not safe, if the system refuses one, or if there would be effects.
    """
    can_look = landlock.version() and not descriptors.could_have_effects()
    if not can_look or fork_safety.reason_not_to_fork() is not None:
        return {}
    read_end, write_end = os.pipe()
    try:
        pid = fork()
    except Exception:  # noqa: BLE001  # the task's own `random` may raise anything
        os.close(read_end)
        os.close(write_end)
        return {}
    if pid == 0:
        _force_and_exit(value, write_end)
    os.close(write_end)
    try:
        answer = read_lines(read_end, 1, _FORCE_SECONDS)
    finally:
        os.close(read_end)
        linux.kill_family(pid)
        with contextlib.suppress(ChildProcessError):  # a snippet may have had children ignored
            os.waitpid(pid, 0)
    if answer:
        return dict(json.loads(answer[0]))
    return {"error": f"TimeoutError: no element came within {_FORCE_SECONDS:g} s"}


def _force_and_exit(value: Any, write_end: int) -> None:
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        descriptors.reopen_files()
        null_fd = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_fd, 1)
        os.dup2(null_fd, 2)
        with contextlib.suppress(OSError):
            tempfile.gettempdir()  # once it is known, a refusal there is a PermissionError
        landlock.restrict({"read": ["/"], "list": [], "write": [os.devnull]})
        with os.fdopen(write_end, "w", encoding="utf-8") as pipe:
            pipe.write(json.dumps(_force(value)) + "\n")
    finally:
        os._exit(0)


def _force(value: Any) -> dict[str, Any]:
    try:
        elements = list(itertools.islice(iter(value), _FIRST + 1))
        previews = [preview(element, 60) for element in elements[:_FIRST]]
        return {"elements": previews, "has_more": len(elements) > _FIRST}
    except BaseException as error:  # noqa: BLE001  # the user's iterator may raise anything
        return {} if _is_refusal(error) else {"error": brief(error)}


def _is_refusal(error: BaseException) -> bool:
    """Whether an error comes of what may not be done here; the user's own code may do it."""
    stems_from: Optional[BaseException] = error
    for _ in range(_MOST_CAUSES):
        if stems_from is None or isinstance(stems_from, PermissionError):
            break
        stems_from = stems_from.__cause__ or stems_from.__context__
    return isinstance(stems_from, PermissionError)


def read_lines(fd: int, count: int, seconds: float) -> list[bytes]:
    """Read ``count`` lines, or those that came in time. Workers may keep the pipe open."""
    deadline = time.monotonic() + seconds
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    text = b""
    while text.count(b"\n") < count:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0 or not poll.poll(seconds_left * 1000):
            break
        chunk = os.read(fd, 65536)
        if not chunk:
            break
        text += chunk
    return text.split(b"\n")[:-1]
