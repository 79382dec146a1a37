"""The results of a bench run: a JSON line each, on disk before anything else happens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from filelock import FileLock, Timeout
from pydantic import ValidationError

from exploracoder_bench.results import RunKey, RunResult


class Ledger:
    """Results by their key; of two lines for one run, the later one counts.

    A line is whole or not there: a partial one, left by a kill or a full disk, is cut off.
    """

    def __init__(self, file: Path) -> None:
        """Read what ``file`` already holds; its folder is created if it is missing.

        Raises InputError when it holds a line that is not a result.
        """
        self._file = file
        self._results: dict[RunKey, RunResult] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = 0
        for line in file.read_bytes().splitlines(keepends=True) if file.exists() else ():
            if not line.endswith(b"\n"):
                os.truncate(file, whole)
                break
            whole += len(line)
            self._read(line)

    def append(self, result: RunResult) -> None:
        """Keep a result. Raises SetupError, leaving no partial line, when it cannot be written."""
        size = self._file.stat().st_size if self._file.exists() else 0
        try:
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(result.model_dump_json() + "\n")
                lines.flush()
                os.fsync(lines.fileno())
        except OSError as error:
            # A partial line is also cut off when the file is next read.
            if self._file.is_file():
                os.truncate(self._file, size)
            raise SetupError(
                f"{self._file} cannot be written: {error.strerror}. What is in it counts; make room"
                " and give the same command again, it goes on."
            ) from error
        self._results[result.key] = result

    def find(self, key: RunKey) -> RunResult | None:
        """The result of a run, if there is one."""
        return self._results.get(key)

    def is_finished(self, key: RunKey) -> bool:
        """Whether a run is done: one that failed in set-up or was interrupted is not."""
        result = self.find(key)
        return result is not None and result.counts

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self._results.values())

    def _read(self, line: bytes) -> None:
        try:
            result = RunResult.model_validate_json(line)
        except ValidationError as error:
            raise InputError(
                f"{self._file} holds a line that is no result of this version: {line[:80]!r}. Use"
                " another --out, or put that file away."
            ) from error
        self._results[result.key] = result


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock the folder: two harnesses in one would run samples twice.

    Raises InputError when another one holds it, SetupError when it cannot be used.
    """
    lock = FileLock(folder / ".lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InputError(
            f"Another bench run works in {folder}. Wait for it, or choose another --out."
        ) from error
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be used: {error.strerror or error}. Make room, or choose another"
            " --out."
        ) from error
    try:
        yield
    finally:
        lock.release()
