"""Forking this process: when it is safe, what parent and child do around it."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import select
import signal
import stat
import sys
import threading
import time
import warnings
from typing import Any, Optional

from . import linux
from .failures import brief
from .previews import preview

_FORCE_SECONDS = 2.0
_FIRST = 3


def reason_not_to_fork() -> Optional[str]:
    """Why a fork of this process could hang or misbehave; None when nothing speaks against it."""
    if not sys.platform.startswith("linux"):
        return f"fork is not safe on {sys.platform}"
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        named = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
        of_python = f" ({', '.join(named[:3])})" if named else ""
        return f"{threads} threads are alive in the process{of_python}"
    if _holds_gpu():
        return "the process has a GPU context, which a fork can't use"
    return None


def _holds_gpu() -> bool:
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{fd}").startswith(("/dev/nvidia", "/dev/kfd")):
                return True
    return False


def fork() -> int:
    """``os.fork`` in which the child keeps the state of ``random``, which Python seeds anew.

    The warning of newer Pythons about threads is not passed on: the owner has decided already.
    """
    module = sys.modules.get("random")
    state = module.getstate() if module is not None else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0 and module is not None:
        module.setstate(state)
    return pid


def detached_fork() -> int:
    """Fork a child that the keeper adopts: 0 in the child, else a process to wait for.

    That one stands between the two, and ends at once.
    """
    between = fork()
    if between:
        return between
    if fork():
        os._exit(0)
    os.setsid()
    own_file_positions()
    return 0


def own_file_positions() -> None:
    """Open the regular files anew: a fork shares their positions with its parent."""
    for fd in _regular_files():
        with contextlib.suppress(OSError):
            flags = fcntl.fcntl(fd, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_TRUNC | os.O_EXCL)
            position = os.lseek(fd, 0, os.SEEK_CUR)
            inheritable = os.get_inheritable(fd)
            own = os.open(f"/proc/self/fd/{fd}", flags)
            os.lseek(own, position, os.SEEK_SET)
            os.dup2(own, fd, inheritable)
            os.close(own)


def _regular_files() -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                if stat.S_ISREG(os.fstat(int(name)).st_mode):
                    found.append(int(name))
    return found


def first_elements(value: Any) -> dict[str, Any]:
    """The first elements of a lazy object, taken in a fork that is thrown away.

    Returns:
        ``{"elements": [repr, ...], "has_more": bool}``, or ``{"error": "EName: message"}``.
    """
    read_end, write_end = os.pipe()
    pid = fork()
    if pid == 0:
        _force_and_exit(value, write_end)
    os.close(write_end)
    try:
        answer = _read_within(read_end, _FORCE_SECONDS)
    finally:
        os.close(read_end)
        linux.kill_family(pid)
        os.waitpid(pid, 0)
    if answer:
        return dict(json.loads(answer))
    return {"error": f"TimeoutError: no element came within {_FORCE_SECONDS:g} s"}


def _force_and_exit(value: Any, write_end: int) -> None:
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        own_file_positions()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        with os.fdopen(write_end, "w", encoding="utf-8") as pipe:
            pipe.write(json.dumps(_force(value)) + "\n")
    finally:
        os._exit(0)


def _force(value: Any) -> dict[str, Any]:
    try:
        taken = list(itertools.islice(iter(value), _FIRST + 1))
        shown = [preview(element, 60) for element in taken[:_FIRST]]
        return {"elements": shown, "has_more": len(taken) > _FIRST}
    except BaseException as error:  # noqa: BLE001  # the user's iterator may raise anything
        return {"error": brief(error)}


def _read_within(fd: int, seconds: float) -> bytes:
    """One line; nothing when it takes too long. Workers may keep the other end open."""
    deadline = time.monotonic() + seconds
    line = b""
    while not line.endswith(b"\n"):
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not select.select([fd], [], [], remaining)[0]:
            return b""
        chunk = os.read(fd, 65536)
        if not chunk:
            return b""
        line += chunk
    return line
