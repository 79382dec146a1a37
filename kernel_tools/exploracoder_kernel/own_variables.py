"""Variables of this very process on their way into a branch: magics bring those of their kernel."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from exploracoder_kernel.carrying import DEFAULT_LIMIT_BYTES, no_names
from exploracoder_kernel.errors import KernelError
from exploracoder_kernel.scratch import Scratch


class OwnVariables:
    """Copies of variables of ``__main__`` as they are now, in a private folder until `close`.

    They are written at once, in the caller's thread: what the process does to them later changes
    nothing. Only when the branch cannot make some of them, or has another version of Python, is
    what remains written once more, as it is then.

    Args:
        names: What to bring.
        limit_bytes: Of all of them together.

    Raises:
        KernelError: They cannot be written.
    """

    def __init__(self, names: Sequence[str], *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.names = tuple(dict.fromkeys(names))
        # The next start removes it if this process is killed before it can.
        self._scratch = Scratch.create()
        self._folder = self._scratch.folder
        self._request: tuple[Any, ...] = ()
        self._report: Mapping[str, Any] = {}
        try:
            self._pack(self.names, no_names(self.names), platform.python_version(), limit_bytes)
        except BaseException:
            self.close()
            raise

    @property
    def refused(self) -> Mapping[str, str]:
        """The names that cannot go, and why, in words."""
        return {one["name"]: one["reason"] for one in self._report["refused"]}

    def close(self) -> None:
        """Take the copies away. Branches that have them keep them."""
        self._scratch.remove()

    @asynccontextmanager
    async def packed(
        self, names: Sequence[str], refused: Mapping[str, str], *, python: str, limit_bytes: int
    ) -> AsyncIterator[tuple[Path, Mapping[str, Any]]]:
        """The file and the report on it. Raises KernelError when they cannot be written."""
        self._pack(names, refused, python, limit_bytes)
        lent = self._folder / "lent"
        os.link(self._file, lent)
        try:
            yield lent, self._report
        finally:
            lent.unlink(missing_ok=True)

    @property
    def _file(self) -> Path:
        return self._folder / "variables"

    def _pack(
        self, names: Sequence[str], refused: Mapping[str, str], python: str, limit_bytes: int
    ) -> None:
        version = tuple(python.split(".")[:2])
        request = (tuple(names), dict(refused), version, limit_bytes)
        if request == self._request:
            return
        from cloudpickle import cloudpickle

        from exploracoder_kernel.branch.packing import Packing

        asked = {"names": names, "refused": refused, "python": python, "limit_bytes": limit_bytes}
        # A branch may still have the old one open, by no name.
        self._file.unlink(missing_ok=True)
        try:
            packing = Packing(asked, cloudpickle)
            entries = packing.run(str(self._file))
        except OSError as error:
            raise KernelError(f"Variables cannot be written: {error}") from error
        about = {"paths": list(sys.path), "prefix": sys.prefix}
        self._report = {"entries": entries, "refused": packing.refusals()} | about
        self._request = request
