"""The one open exploration: what becomes of it when another one begins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from exploracoder.errors import SetupError
from exploracoder_jupyter.magics.keeper import Keeper


class FakeLive:
    """An exploration that rests, and cannot be saved while there is no room."""

    has_room = False

    async def idle(self) -> None:
        """It rests."""

    async def save(self) -> None:
        """Save, if there is room."""
        if not self.has_room:
            raise SetupError("No space left.")


@asynccontextmanager
async def opened(live: Any) -> AsyncIterator[Any]:
    """A manager that yields ``live``, or raises it."""
    await asyncio.sleep(0)
    if isinstance(live, Exception):
        raise live
    yield live


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.close()


def test_what_cannot_be_saved_stays_open(keeper: Keeper) -> None:
    first, second = FakeLive(), FakeLive()
    keeper.open(opened(first), lambda error: None).wait()
    with pytest.raises(SetupError, match="No space left"):
        keeper.open(opened(second), lambda error: None)
    kept = keeper.found
    first.has_room = True
    keeper.open(opened(second), lambda error: None).wait()

    assert kept is first
    assert keeper.found is second


def test_an_unexpected_error_is_in_the_log(
    keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    errors = list[str]()
    with pytest.raises(RuntimeError):
        keeper.open(opened(RuntimeError("spilt")), errors.append).wait()

    assert "in the log" in errors[0]
    assert "RuntimeError: spilt" in caplog.text
