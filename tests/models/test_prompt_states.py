"""What the embedded model's server has read of a library outlives it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.local import EmbeddedModel
from exploracoder.models.prompt_states import PromptStates
from exploracoder.models.weights import WeightsStore

_LIBRARY = "The library stores boxes.\n" + "\n".join(
    f"boxes.box_{number}(width: int, height: int) -> Box: a box of the kind {number}."
    for number in range(60)
)
_SAMPLING = Sampling(max_tokens=8)


def _conversation(task: str) -> list[Message]:
    text = f"{_LIBRARY}\n\nTask: {task}"
    system = Message("system", "You write Python with the library boxes.")
    return [system, Message("user", text, stable_chars=len(_LIBRARY))]


@pytest.fixture(name="weights")
def weights_fixture(tmp_path: Path) -> WeightsStore:
    """The embedded model's weights, in a cache folder of the test's own."""
    real = WeightsStore()
    if not real.is_verified:
        pytest.skip("the embedded model is not there: exploracoder model pull")
    folder = tmp_path / "models"
    folder.mkdir()
    for path in real.folder.glob(f"{real.model.file_name}*"):
        if path.suffix != ".lock":
            (folder / path.name).hardlink_to(path)
    return WeightsStore(real.model, folder)


async def _cached_tokens(weights: WeightsStore, task: str) -> tuple[str, int, int]:
    """A new server's first reply, and its prompt's tokens: those not read anew, and all."""
    async with EmbeddedModel(linger_s=0.0, store=weights) as model:
        reply = await model.complete(_conversation(task), _SAMPLING)
    return reply.text, reply.usage.cached_tokens, reply.usage.prompt_tokens


@pytest.mark.model
async def test_a_server_that_is_started_later_need_not_read_the_library_again(
    weights: WeightsStore,
) -> None:
    folder = weights.folder.parent / "prompt_states"
    await _cached_tokens(weights, "Make a box.")
    (state,) = folder.iterdir()
    mtime_ns = state.stat().st_mtime_ns

    _, cached, tokens = await _cached_tokens(weights, "Name the widest box.")

    assert cached > 0.9 * tokens
    (again,) = folder.iterdir()
    assert again == state
    assert again.stat().st_mtime_ns >= mtime_ns


@pytest.mark.model
async def test_a_state_that_is_damaged_is_made_anew(weights: WeightsStore) -> None:
    folder = weights.folder.parent / "prompt_states"
    first, _, _ = await _cached_tokens(weights, "Make a box.")
    (state,) = folder.iterdir()
    whole = state.stat().st_size
    with state.open("r+b") as file:
        file.truncate(whole // 3)

    text, _, _ = await _cached_tokens(weights, "Make a box.")

    assert text == first
    (state,) = folder.iterdir()
    assert state.stat().st_size == whole


@pytest.mark.model
async def test_states_used_longest_ago_go_first(weights: WeightsStore, tmp_path: Path) -> None:
    folder = weights.folder.parent / "prompt_states"
    async with EmbeddedModel(linger_s=0.0, store=weights) as model:
        await model.complete(_conversation("Make a box."), _SAMPLING)
        (state,) = folder.iterdir()
        size = state.stat().st_size
        for number in range(3):
            (folder / f"old-{number}.state").write_bytes(bytes(size))
        states = PromptStates(folder, "http://127.0.0.1:9", "", "", "", most_bytes=2 * size)

        states._trim()

        names = {path.name for path in folder.iterdir()}
    assert len(names) == 2


def test_a_server_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    states = PromptStates(tmp_path, "http://127.0.0.1:9", "", "", "")

    asyncio.run(states.prepare(_conversation("Make a box.")))

    assert list(tmp_path.iterdir()) == []
