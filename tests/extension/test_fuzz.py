"""A small part of the long run: ``python -m exploracoder_bench.server_fuzz``."""

from __future__ import annotations

import pytest
from exploracoder_bench.server_fuzz import fuzz

pytestmark = pytest.mark.thorough


async def test_random_requests_and_commands_do_the_server_no_harm() -> None:
    tally = await fuzz(requests=100, commands=15, seed=7)

    assert tally.harm == []
    assert sum(tally.answers.values()) > 100
    assert tally.sequences == 15
