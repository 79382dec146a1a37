"""Snippets that mean harm: each has its observation, and everything else is as it was."""

from __future__ import annotations

import asyncio
import collections
import os
import random
import sys
from pathlib import Path

import pytest
from exploracoder_kernel import sandbox
from exploracoder_kernel.errors import SandboxUnavailable

from .session import HostileSession, Outcome
from .snippet import Snippet, Variant, read

VARIANTS = (Variant("bubblewrap"), Variant("landlock"))
# What is different where there is a network.
NETWORK_FAMILIES = ("network", "reaching", "ipc")
JOBS = 8


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


def require(variant: Variant) -> None:
    """Skip the test where there is no such sandbox."""
    if not can_be_had(variant):
        pytest.skip(f"there is no such sandbox here: {variant}")


def differences(outcomes: list[Outcome]) -> list[tuple[str, tuple[str, ...]]]:
    """What did not come out as expected."""
    return [(str(one.snippet), one.differences) for one in outcomes if one.differences]


async def play(variant: Variant, *families: str) -> tuple[list[Outcome], list[str]]:
    """Run the snippets of some families, or all, in one session: outcomes, and harm."""
    require(variant)
    session = HostileSession(variant)
    outcomes, harm = [], []
    async with session:
        for snippet in read(variant=variant):
            if not families or snippet.family in families:
                outcomes.append(await session.attack(snippet))
                harm += [f"{snippet}: {text}" for text in await session.harm()]
    return outcomes, harm + [f"left behind: {name}" for name in session.left_behind]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
async def test_hostile_snippets_are_observations_and_nothing_else(variant: Variant) -> None:
    outcomes, harm = await play(variant)

    assert harm == []
    assert differences(outcomes) == []


async def test_with_the_network_nothing_else_of_this_machine_is_reached() -> None:
    for mechanism in ("bubblewrap", "landlock"):
        outcomes, harm = await play(Variant(mechanism, "network"), *NETWORK_FAMILIES)

        assert harm == []
        assert differences(outcomes) == []


async def test_branches_that_are_built_again_are_as_safe() -> None:
    families = ("renames", "leftovers", "passing")
    outcomes, harm = await play(Variant("bubblewrap", "strict", "replay"), *families)

    assert harm == []
    assert differences(outcomes) == []


@pytest.mark.thorough
@pytest.mark.timeout(0)
@pytest.mark.parametrize("variant", [*VARIANTS, Variant(level="network")], ids=str)
async def test_no_harm_comes_of_many_snippets_at_a_time(variant: Variant) -> None:
    """``EXPLORACODER_TEST_ROUNDS`` says how often each is run, in another order each time."""
    require(variant)
    snippets = read(variant=variant)
    session = HostileSession(variant, JOBS)
    outcomes: list[Outcome] = []
    harm: list[str] = []

    async def work(waiting: collections.deque[Snippet]) -> None:
        while waiting:
            outcomes.append(await session.attack(waiting.popleft()))

    async with session:
        for _ in range(int(os.environ.get("EXPLORACODER_TEST_ROUNDS", "1"))):
            waiting = collections.deque(random.sample(snippets, len(snippets)))
            await asyncio.gather(*(work(waiting) for _ in range(JOBS)))
            harm += await session.harm()
    print(f"{len(outcomes)} runs; not as expected: {differences(outcomes)}")  # noqa: T201 - a figure

    assert harm == []
    assert session.left_behind == []


def test_there_are_at_least_two_hundred_snippets() -> None:
    snippets = read()

    assert len({str(snippet) for snippet in snippets}) == len(snippets) >= 200
