"""Whether code can be sandboxed on this machine, tried once for each Python."""

from __future__ import annotations

import asyncio
import sys

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sandbox import LevelChoice, choose

from exploracoder_jupyter.services import Services


class Sandboxes:
    """Tells which sandbox a kernel of this server gets."""

    def __init__(self, services: Services, level: LevelChoice) -> None:
        self._services = services
        self._level = level

    async def check(self, python: str) -> str:
        """A description of the sandbox for a Python.

        Raises SidecarError when there is none and nobody agreed to go on without one.
        """
        if self._services.is_remote:
            return "the gateway's"
        root = self._services.root
        return str(await asyncio.to_thread(choose, self._level, python=python, cwd=root))

    async def in_words(self) -> tuple[str, bool]:
        """A description of the sandbox, or why there is none; and whether there is one."""
        try:
            words = await self.check(sys.executable)
        except SidecarError as error:
            return str(error), False
        return words, not words.startswith("off")
