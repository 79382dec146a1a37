"""Reasons against forking this process, in words; each check looks at its current state."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Optional

from . import descriptors, landlock, linux

USED_UP = "it comes from as many forks in a row as the kernel keeps apart"
_SETTLE_SECONDS = 0.005


def reason_not_to_fork() -> Optional[str]:
    """Why a fork of this process could hang or misbehave; None if it is safe."""
    return reason_besides_threads() or reason_in_threads()


def reason_besides_threads() -> Optional[str]:
    """A reason in the system, open descriptors, memory or children; None if there is none."""
    if not sys.platform.startswith("linux"):
        return f"fork is not safe on {sys.platform}"
    if landlock.is_used_up():
        return USED_UP
    return descriptors.reason_not_to_share() or _reason_in_memory() or _reason_in_children()


def _reason_in_memory() -> Optional[str]:
    """Shared mappings, which both would write to: a fork copies all other memory."""
    try:
        with open("/proc/self/maps", "rb") as file:
            shared_mappings = [line for line in file if line.split(None, 2)[1].startswith(b"rw-s")]
    except OSError:
        return None
    if not shared_mappings:
        return None
    return "the process maps memory that it would share with a fork"


def _reason_in_children() -> Optional[str]:
    """Running children: a fork is not their parent, and would share the pipes to them."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    pids = set(linux.children(os.getpid())) - _helpers()
    if all(linux.read_process(pid) is None for pid in pids):
        return None
    return "processes that it started are running, and a fork could not wait for them"


def _helpers() -> set[object]:
    """Processes of multiprocessing's own, and of joblib's, that a fork may share."""
    return {
        getattr(getattr(module, "_resource_tracker", None), "_pid", None)
        for name, module in list(sys.modules.items())
        if name.endswith("resource_tracker")
    }


def reason_in_threads() -> Optional[str]:
    """Threads other than this one: the child would lack them, but find their locks held.

    One that has just ended may still be listed, so it gets a few milliseconds to disappear.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    while (threads := len(os.listdir("/proc/self/task"))) > 1:
        if has_python_threads() or time.monotonic() > deadline:
            return f"{threads} threads are alive in the process{_described(threads)}"
        time.sleep(_SETTLE_SECONDS / 10)
    return None


def has_python_threads() -> bool:
    """Whether any other thread runs Python."""
    return len(sys._current_frames()) > 1


def _described(threads: int) -> str:
    """Names of the Python threads, and the number of the libraries' threads."""
    names = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
    others = threads - len(sys._current_frames())
    words = names[:3]
    if others > 0 and words:
        words.append(f"and {others} not of Python")
    elif others > 0:
        words = ["none of Python" if others == threads - 1 else f"{others} not of Python"]
    return f" ({', '.join(words)})" if words else ""
