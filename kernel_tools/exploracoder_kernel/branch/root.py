"""The root branch: how the reaper's fork is confined and becomes the user's Python."""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any, NoReturn, Optional

from . import landlock, linux, private_folder, rlimits, seccomp_loading, superuser, wire
from .serving import serve_root

_ENTRY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "process.py")


def become(branch_fd: int, setup_fd: int, decisions: socket.socket) -> NoReturn:
    """In the reaper's fork: confine it irreversibly, then start the user's Python in its place.

    None of the user's code has run until then, not even ``sitecustomize``.

    Args:
        branch_fd: Its socket to the owner.
        setup_fd: The file with what the launcher specified.
        decisions: The socket that hands the reaper the descriptor for deciding system calls, or
            the reason why there is none.
    """
    setup = read_setup(setup_fd)
    os.setsid()
    linux.offer_to_be_killed_first()
    environment = {**os.environ, **setup["environment"]}
    folder = setup["folder"]
    if folder is not None and not folder["is_mounted"]:
        own_folder = private_folder.NestedFolder(setup["task"], folder["path"], setup["landlock"])
        own_folder.enter(environment)
        for part in ("home", "tmp", "work"):
            os.makedirs(os.path.join(folder["path"], part), exist_ok=True)
        own_folder.confine()
    elif setup["landlock"]:
        landlock.restrict(setup["landlock"])
    _give_up(setup, decisions)
    for fd in (branch_fd, setup_fd):
        os.set_inheritable(fd, True)
    numbers = [str(number) for number in (branch_fd, setup_fd, landlock.layers())]
    os.execve(sys.executable, [sys.executable, _ENTRY, "branch", *numbers], environment)


def read_setup(setup_fd: int) -> dict[str, Any]:
    """What the launcher specified; the file stays open."""
    os.lseek(setup_fd, 0, os.SEEK_SET)
    with open(setup_fd, "rb", closefd=False) as file:
        return dict(json.load(file))


def _give_up(setup: dict[str, Any], decisions: socket.socket) -> None:
    """Set limits, load filters, drop capabilities; on failure, tell the reaper why and exit."""
    rlimits.apply(setup["limits"])
    listener: Optional[int] = None
    with decisions:
        try:
            if setup["seccomp"]:
                listener = seccomp_loading.load(setup["seccomp"]["programs"])
            if setup["capabilities"] is not None:
                superuser.keep(*setup["capabilities"], through_programs=True)
        except (ImportError, OSError, AttributeError) as error:
            wire.send(decisions, {"refused": str(error) or type(error).__name__})
            os._exit(1)
        descriptors = [] if listener is None else [listener]
        reason = "not asked for" if listener is None else None
        socket.send_fds(decisions, [wire.pack({"refused": reason})], descriptors)
    if listener is not None:
        os.close(listener)


def main(branch_fd: int, setup_fd: int, layers: int) -> NoReturn:
    """In the user's Python: give up again what a new program gets back, then serve."""
    setup = read_setup(setup_fd)
    os.close(setup_fd)
    if setup["capabilities"] is not None:
        superuser.keep(*setup["capabilities"])
    if setup["folder"] and setup["folder"]["is_mounted"]:
        linux.hide_memory()  # otherwise layers of Landlock hide it, and the owner counts files
    rlimits.apply(setup["limits"])
    landlock.note_layers(layers)
    os.set_inheritable(branch_fd, False)
    if setup["folder"]:
        rlimits.note("scratch_bytes")
    private_folder.enter(setup)
    serve_root(socket.socket(fileno=branch_fd), setup["ipython"])
