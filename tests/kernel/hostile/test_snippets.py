"""Snippets that mean harm: each has its observation, and everything else is as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from exploracoder_bench import hostile_snippets
from exploracoder_bench.hostile_session import HostileSession, Outcome
from exploracoder_bench.hostile_snippets import Variant
from exploracoder_kernel import sandbox
from exploracoder_kernel.errors import SandboxUnavailable

VARIANTS = (Variant("bubblewrap"), Variant("landlock"))
# What is different where there is a network.
NETWORK_FAMILIES = ("network", "reaching", "ipc")


def can_be_had(variant: Variant) -> bool:
    """Whether this machine has such a sandbox."""
    try:
        sandbox.choose(
            variant.level,
            python=sys.executable,
            cwd=Path.cwd(),
            mechanisms=(variant.mechanism,),
        )
    except SandboxUnavailable:
        return False
    return True


async def play(variant: Variant, *families: str) -> tuple[list[Outcome], list[str]]:
    """Run the snippets of some families, or all, in one session: outcomes, and harm."""
    if not can_be_had(variant):
        pytest.skip(f"there is no such sandbox here: {variant}")
    session = HostileSession(variant)
    outcomes, harm = [], []
    async with session:
        for snippet in hostile_snippets.read(variant=variant):
            if not families or snippet.family in families:
                outcomes.append(await session.attack(snippet))
                harm += [f"{snippet}: {text}" for text in await session.harm()]
    return outcomes, harm + [f"left behind: {name}" for name in session.left_behind]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
async def test_hostile_snippets_are_observations_and_nothing_else(variant: Variant) -> None:
    outcomes, harm = await play(variant)

    assert harm == []
    assert [(str(one.snippet), one.differences) for one in outcomes if one.differences] == []


async def test_with_the_network_nothing_else_of_this_machine_is_reached() -> None:
    for mechanism in ("bubblewrap", "landlock"):
        outcomes, harm = await play(Variant(mechanism, "network"), *NETWORK_FAMILIES)

        assert harm == []
        assert [(str(one.snippet), one.differences) for one in outcomes if one.differences] == []


async def test_branches_that_are_built_again_are_as_safe() -> None:
    families = ("renames", "leftovers", "passing")
    outcomes, harm = await play(Variant("bubblewrap", "strict", "replay"), *families)

    assert harm == []
    assert [(str(one.snippet), one.differences) for one in outcomes if one.differences] == []


def test_there_are_at_least_two_hundred_snippets() -> None:
    snippets = hostile_snippets.read()

    assert len({str(snippet) for snippet in snippets}) == len(snippets) >= 200
