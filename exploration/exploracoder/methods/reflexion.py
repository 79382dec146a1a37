"""Reflexion: the oracle's words and a reflection on them, without the repository.

Source: Shinn et al. 2023, as RepoClassBench compares with it in section 5.1 and table 2.
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.class_writing import guess, improve, may_go_on, reflect, tried
from exploracoder.methods.parameters import CLASS_PARAMETERS


class Reflexion:
    """Guess; while it fails, reflect and write it again."""

    name = "reflexion"
    published: Mapping[str, object] = CLASS_PARAMETERS
    overrides: Mapping[str, object] = {}
    writes_class = True
    plans = False

    async def run(self, bench: Workbench) -> None:
        """Go on until a text passes or the oracle has been called often enough."""
        if not tried(bench):
            await guess(bench)
        while may_go_on(bench):
            failed = tried(bench)[-1]
            await improve(bench, failed, await reflect(bench, failed))
