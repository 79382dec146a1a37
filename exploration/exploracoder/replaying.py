"""Replays a saved exploration in a sidecar of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.sandbox import Sandboxing
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.strategies import StrategyChoice

from exploracoder.bringing import AnySource, bring
from exploracoder.errors import SetupError
from exploracoder.installed import InstalledLibraries
from exploracoder.replay import Replay, ReplayedCell, replay


async def replay_with(
    libraries: InstalledLibraries,
    *,
    python: str | Path,
    strategy: StrategyChoice,
    sandboxing: Sandboxing,
    source: AnySource | None,
    tell: Callable[[ReplayedCell], None] = lambda cell: None,
) -> Replay:
    """Run the accepted cells of the libraries' exploration again; ``tell`` is told of each.

    Raises:
        InputError: Variables that it began with cannot be brought.
        SetupError: The sidecar cannot be started, or was lost.
    """
    exploration, cells = libraries.exploration, []
    sidecar = Sidecar(
        python,
        limits=Limits(wall_seconds=exploration.settings.run_seconds),
        strategy=strategy,
        env=libraries.environment,
        launcher=sandboxing.launcher,
    )
    try:
        async with sidecar:
            await bring(sidecar, source, exploration.brought)
            async for cell in replay(sidecar, exploration, libraries.versions):
                tell(cell)
                cells.append(cell)
    except SidecarError as error:
        raise SetupError(str(error)) from error
    return Replay(versions=libraries.versions, cells=tuple(cells))
