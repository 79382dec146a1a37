"""Snippets that mean harm: each has its observation, and everything else is as it was."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from exploracoder_bench import hostile_snippets
from exploracoder_bench.hostile_session import HostileSession
from exploracoder_bench.hostile_snippets import Snippet

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session() -> AsyncIterator[HostileSession]:
    """One session for all of them."""
    async with HostileSession() as opened:
        yield opened


@pytest.mark.parametrize("snippet", hostile_snippets.read(), ids=str)
async def test_a_hostile_snippet_is_an_observation_and_nothing_else(
    session: HostileSession, snippet: Snippet
) -> None:
    outcome = await session.attack(snippet)

    assert outcome.differences == ()
    assert await session.harm() == []


async def test_there_are_at_least_sixty_snippets() -> None:
    snippets = hostile_snippets.read()

    assert len({str(snippet) for snippet in snippets}) == len(snippets) >= 60
