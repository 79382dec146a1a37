"""The results of a bench run: a JSON line each, on disk before anything else happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from filelock import FileLock, Timeout

from exploracoder_bench.datasets.json_lines import GrowingFile
from exploracoder_bench.results import RunKey, RunResult


class Ledger:
    """Results by their key; of two lines for one run, the later one counts."""

    def __init__(self, file: Path) -> None:
        """Read what ``file`` already holds; its folder is created if it is missing.

        Raises InputError when it holds a line that is not a result.
        """
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = GrowingFile(file, RunResult, "result of this version")
        self._results = {result.key: result for result in self._file.read()}

    def append(self, result: RunResult) -> None:
        """Keep a result. Raises SetupError, leaving no partial line, when it cannot be written."""
        self._file.append(result)
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
