"""Direct generation: the task and nothing else (ExploraCoder, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.one_shot import ONE_SHOT, SAMPLED, write


class Direct:
    """One sample from memory."""

    name = "direct"
    published: Mapping[str, object] = SAMPLED
    overrides: Mapping[str, object] = ONE_SHOT
    writes_class = False
    plans = False

    async def run(self, bench: Workbench) -> None:
        """Ask once, run once."""
        await write(bench, ())
