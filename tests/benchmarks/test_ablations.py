"""Parts of the method that are left out: which there are, and the rows that they make."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder.settings import PROFILES, Settings, make_settings
from exploracoder_bench.ablations import PARTS, find_ablations

SMALL, STANDARD = PROFILES["small"], PROFILES["standard"]


def names(choice: str, settings: Settings) -> list[str]:
    return [one.name for one in find_ablations([choice], settings)]


@pytest.mark.parametrize("settings", [SMALL, STANDARD])
def test_each_ablation_changes_settings_and_is_named_once(settings: Settings) -> None:
    ablations = find_ablations(["all", "each", "bare", "sieve"], settings)

    assert len({one.row for one in ablations}) == len(ablations)
    for one in ablations:
        variant = make_settings(settings.profile, **one.settings)
        assert variant != settings
        assert settings.cells == variant.cells or one.name == "no-cells"


def test_a_part_that_a_profile_does_without_cannot_be_left_out() -> None:
    small, standard = names("all", SMALL), names("all", STANDARD)

    assert {"no-grammar", "no-first-tries"} <= set(small) - set(standard)
    assert {"no-looks", "no-functions"} <= set(standard) - set(small)
    with pytest.raises(InputError, match="does without looks"):
        find_ablations(["looks"], SMALL)
    with pytest.raises(InputError, match="no ablation 'tea'"):
        find_ablations(["tea"], SMALL)


def test_only_one_part_is_on_when_all_the_others_are_off() -> None:
    bare, alone = find_ablations(["bare", "only-grammar"], SMALL)

    assert {**alone.settings, "existing_names": False} == bare.settings
    assert "--set=sift=False" in alone.options
    assert bare.row == "exploration-bare"
    assert len(names("each", SMALL)) == 1 + len(names("all", SMALL))


def test_the_page_has_every_part_with_what_switches_it_off() -> None:
    page = (Path(__file__).parents[2] / "docs/benchmarks.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]

    for part in PARTS:
        (row,) = (line for line in rows if line.startswith(f"| `{part.name}` | {part.what} |"))
        assert all(f"`{name}={str(value).lower()}`" in row for name, value in part.off.items())
