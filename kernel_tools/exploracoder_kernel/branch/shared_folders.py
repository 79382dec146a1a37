"""Folders that all branches of a sandbox share, which are memory: who fills them must not for long.

A file in them is taken for that of a branch that ran when it was last changed. When such a branch
ends, the file goes, unless another branch that ran then is still there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from typing import Optional

_FOLDERS = ("/dev/shm", "/tmp")
_MOST_RUNS = 100
_CLOCK_SECONDS = 0.02  # the clock of files is a little behind

_Span = tuple[float, Optional[float]]  # None: it is not over


class SharedFolders:
    """Keeps account of when branches ran. Outside of a sandbox it does nothing."""

    def __init__(self) -> None:
        is_first_process = os.getpid() == 1
        self._folders = _FOLDERS if is_first_process else ()
        self._runs: dict[int, list[_Span]] = {}

    def note_start(self, branch: int) -> None:
        """A run begins. Of many, the oldest two are taken for one."""
        runs = self._runs.setdefault(branch, [])
        runs.append((time.time(), None))
        if len(runs) > _MOST_RUNS:
            runs[:2] = [(runs[0][0], runs[1][1])]

    def note_stop(self, branch: int) -> None:
        """A run has ended."""
        runs = self._runs.get(branch)
        if runs:
            runs[-1] = (runs[-1][0], time.time())

    def forget(self, branch: int) -> None:
        """A branch has ended: what is no other's is removed, by a process that we do not wait for.

        It may be a lot, and whoever waits for the keeper must not wait for that.
        """
        runs = self._runs.pop(branch, [])
        if next(self._of(runs), None) is None:
            return
        if os.fork() == 0:
            with contextlib.suppress(BaseException):
                for entry in self._of(runs):
                    _remove(entry)
            os._exit(0)

    def _of(self, runs: list[_Span]) -> Iterator[os.DirEntry[str]]:
        """What was last changed in one of these runs, and in none of the other branches'."""
        for folder in self._folders:
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    changed = entry.stat(follow_symlinks=False).st_ctime
                    others = any(_was_in(changed, other) for other in self._runs.values())
                    if _was_in(changed, runs) and not others:
                        yield entry


def _was_in(moment: float, runs: list[_Span]) -> bool:
    return any(
        start - _CLOCK_SECONDS <= moment and (stop is None or moment <= stop)
        for start, stop in runs
    )


def _remove(entry: os.DirEntry[str]) -> None:
    with contextlib.suppress(OSError):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
