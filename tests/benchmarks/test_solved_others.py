"""The caches in which each problem finds the others of its library solved."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.errors import SetupError
from exploracoder_bench.problems import Problem
from exploracoder_bench.solved_others import caches_of_solved

pytestmark = pytest.mark.usefixtures("own_cache")


def test_a_library_that_is_not_indexed_is_named(
    problems: dict[str, Problem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "empty"))

    with pytest.raises(SetupError, match=r"--solved-others: .*frumpkin"):
        caches_of_solved(list(problems.values()), tmp_path / "caches")
