"""Compiled modules, asked in a process of the user's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from exploracoder_retrieval.interpreter import Interpreter

ASK_TIMEOUT_S = 60.0
# A module that crashes the process is given up, and the ones after it are asked in a new process.
MAX_CRASHES = 5


class CompiledModules:
    """Stub texts of compiled modules; only these are imported, and only in the other process.

    With ``alone`` the packages around a compiled module are not run: a source tree's own code is
    never executed, not even its ``__init__``.
    """

    def __init__(
        self, interpreter: Interpreter, on_skip: Callable[[str, str], None], *, alone: bool
    ) -> None:
        self._interpreter = interpreter
        self._on_skip = on_skip
        self._alone = alone
        self._stubs: dict[str, str] = {}

    def describe(self, wanted: dict[str, Path | None]) -> None:
        """Asks for several modules at once: names with their files, None for builtin ones."""
        pending = {name: path for name, path in wanted.items() if name not in self._stubs}
        for _ in range(MAX_CRASHES):
            if not pending:
                return
            answered, reason = self._ask(pending)
            for name in answered:
                pending.pop(name, None)
            if pending:
                crashed = next(iter(pending))
                pending.pop(crashed)
                self._give_up(crashed, reason)
        for name in pending:
            self._give_up(name, "too many modules before it crashed the process that was asked")

    def stub(self, name: str) -> str:
        """The stub text of a module that was described; empty when it could not be."""
        return self._stubs.get(name, "")

    def _give_up(self, name: str, reason: str) -> None:
        self._stubs[name] = ""
        self._on_skip(name, reason)

    def _ask(self, wanted: dict[str, Path | None]) -> tuple[list[str], str]:
        questions = "".join(
            json.dumps({"name": name, "path": str(path) if self._alone and path else None}) + "\n"
            for name, path in wanted.items()
        )
        script = Path(__file__).with_name("ask_compiled.py")
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(
                [str(self._interpreter.executable), str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                cwd=folder,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            reason = "importing it ended the process"
            try:
                output, _ = process.communicate(questions, timeout=ASK_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
                reason = f"importing it took longer than {ASK_TIMEOUT_S:.0f} s"
        return self._take(output), reason

    def _take(self, output: str) -> list[str]:
        answered = []
        for line in output.splitlines():
            reply = json.loads(line)
            name = reply["name"]
            answered.append(name)
            if "error" in reply:
                self._give_up(name, f"it cannot be imported: {reply['error']}")
            else:
                self._stubs[name] = reply["stub"]
        return answered
