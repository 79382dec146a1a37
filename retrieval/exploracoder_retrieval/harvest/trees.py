"""Modules as griffe trees, read one at a time and only when they are asked for.

griffe's own loader reads a whole package before anything can be resolved. Libraries re-export from
others (torchdata from torch), so here a module is visited when a name leads into it, and what is
followed is what the library publishes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.files import MAX_SOURCE_BYTES, decode_python, read_bytes
from exploracoder_retrieval.harvest.compiled import CompiledModules
from exploracoder_retrieval.harvest.modules import ModuleFiles, ModuleFinder, is_published

if TYPE_CHECKING:
    import griffe

# griffe reads `__all__ += ...` and no method calls; the two mean the same.
_EXTEND = re.compile(r"^([ \t]*)__all__\.extend\((.+)\)[ \t]*(#.*)?$", re.MULTILINE)
_APPEND = re.compile(r"^([ \t]*)__all__\.append\((.+)\)[ \t]*(#.*)?$", re.MULTILINE)
EXTRA = "exploracoder"  # our drawer in griffe's extra data
# The source of one library and of what it publishes of others; the largest have a tenth of it.
MAX_ALL_BYTES = 400_000_000
_NAMESPACE = "# a namespace package has no file\n"


@dataclass(frozen=True, slots=True)
class ModuleTree:
    """A module's syntax: ``code`` of its source or its compiled form's description, and a stub."""

    name: str
    files: ModuleFiles | None
    code: griffe.Module
    stub: griffe.Module | None


class ModuleTrees:
    """Reads modules by name and keeps them for the length of one harvest."""

    def __init__(
        self,
        library: str,
        finder: ModuleFinder,
        compiled: CompiledModules,
        on_skip: Callable[[str, str], None],
        border: Callable[[Path], Path | None] = lambda _: None,
    ) -> None:
        self.library = library
        self.finder = finder
        self._border = border
        self._left_bytes = MAX_ALL_BYTES
        self._compiled = compiled
        self._on_skip = on_skip
        self._trees: dict[str, ModuleTree | None] = {}
        self._compiled_asked = False

    def read(self, name: str) -> ModuleTree | None:
        """The module's tree; None when there is no such module or it cannot be read."""
        if name not in self._trees:
            self._trees[name] = self._read(name)
        return self._trees[name]

    def is_module(self, name: str) -> bool:
        return self.finder.find(name) is not None or self.finder.is_builtin(name)

    def _read(self, name: str) -> ModuleTree | None:
        files = self.finder.find(name)
        if files is None:
            return self._builtin(name) if self.finder.is_builtin(name) else None
        code = self._visit(name, files.source) if files.source else None
        stub = self._visit(name, files.stub) if files.stub else None
        if code is None and files.compiled is not None:
            code = self._describe(name, files.compiled)
        if code is None and stub is None:
            return (
                ModuleTree(name, files, _parse(name, None, _NAMESPACE), None)
                if files.folders
                else None
            )
        if code is None:
            assert stub is not None
            return ModuleTree(name, files, stub, stub)
        return ModuleTree(name, files, code, stub)

    def _builtin(self, name: str) -> ModuleTree | None:
        tree = self._describe(name, None)
        return ModuleTree(name, None, tree, None) if tree else None

    def _visit(self, name: str, path: Path) -> griffe.Module | None:
        try:
            content = read_bytes(
                path, min(MAX_SOURCE_BYTES, self._left_bytes), inside=self._border(path)
            )
            self._left_bytes -= len(content)
            text = decode_python(content)
            text = _APPEND.sub(r"\1__all__ += [\2]", _EXTEND.sub(r"\1__all__ += \2", text))
            return _parse(name, path, text)
        except SyntaxError as error:
            self._on_skip(str(path), f"line {error.lineno}: {error.msg}")
        except (UnreadableSource, ValueError, RecursionError, MemoryError) as error:
            self._on_skip(str(path), str(error) or type(error).__name__)
        return None

    def _describe(self, name: str, path: Path | None) -> griffe.Module | None:
        # One process for all compiled modules of the library: most of its time goes into imports.
        wanted = dict(self._compiled_modules()) if not self._compiled_asked else {}
        self._compiled_asked = True
        self._compiled.describe({**wanted, name: path})
        stub = self._compiled.stub(name)
        try:
            return _parse(name, path, stub) if stub else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._compiled.give_up(name, "what it says of itself is not Python")
            return None

    def _compiled_modules(self) -> Iterator[tuple[str, Path | None]]:
        waiting = [self.library]
        while waiting:
            name = waiting.pop()
            files = self.finder.find(name)
            if files is None or not is_published(name.replace("._", ".")):
                continue
            if files.compiled and not files.source:
                yield name, files.compiled
            if files.folders:
                waiting += list(self.finder.submodules(name))


def _parse(name: str, path: Path | None, text: str) -> griffe.Module:
    import griffe

    # griffe opens nothing here; a path that does not exist is only what it reports.
    *parents, last = name.split(".")
    parent: griffe.Module | None = None
    for part in parents:  # relative imports are counted along these
        parent = griffe.Module(part, filepath=Path("__init__.py"), parent=parent)
    module = griffe.visit(
        last,
        filepath=path or Path(f"{name}.py"),
        code=text,
        parent=parent,
        extensions=griffe.Extensions(_recorder()),
    )
    _settle_overloads(module)
    return module


def _settle_overloads(scope: griffe.Module | griffe.Class) -> None:
    """Gives overloads that have no implementation, as in stubs, a member that holds them."""
    for name, overloads in scope.overloads.items():
        if overloads and name not in scope.members:
            *_, last = overloads
            last.overloads = list(overloads)
            scope.members[name] = last
    for member in scope.members.values():
        if not member.is_alias and member.is_class:
            _settle_overloads(member)  # type: ignore[arg-type]


def _recorder() -> griffe.Extension:
    import griffe

    class Recorder(griffe.Extension):
        """Keeps what griffe drops.

        ``explicit``: names of ``from x import Y as Y``, by which a stub says that it publishes Y.
        ``texts``: strings assigned to ``table["name"]``, from which decorators take docstrings.
        """

        def on_attribute_node(self, *, node: Any, agent: Any, **_: Any) -> None:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Subscript) and isinstance(node.value, ast.Constant):
                texts = agent.current.module.extra[EXTRA].setdefault("texts", {})
                texts[ast.unparse(target)] = node.value.value

        def on_alias_instance(
            self, *, alias: griffe.Alias, node: Any, agent: Any, **_: Any
        ) -> None:
            if any(name.asname == name.name == alias.name for name in node.names):
                agent.current.extra[EXTRA].setdefault("explicit", set()).add(alias.name)

    return Recorder()
