"""Limits of every process in a sandbox, which no code in it can raise."""

from __future__ import annotations

import os

from pydantic import BaseModel, ConfigDict, Field

from exploracoder_kernel.branch.linux import machine_memory


def kernel_version() -> tuple[int, ...]:
    """The version of the running Linux kernel, such as (6, 8)."""
    parts = os.uname().release.split("-")[0].split(".")[:2]
    return tuple(int(part) for part in parts if part.isdigit())


class SandboxLimits(BaseModel):
    """Hard limits, set before any code of the user's runs.

    Attributes:
        file_bytes: Size of a file that is written.
        open_files: Descriptors of a process.
        memory_bytes: What a process may allocate; libraries that it maps do not count.
        processes: Processes and threads of the sandbox. Holds where they are counted for the
            sandbox alone, and not for the superuser.
        scratch_bytes: What a branch may write in all: its home, ``/tmp``, ``/dev/shm``, and the
            folder that it works in. It is memory where there are namespaces.
        scratch_files: How many files, folders and links these may be.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file_bytes: int = Field(default=2**30, gt=0)
    open_files: int = Field(default=1024, ge=64)
    memory_bytes: int = Field(default_factory=lambda: machine_memory() // 2, gt=0)
    processes: int = Field(default=4096, gt=0)
    scratch_bytes: int = Field(default_factory=lambda: min(2**30, machine_memory() // 8), gt=0)
    scratch_files: int = Field(default=50_000, ge=1000)

    def by_name(self, *, has_own_count: bool) -> dict[str, int]:
        """The limits by their names in ``resource``.

        Args:
            has_own_count: Whether processes are counted per sandbox, not per user.
        """
        limits = {
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_DATA": self.memory_bytes,
            "RLIMIT_CORE": 0,
        }
        return {**limits, "RLIMIT_NPROC": self.processes} if has_own_count else limits
