"""Many forks in one session leave nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_bench import fork_leaks
from exploracoder_kernel.sandbox import Sandboxing


async def test_hundreds_of_forks_leave_no_process_no_descriptor_and_no_memory(
    tmp_path: Path, sandboxing: Sandboxing, strategy: str
) -> None:
    if strategy == "replay":
        pytest.skip("--strategy replay: nothing is forked")

    early, late = await fork_leaks.play(forks=300, level=sandboxing.level, alive=3, cwd=tmp_path)

    assert (early.forks, late.forks) == (100, 300)
    assert late.processes == early.processes
    assert late.owner.descriptors == early.owner.descriptors
    assert late.keeper.descriptors == early.keeper.descriptors
    assert late.keeper.resident_mb - early.keeper.resident_mb < 1
    assert late.owner.resident_mb - early.owner.resident_mb < 5
