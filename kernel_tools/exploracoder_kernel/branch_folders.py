"""The private folders of branches on disk, used where no mounts can provide them.

A branch's folder lies inside its parent's. It is removed with the branch, or once no branch that
came from it is left. Every lookup starts from a folder that was opened before the first branch
ran, since a snippet may rename its contents or replace them with links.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from exploracoder_kernel.branch.linux import descendants, read_process
from exploracoder_kernel.removal import opened, remove_tree
from exploracoder_kernel.sandbox.hard_limits import SandboxLimits
from exploracoder_kernel.scratch import Scratch

_ROOT = ("root",)
_MOST_DEEP = 100
_DELETED = " (deleted)"
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # or replaced since its name was read


class BranchFolders:
    """Tracks which branch owns which folder, by process ID."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._places: dict[int, tuple[str, ...]] = {}
        self._parents: dict[int, int] = {}
        self._ended_pids: set[int] = set()
        self._removals: set[asyncio.Future[None]] = set()

    def note_start(self, pid: int, parent: int | None) -> None:
        """Record that a branch has started, as a child of ``parent`` or as the root."""
        above = _ROOT if parent is None else self._places.get(parent, _ROOT)
        self._places[pid] = above if parent is None else (*above, "forks", str(pid))
        if parent is not None:
            self._parents[pid] = parent

    def note_end(self, pid: int) -> None:
        """Record that a branch has ended, and remove the folders that nobody needs any more."""
        self._ended_pids.add(pid)
        while (
            pid in self._ended_pids and pid in self._parents and pid not in self._parents.values()
        ):
            place = self._places.pop(pid)
            self._ended_pids.discard(pid)
            pid = self._parents.pop(pid)
            self._remove(place)

    def _remove(self, place: tuple[str, ...]) -> None:
        """Remove a folder in a thread, since a snippet may have left a lot."""
        loop = asyncio.get_running_loop()
        removal = loop.run_in_executor(None, _remove_at, self._scratch.handle, place)
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)

    def limits_hit(
        self, launch_pid: int, pids: Collection[int], limits: SandboxLimits
    ) -> dict[int, str]:
        """Map each branch that exceeds a limit to the limit's name; this takes a while.

        Args:
            launch_pid: The process that the owner started.
            pids: The branches to look at.
            limits: What each may write.
        """
        handle, over = self._scratch.handle, {}
        known = {*pids, *(self._places.keys() - self._ended_pids)}
        nameless = _nameless(launch_pid, known, os.fstat(handle).st_dev) if pids else {}
        for pid in pids:
            size, files = _usage(handle, self._places.get(pid, _ROOT), limits.scratch_files)
            if files > limits.scratch_files:
                over[pid] = "scratch_files"
            elif size + nameless[pid] > limits.scratch_bytes:
                over[pid] = "scratch_bytes"
        return over

    async def close(self) -> None:
        """Wait for pending removals."""
        if self._removals:
            await asyncio.wait(self._removals)


def _remove_at(handle: int, place: tuple[str, ...]) -> None:
    with contextlib.suppress(OSError), _walked(handle, place[:-1]) as folder:
        remove_tree(place[-1], folder)


@contextlib.contextmanager
def _walked(handle: int, place: tuple[str, ...]) -> Iterator[int]:
    """Open the folder at the end of a path, refusing links along the way."""
    with contextlib.ExitStack() as stack:
        folder = handle
        for name in place:
            folder = stack.enter_context(opened(name, folder))
        yield folder


def _usage(handle: int, place: tuple[str, ...], most_files: int) -> tuple[int, int]:
    """Bytes on disk and number of files in a branch's folder, excluding its forks' folders.

    Stops once there are more than ``most_files``. Anything that can't be read counts as too much,
    and so do folders nested so deep that walking them would use up all descriptors.
    """
    size = files = 0
    errors: list[OSError] = []
    try:
        with _walked(handle, place) as top:
            for root, folders, names, folder in os.fwalk(".", onerror=errors.append, dir_fd=top):
                if root == ".":
                    folders[:] = [name for name in folders if name != "forks"]
                files += len(folders) + len(names)
                for name in names:
                    with contextlib.suppress(OSError):
                        size += 512 * os.stat(name, dir_fd=folder, follow_symlinks=False).st_blocks
                is_too_deep = root.count(os.sep) > _MOST_DEEP
                if files > most_files or is_too_deep:
                    return size, most_files + 1
    except OSError as error:
        errors.append(error)
    is_hidden = any(error.errno not in _GONE for error in errors)
    return size, most_files + 1 if is_hidden else files


def _nameless(launch_pid: int, branches: Collection[int], device: int) -> dict[int, int]:
    """The bytes that each branch holds in deleted files that are still open.

    What a process of no known branch holds is counted for every branch.

    Args:
        launch_pid: The process that the owner started.
        branches: The first process of each branch, by the IDs that the owner sees.
        device: The file system to count, as in ``st_dev``.
    """
    totals = dict.fromkeys(branches, 0)
    seen_inodes: set[int] = set()
    for process in descendants([launch_pid]):
        size = sum(_sizes(process, device, seen_inodes))
        for branch in _holders(process, branches):
            totals[branch] += size
    return totals


def _holders(process: int, branches: Collection[int]) -> Collection[int]:
    while process > 1 and process not in branches:
        line = read_process(process)
        process = 0 if line is None else line.parent
    return (process,) if process in branches else branches


def _sizes(process: int, device: int, seen_inodes: set[int]) -> list[int]:
    """Each file counts once, however many processes hold it."""
    sizes = []
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()).endswith(_DELETED):
                    status = descriptor.stat()
                    if status.st_dev == device and status.st_ino not in seen_inodes:
                        seen_inodes.add(status.st_ino)
                        sizes.append(512 * status.st_blocks)
    return sizes
