"""Many forks in one session leave nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_bench import fork_leaks
from exploracoder_bench.hostile_snippets import Mechanism, Variant

from .test_snippets import can_be_had


@pytest.mark.parametrize("mechanism", ["bubblewrap", "landlock"])
async def test_hundreds_of_forks_leave_nothing_behind(tmp_path: Path, mechanism: Mechanism) -> None:
    if not can_be_had(Variant(mechanism)):
        pytest.skip(f"there is no such sandbox here: {mechanism}")

    early, late = await fork_leaks.play(
        forks=300, level="strict", alive=3, cwd=tmp_path, mechanisms=(mechanism,)
    )

    assert (early.forks, late.forks) == (100, 300)
    assert early.growth(late) == []
    assert late.first_mb - early.first_mb < 1


async def test_what_has_grown_is_named(tmp_path: Path) -> None:
    few, _ = await fork_leaks.play(forks=3, level="off", alive=1, cwd=tmp_path)
    many, _ = await fork_leaks.play(forks=3, level="off", alive=3, cwd=tmp_path)

    assert few.growth(few) == []
    assert f"processes: {few.processes} became {many.processes}" in few.growth(many)
