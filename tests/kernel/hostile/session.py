"""A session that is attacked: what there is to harm, and whether it was."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import site
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import exploracoder_kernel
from exploracoder_kernel import sandbox
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar

from .files import Files
from .machine import Machine, key_of
from .objects import Objects
from .servers import Servers
from .snippet import PRELUDE, Snippet, Variant

_QUICK = Limits(wall_seconds=60)
_OURS = Path(exploracoder_kernel.__file__).parent / "branch"

# What a branch sees of what others left: names with the tag, and which module an import gets.
_VIEW = """
import glob, importlib, os, sys
_places = {os.environ.get("HOME"), os.environ.get("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp"}
_places |= {os.getcwd(), os.path.join(os.environ.get("HOME", ""), ".config"), *sys.path}
_found = []
for _place in filter(None, _places):
    try:
        _found += [name for name in os.listdir(_place) if targets["tag"] in name]
    except OSError:
        pass
sys.modules.pop("calc", None)
importlib.invalidate_caches()
import calc
(sorted(_found), calc.value, os.environ.get("HOSTILE_LEFT"), os.path.exists("data.csv"))
"""
_EXPECTED_VIEW = "([], 'as it was', None, True)"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a snippet, with the ``differences`` from what was expected."""

    snippet: Snippet
    observation: Observation | None
    differences: tuple[str, ...]
    seconds: float


class HostileSession:
    """A sidecar in a sandbox, with things around it that it must not reach.

    There are a folder of the user's with a secret, a task's folder, servers, objects and processes
    of this machine, and in the sidecar a root branch and one beside it that hold values.

    Args:
        variant: Which sandbox.
        at_once: How many snippets may run at a time; the more, the more room they may take.
    """

    def __init__(self, variant: Variant | None = None, at_once: int = 2) -> None:
        self.variant = variant or Variant()
        self._at_once = at_once
        self._stack = contextlib.AsyncExitStack()
        self._mark = f"secret-{secrets.token_hex(8)}"
        self._tag = f"hostile-{secrets.token_hex(4)}"
        self.left_behind: list[str] = []

    async def __aenter__(self) -> HostileSession:
        """Set everything up.

        Raises:
            SidecarError: There is no such sandbox here.
        """
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def _open(self) -> None:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="hostile-")))
        self._files = Files(folder, self._mark, self._tag)
        self._stack.enter_context(_environment(self._mark, self._files.temporary))
        self._machine = Machine(folder, self._mark, self._tag, self._at_once)
        self._stack.callback(self._machine.close)
        self._objects = Objects.create(self._tag, key_of(self._tag))
        self._stack.callback(self._objects.remove)
        has_network = self.variant.level == "network"
        # Sockets and a FIFO among what the task reads, where they are in sight.
        self._servers = Servers(self._files.task, self._tag, has_network=has_network)
        self._stack.push_async_callback(self._servers.close)
        await self._servers.open()
        self._files.remember()
        self._stack.callback(self._note_what_is_left)
        await self._start()
        self._ours = _hashes(_OURS)
        self._machine.remember()

    def _note_what_is_left(self) -> None:
        self.left_behind = self._files.left_behind()

    async def _start(self) -> None:
        choice = sandbox.choose(
            self.variant.level,
            python=sys.executable,
            cwd=self._files.task,
            mechanisms=(self.variant.mechanism,),
        )
        self.sidecar = Sidecar(
            cwd=self._files.task,
            launcher=choice.launcher,
            limits=_QUICK,
            strategy=self.variant.strategy,
        )
        await self._stack.enter_async_context(self.sidecar)
        await self._prepare()

    async def _prepare(self) -> None:
        await self._require(self.sidecar.root, "kept = list(range(1000)); import os; os.getpid()")
        await self._require(self.sidecar.root, PRELUDE.read_text(encoding="utf-8"))
        root_pid = int(await self._require(self.sidecar.root, "os.getpid()"))
        await self._require(
            self.sidecar.root,
            f"targets = {self.targets!r}\n"
            f"targets['root'] = {root_pid}\n"
            "targets['scratch'] = os.environ['TMPDIR']\n"
            f"targets['mark'] = {self._mark[:8]!r} + {self._mark[8:]!r}",
        )
        self.sentinel = await self.sidecar.fork(self.sidecar.root)
        await self._require(self.sentinel, "kept.append('only here')")
        sentinel_pid = await self._require(self.sentinel, "os.getpid()")
        await self._require(self.sidecar.root, f"targets['sentinel'] = {sentinel_pid}")

    @property
    def targets(self) -> Mapping[str, object]:
        """What there is to harm, by the names that snippets know it under."""
        files = self._files
        return {
            **self._servers.targets,
            **self._machine.targets,
            "home": str(files.home),
            "task": str(files.task),
            "victims": str(files.victims),
            "site": site.getsitepackages()[0],
            "ours": str(_OURS),
            "segment": self._objects.segment,
            "semaphore": self._objects.semaphore,
            "queue": self._objects.queue,
            "posix_queue": self._objects.posix,
            "tag": self._tag,
            "key": key_of(self._tag),
        }

    async def _require(self, branch: str, code: str) -> str:
        observation = await self.sidecar.run(branch, code)
        if not observation.ran:
            raise SidecarError(f"The session could not be prepared: {observation.error}")
        return observation.result or ""

    async def attack(self, snippet: Snippet) -> Outcome:
        """Run a snippet in a branch of its own, and drop the branch."""
        start = time.monotonic()
        try:
            branch = await self.sidecar.fork(self.sidecar.root)
        except SidecarError as error:
            text = f"it could not be tried: {error}"
            return Outcome(snippet, None, (text,), time.monotonic() - start)
        differences = self._why_elsewhere(branch)
        observation: Observation | None = None
        if not differences:
            async with self._machine.watched():
                observation, differences = await self._attack(snippet, branch)
        await self.sidecar.drop(branch)
        return Outcome(snippet, observation, tuple(differences), time.monotonic() - start)

    def _why_elsewhere(self, branch: str) -> list[str]:
        """Why a branch is not beside those that it is to attack: then it has nobody to harm."""
        info = next(info for info in self.sidecar.tree() if info.id == branch)
        is_beside = info.created == self.variant.strategy
        return [] if is_beside else [f"it could not be tried: {info.note}"]

    async def _attack(self, snippet: Snippet, branch: str) -> tuple[Observation | None, list[str]]:
        differences: list[str] = []
        observation: Observation | None = None
        try:
            observation = await self.sidecar.run(branch, snippet.code, snippet.limits)
            differences += snippet.differences(observation)
            if snippet.is_clean_after:
                after = await self.sidecar.run(branch, "print('clean')\n6 * 7", _QUICK)
                is_clean = (after.stdout, after.stderr, after.result) == ("clean\n", "", "42")
                is_marked = after.result == "42" and "earlier cells" in after.note
                if not is_clean and not is_marked:
                    differences.append(f"the next cell gave {after}"[:500])
        except SidecarError as error:
            differences.append(f"no observation: {error}")
        return observation, differences

    async def harm(self) -> list[str]:
        """What is not as it was, in words; to be asked while nothing runs."""
        problems = []
        for branch, expected in ((self.sidecar.root, 1000), (self.sentinel, 1001)):
            problems += await self._changes_of(branch, "len(kept)", str(expected))
        problems += await self._changes_of(self.sentinel, _VIEW, _EXPECTED_VIEW)
        problems += await self._changes_of_a_fresh_branch()
        problems += self._files.harm(_OURS)
        if _hashes(_OURS) != self._ours:
            problems.append("the code that runs in branches has changed")
        problems += await self._servers.harm()
        problems += self._objects.harm()
        return [*problems, *await self._machine.harm()]

    async def _changes_of_a_fresh_branch(self) -> list[str]:
        try:
            branch = await self.sidecar.fork(self.sidecar.root)
            changes = await self._changes_of(branch, _VIEW, _EXPECTED_VIEW)
            await self.sidecar.drop(branch)
        except SidecarError as error:
            return [f"no branch can be made: {error}"]
        return changes

    async def _changes_of(self, branch: str, code: str, expected: str) -> list[str]:
        try:
            observation = await self.sidecar.run(branch, code, _QUICK)
        except SidecarError as error:
            return [f"branch {branch} is lost: {error}"]
        if observation.result == expected:
            return []
        return [f"branch {branch} says {observation.result or observation}"[:500]]


@contextlib.contextmanager
def _environment(secret: str, temporary: Path) -> Iterator[None]:
    """A secret in the owner's environment, and a folder of its own for its temporary files."""
    before = {name: os.environ.get(name) for name in ("HOSTILE_MARK", "TMPDIR")}
    os.environ |= {"HOSTILE_MARK": secret, "TMPDIR": str(temporary)}
    folder, tempfile.tempdir = tempfile.tempdir, None
    try:
        yield
    finally:
        tempfile.tempdir = folder
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _hashes(folder: Path) -> dict[str, str]:
    """Of the code that runs in branches."""
    return {
        str(path): f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
