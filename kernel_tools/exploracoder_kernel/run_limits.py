"""What a snippet may use."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """Limits of one run.

    Attributes:
        wall_seconds: After this the snippet is interrupted, and a second later its process killed.
            None: no limit.
        max_output_chars: Per stream and per result; the middle of what is longer is left out.
        memory_bytes: Address space of each process, with what it holds already; and memory of all
            processes of the branch together. None: no limit, or half of the machine in a sandbox.
        processes: Processes of the branch, itself included. None: no limit, or 64 in a sandbox.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    wall_seconds: float | None = Field(default=30.0, gt=0)
    max_output_chars: int = Field(default=20_000, ge=0)
    memory_bytes: int | None = Field(default=None, gt=0)
    processes: int | None = Field(default=None, gt=0)
