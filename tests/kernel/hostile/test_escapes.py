"""Ways out of the sandbox, and around it, that once were open."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_bench.escapes import from_files, from_leftovers, from_snippets
from exploracoder_bench.hostile_snippets import Strategy, Variant

from .test_snippets import VARIANTS, can_be_had


@pytest.fixture(params=VARIANTS, ids=str)
def variant(request: pytest.FixtureRequest) -> Variant:
    """Each sandbox that can be had here."""
    if not can_be_had(request.param):
        pytest.skip(f"there is no such sandbox here: {request.param}")
    assert isinstance(request.param, Variant)
    return request.param


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexes that the tests share."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("strategy", ["fork", "replay"])
async def test_folders_with_the_numbers_of_branches_are_left_alone(
    tmp_path: Path, variant: Variant, strategy: Strategy
) -> None:
    kind = Variant(variant.mechanism, variant.level, strategy)

    assert await from_snippets.renames(kind, tmp_path / "renames") == []


def test_modules_in_the_temporary_folder_are_not_run(
    tmp_path: Path, variant: Variant, cache: Path
) -> None:
    assert from_files.temporary_modules(variant, tmp_path / "modules", cache) == []


def test_modules_beside_a_library_are_not_run(
    tmp_path: Path, variant: Variant, cache: Path
) -> None:
    assert from_files.startup_files(variant, tmp_path / "startup", cache) == []


def test_no_check_passes_by_what_a_candidate_has_left(
    tmp_path: Path, variant: Variant, cache: Path
) -> None:
    places = from_leftovers.PLACES

    assert from_leftovers.verdict_with(variant, tmp_path / "left", cache, places) == ""


async def test_a_limit_of_time_means_what_it_says(tmp_path: Path, variant: Variant) -> None:
    assert await from_snippets.time_limit(variant, tmp_path / "limits") == []


@pytest.mark.parametrize("tree", from_files.TREES)
def test_an_odd_tree_is_read_within_bounds(tmp_path: Path, cache: Path, tree: str) -> None:
    assert from_files.trouble_with(tree, Variant(), tmp_path / "tree", cache) == ""
