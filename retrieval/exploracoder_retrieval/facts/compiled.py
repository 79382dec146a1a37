"""Compiled modules, imported in a sandbox to find out what they contain."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from exploracoder_retrieval.errors import NotConfined
from exploracoder_retrieval.library_python import Interpreter

# A module that crashes the process is given up, and those after it are imported in a new process.
MAX_CRASHES = 5
_OFF = (
    "it is compiled, and nothing is imported of a folder that was only named: --import-compiled"
    " imports it, in a sandbox"
)
_NOWHERE = "it is compiled, and there is no sandbox here to import it in"


class CompiledModules:
    """Stub texts of compiled modules; only these are imported, and only in the sandbox.

    With ``alone``, the packages around a compiled module are not run. A module inside one of
    ``named_paths``, paths that were never installed, is imported only if the user has allowed it.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        on_skip: Callable[[str, str], None],
        *,
        alone: bool,
        named_paths: tuple[Path, ...] = (),
    ) -> None:
        self._interpreter = interpreter
        self._on_skip = on_skip
        self._alone = alone
        self._named_paths = named_paths
        self._stubs: dict[str, str] = {}

    def describe(self, modules: dict[str, Path | None]) -> None:
        """Describe several modules at once, given by name with their files, None for builtins."""
        pending = {name: path for name, path in modules.items() if name not in self._stubs}
        for name in [name for name, path in pending.items() if not self._is_allowed(path)]:
            pending.pop(name)
            self.give_up(name, _OFF)
        for _ in range(MAX_CRASHES):
            if not pending:
                return
            try:
                reason = self._ask(pending)
            except NotConfined as error:
                return self._give_up_all(pending, f"{_NOWHERE}. {error}")
            pending = {name: path for name, path in pending.items() if name not in self._stubs}
            if pending:
                culprit = next(iter(pending))
                pending.pop(culprit)
                self.give_up(culprit, f"importing it did not end well: {reason}")
        self._give_up_all(pending, "too many modules before it crashed the process that was asked")

    def stub(self, name: str) -> str:
        """The stub text of a described module; empty if it could not be described."""
        return self._stubs.get(name, "")

    def give_up(self, name: str, reason: str) -> None:
        """Leave a module out, and report why."""
        self._stubs[name] = ""
        self._on_skip(name, reason)

    def _give_up_all(self, names: dict[str, Path | None], reason: str) -> None:
        for name in names:
            self.give_up(name, reason)

    def _is_allowed(self, path: Path | None) -> bool:
        if path is None or self._interpreter.imports_named:
            return True
        is_installed = any(path.is_relative_to(folder) for folder in self._interpreter.search_paths)
        return is_installed and not any(path.is_relative_to(folder) for folder in self._named_paths)

    def _ask(self, modules: dict[str, Path | None]) -> str:
        """Keep the answers, and return why the process ended early, if it did."""
        if self._interpreter.confined_runner is None:
            raise NotConfined("None was given.")
        files = {
            name: str(path) if self._alone and path else None for name, path in modules.items()
        }
        script = Path(__file__).with_name("ask_compiled.py").read_text(encoding="utf-8")
        code = f"{script}\n\nanswer_all({files!r})\n"
        readable = tuple({path.parent: None for path in modules.values() if path})
        output, reason = self._interpreter.confined_runner(
            self._interpreter.executable, code, readable
        )
        for line in output.splitlines():
            self._take(line, modules)
        return reason or "it gave no answer"

    def _take(self, line: str, modules: dict[str, Path | None]) -> None:
        """Keep one answer. It is untrusted: whatever does not answer the question is ignored."""
        try:
            reply = json.loads(line)
            name, stub, error = reply["name"], reply.get("stub"), reply.get("error")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        if not isinstance(name, str) or name not in modules or name in self._stubs:
            return
        if isinstance(stub, str):
            self._stubs[name] = stub
        else:
            self.give_up(name, f"it cannot be imported: {str(error)[:300]}")
