"""Run an exploration's accepted cells again without a model, and report what changed.

All user interfaces share the verdict and its wording: a `Replay` says which libraries have another
version than the recorded one, and for each cell whether it did the same.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Literal

from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation, Variable

from exploracoder.engine.reading import snippet_names
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.running.oracle import run_in_copy
from exploracoder.state import Exploration, State

ReplayResult = Literal["same", "changed", "failed"]

# Kinds of output that say the same when they are made again; HTML and SVG hold random ids.
_COMPARED = (
    "text/plain",
    "text/markdown",
    "text/latex",
    "application/json",
    "image/png",
    "image/jpeg",
)
_PNG, _PNG_NOTES = b"\x89PNG\r\n\x1a\n", (b"tEXt", b"iTXt", b"zTXt", b"tIME")
# What is imported or defined is no result.
_NO_RESULTS = ("type", "function", "builtin_function_or_method")


class VersionChange(State):
    """A library whose installed version is not the one the exploration was made with."""

    library: str
    before: str
    now: str

    def __str__(self) -> str:
        """Describe it in one line."""
        return f"library version changed: {self.library} {self.before} → {self.now or 'unknown'}"


class ReplayedCell(State):
    """One accepted cell, run again: ``before`` and ``now`` are its outputs as text, followed by the
    variables and pictures that are not as they were.

    ``cell`` is ``context``, a subtask's id, ``solution``, ``calls`` or ``check``. ``versions`` are
    the changes of the libraries that its code uses, whether or not its output changed with them.
    """

    cell: str
    goal: str
    result: ReplayResult
    before: str
    now: str
    versions: tuple[VersionChange, ...] = ()

    @property
    def difference(self) -> tuple[str, ...]:
        """The lines of a unified diff of the outputs; empty if they are the same."""
        return () if self.result == "same" else difference(self.before, self.now)

    def __str__(self) -> str:
        """Describe it in one line, followed by lines with what changed."""
        below = (*map(str, self.versions), *self.difference)
        lines = [f"{self.result:8} {self.cell}: {self.goal}"]
        return "\n".join([*lines, *(f"         {line}" for line in below)])


class Replay(State):
    """The result of running an exploration again."""

    versions: tuple[VersionChange, ...] = ()
    cells: tuple[ReplayedCell, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether there are cells, and all did what they did before, whatever the versions."""
        return bool(self.cells) and all(cell.result == "same" for cell in self.cells)

    @property
    def verdict(self) -> str:
        """One line: how many cells are as they were."""
        if not self.cells:
            return "There was nothing to run: no cell of it has run yet."
        same = sum(cell.result == "same" for cell in self.cells)
        return f"{same} of {len(self.cells)} cells are as they were."

    def __str__(self) -> str:
        """The whole result in words: versions, cells, verdict."""
        return "\n".join([*map(str, self.versions), *map(str, self.cells), self.verdict])


class Reliance:
    """Tells which of the changed libraries the code of an exploration's cell uses."""

    def __init__(self, exploration: Exploration, changes: Sequence[VersionChange]) -> None:
        import_names = {library.name: library.import_name for library in exploration.libraries}
        self._changes = {import_names.get(one.library, one.library): one for one in changes}
        self._brought_in = snippet_names.read(exploration.task.context, KnownApis(())).imports

    def of(self, code: str, apis: Iterable[str] = ()) -> tuple[VersionChange, ...]:
        """The changes to libraries that ``code`` imports, or uses by a name the context imports.

        ``apis`` are further import paths that it is known to use, such as a candidate's.
        """
        paths = {*apis, *self._paths(snippet_names.read(code, KnownApis(())))}
        return tuple(
            change
            for name, change in self._changes.items()
            if any(path == name or path.startswith(f"{name}.") for path in paths)
        )

    def _paths(self, code_names: snippet_names.Names) -> Iterator[str]:
        yield from code_names.imports.values()
        for name in code_names.loads:
            if name in self._brought_in:
                yield self._brought_in[name]


async def replay(
    sidecar: Executor, exploration: Exploration, versions: Sequence[VersionChange] = ()
) -> AsyncIterator[ReplayedCell]:
    """Run the context, the chain, and the solution with its check or calls again, cell by cell.

    Self-contained candidates each run in a fresh fork, as they did originally. Each cell names
    those of ``versions`` whose library it uses.
    """
    task, reliance = exploration.task, Reliance(exploration, versions)
    if task.context:
        now = await sidecar.run(sidecar.root, task.context)
        yield _compare("context", "context", None, now, reliance.of(task.context))
    live = exploration.settings.candidate_style == "live"
    branch = await sidecar.fork(sidecar.root)
    for subtask, candidate in ((link.subtask, link.candidate) for link in exploration.trace):
        if not candidate.ran:
            continue
        if not live:
            branch = await sidecar.fork(sidecar.root)
        now = await sidecar.run(branch, candidate.code)
        changes = reliance.of(candidate.code, candidate.apis)
        yield _compare(subtask.id, subtask.goal, candidate.observation, now, changes)
    if exploration.solution is None or not exploration.solution.final.is_good:
        return
    final = exploration.solution.final
    is_class = task.target is not None
    if is_class:
        now, check_observation = await run_in_copy(sidecar, task, final.code)
    else:
        branch = await sidecar.fork(sidecar.root)
        now, check_observation = await sidecar.run(branch, final.code), None
    goal = "the class in its file" if is_class else "the solution"
    yield _compare("solution", goal, final.observation, now, reliance.of(final.code))
    if final.call is not None and not is_class:
        now = await sidecar.run(branch, final.call.code)
        goal = f"the call {final.call.called}"
        yield _compare("calls", goal, final.call.observation, now, reliance.of(final.call.code))
    if task.check and not is_class:
        check_observation = await sidecar.run(branch, task.check)
    if check_observation is not None:
        changes = reliance.of(task.check)
        yield _compare("check", "the check", final.check_observation, check_observation, changes)


def difference(before: str, now: str) -> tuple[str, ...]:
    """The lines of a unified diff between two texts; empty if only addresses differ."""
    if stable(before) == stable(now):
        return ()
    texts = before.splitlines(), now.splitlines()
    return tuple(difflib.unified_diff(*texts, "before", "now", lineterm="", n=1))


def shown(observation: Observation | None) -> str:
    """What a run showed, as text: output, value, error."""
    if observation is None:
        return ""
    parts = [observation.stdout.rstrip(), observation.result or ""]
    if observation.error is not None:
        parts.append(f"{observation.error.ename}: {observation.error.evalue}")
    elif not observation.ran:
        parts.append(f"The run ended as {observation.status}.")
    return "\n".join(part for part in parts if part)


def stable(text: str) -> str:
    """Mask what differs from run to run: addresses of objects, also those that are cut off."""
    return re.sub(r"\b0x(?:[0-9a-fA-F]{4,}\b|[0-9a-fA-F]*(?=…))", "0x…", text)


def _compare(
    cell: str,
    goal: str,
    before: Observation | None,
    now: Observation,
    versions: tuple[VersionChange, ...],
) -> ReplayedCell:
    old, new = shown(before), shown(now)
    if before is not None and now.ran:
        for was, is_now in _differing(before, now):
            old, new = f"{old}\n{was}".strip("\n"), f"{new}\n{is_now}".strip("\n")
    result: ReplayResult = "same"
    if not now.ran and (before is None or before.ran):
        result = "failed"
    elif before is not None and stable(old) != stable(new):
        result = "changed"
    return ReplayedCell(cell=cell, goal=goal, result=result, before=old, now=new, versions=versions)


def _differing(before: Observation, now: Observation) -> Iterator[tuple[str, str]]:
    """The variables and pictures that are not as they were: each as it was, and as it is now.

    Variables that are not among ``before`` were not looked at then.
    """
    variables = {one.name: one for one in now.variables}
    pairs = [
        (_described(one, variables.get(one.name)), _described(variables.get(one.name), one))
        for one in before.variables
        if one.type not in _NO_RESULTS
    ]
    pairs += itertools.zip_longest(_displayed(before), _displayed(now), fillvalue="")
    yield from ((was, is_now) for was, is_now in pairs if stable(was) != stable(is_now))


def _described(variable: Variable | None, other: Variable | None) -> str:
    """A variable in a line; without its preview where the ``other`` has none to compare."""
    if variable is None:
        return ""
    size = ""
    if variable.shape is not None:
        size = f", shape {variable.shape}"
    elif variable.length is not None:
        size = f", length {variable.length}"
    value = variable.preview_error or variable.preview
    is_comparable = other is None or bool(other.preview_error or other.preview)
    preview = f" = {value}" if value and is_comparable else ""
    return f"{variable.name}: {variable.type}{size}{preview}"


def _displayed(observation: Observation) -> Iterator[str]:
    """What a run displayed besides its text, a line or text for each kind of it."""
    for output in observation.outputs:
        data = output.get("data") or {}
        # The text of a value is the result already.
        skipped = "text/plain" if output.get("output_type") == "execute_result" else ""
        for kind in _COMPARED:
            if kind in data and kind != skipped:
                yield f"{kind}: {_comparable(kind, data[kind])}"


def _comparable(kind: str, content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content, sort_keys=True)
    if not kind.startswith("image/"):
        return text
    try:
        picture = _pixels(b64decode(text))
    except ValueError:
        picture = text.encode()
    return hashlib.sha256(picture).hexdigest()[:16]


def _pixels(picture: bytes) -> bytes:
    """A PNG without its notes, where matplotlib names its version; other pictures as they are."""
    if not picture.startswith(_PNG):
        return picture
    parts, start = [_PNG], len(_PNG)
    while start + 12 <= len(picture):
        # The length of the data, the chunk's name, the data, and a checksum.
        end = start + 12 + int.from_bytes(picture[start : start + 4], "big")
        if picture[start + 4 : start + 8] not in _PNG_NOTES:
            parts.append(picture[start:end])
        start = end
    return b"".join(parts)
