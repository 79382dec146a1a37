"""Which of the libraries that have another version a cell relies on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from exploracoder.engine.reading import names
from exploracoder.engine.reading.known import KnownApis
from exploracoder.state import Exploration

if TYPE_CHECKING:
    from exploracoder.replay import VersionChange


class Reliance:
    """Tells of each cell of an exploration which of the changed libraries its code uses."""

    def __init__(self, exploration: Exploration, changes: Sequence[VersionChange]) -> None:
        imported = {library.name: library.import_name for library in exploration.libraries}
        self._changes = {imported.get(one.library, one.library): one for one in changes}
        self._brought_in = names.read(exploration.task.context, KnownApis(())).imported

    def of(self, code: str, apis: Iterable[str] = ()) -> tuple[VersionChange, ...]:
        """The changes of what ``code`` imports, or uses by a name that the context imports.

        ``apis`` are import paths that it is known to use besides: those of a candidate.
        """
        paths = {*apis, *self._paths(names.read(code, KnownApis(())))}
        return tuple(
            change
            for name, change in self._changes.items()
            if any(path == name or path.startswith(f"{name}.") for path in paths)
        )

    def _paths(self, found: names.Names) -> Iterator[str]:
        yield from found.imported.values()
        for name in found.loaded:
            if name in self._brought_in:
                yield self._brought_in[name]
