"""A session that is attacked: what there is to harm, and whether it was."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import site
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import exploracoder_kernel
from exploracoder_kernel import sandbox
from exploracoder_kernel.branch import linux
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.sidecar import Sidecar

from exploracoder_bench.hostile_snippets import Snippet

_PATIENCE_SECONDS = 30.0
_QUICK = Limits(wall_seconds=60)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a snippet: ``differences`` from what was expected, ``harm`` to anything else."""

    snippet: Snippet
    observation: Observation | None
    differences: tuple[str, ...]
    seconds: float


class HostileSession:
    """A sidecar in the strict sandbox, with things around it that it must not reach.

    There are a folder of the user's with a secret, a task's folder, servers on this machine, and in
    the sidecar a root branch and one beside it that hold values.
    """

    def __init__(self) -> None:
        self._stack = contextlib.AsyncExitStack()
        self._mark = f"secret-{secrets.token_hex(8)}"
        self._received = 0

    async def __aenter__(self) -> HostileSession:
        """Set everything up.

        Raises:
            SidecarError: There is no bubblewrap here.
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
        self._home, self._task = folder / "home", folder / "task"
        self._fill()
        os.environ["HOSTILE_MARK"] = self._mark
        self._stack.callback(os.environ.pop, "HOSTILE_MARK")
        self._start_bystander()
        targets = await self._serve(folder)
        chosen = sandbox.choose(
            "strict", python=sys.executable, cwd=self._task, mechanisms=("bubblewrap",)
        )
        sidecar = Sidecar(cwd=self._task, launcher=chosen.launcher, limits=_QUICK)
        self.sidecar = await self._stack.enter_async_context(sidecar)
        await self._prepare(targets)
        self._files = self._hashes()
        self._processes = self._count_processes()

    def _fill(self) -> None:
        for path in (self._home / ".ssh", self._task / "deep"):
            path.mkdir(parents=True)
        (self._home / ".ssh" / "id_ed25519").write_text(self._mark)
        (self._home / "notes.txt").write_text(self._mark)
        (self._task / "data.csv").write_text("a,b\n1,2\n")
        (self._task / "deep" / "more.txt").write_text("more\n")

    def _start_bystander(self) -> None:
        command = [sys.executable, "-c", "import sys; sys.stdin.read()", self._mark]
        self._stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))

    async def _serve(self, folder: Path) -> dict[str, object]:
        """Servers that must not be reached."""
        abstract = f"exploracoder-{self._mark}"
        file = folder / "socket"
        tcp = await asyncio.start_server(self._greet, "127.0.0.1", 0)
        servers = [
            tcp,
            await asyncio.start_unix_server(self._greet, file),
            await asyncio.start_unix_server(self._greet, "\0" + abstract),
        ]
        for server in servers:
            await self._stack.enter_async_context(server)
        datagrams = self._stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", 0))
        asyncio.get_running_loop().add_reader(datagrams, self._count_datagram, datagrams)
        self._stack.callback(asyncio.get_running_loop().remove_reader, datagrams)
        return {
            "port": tcp.sockets[0].getsockname()[1],
            "udp_port": datagrams.getsockname()[1],
            "abstract": abstract,
            "socket": str(file),
        }

    def _greet(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._received += 1
        writer.close()

    def _count_datagram(self, sock: socket.socket) -> None:
        sock.recv(1000)
        self._received += 1

    async def _prepare(self, targets: Mapping[str, object]) -> None:
        await self._require(self.sidecar.root, "kept = list(range(1000)); import os; os.getpid()")
        self.sentinel = await self.sidecar.fork(self.sidecar.root)
        self._sentinel_kept = "kept.append('only here')"
        await self._require(self.sentinel, self._sentinel_kept)
        pids = {
            "root": int(await self._require(self.sidecar.root, "os.getpid()")),
            "sentinel": int(await self._require(self.sentinel, "os.getpid()")),
        }
        places = {
            "home": str(self._home),
            "task": str(self._task),
            "site": site.getsitepackages()[0],
            "ours": str(Path(exploracoder_kernel.__file__).parent / "branch"),
        }
        facts = {**targets, **pids, **places}
        await self._require(
            self.sidecar.root,
            f"targets = {facts!r}\n"
            "targets['scratch'] = os.environ['TMPDIR']\n"
            f"targets['mark'] = {self._mark[:8]!r} + {self._mark[8:]!r}",
        )

    async def _require(self, branch: str, code: str) -> str:
        seen = await self.sidecar.run(branch, code)
        if not seen.ran:
            raise SidecarError(f"The session could not be prepared: {seen.error}")
        return seen.result or ""

    async def attack(self, snippet: Snippet) -> Outcome:
        """Run a snippet in a branch of its own, and drop the branch."""
        started = time.monotonic()
        branch = await self.sidecar.fork(self.sidecar.root)
        differences = self._why_elsewhere(branch)
        if differences:
            await self.sidecar.drop(branch)
            return Outcome(snippet, None, differences, time.monotonic() - started)
        return await self._attack(snippet, branch, started)

    def _why_elsewhere(self, branch: str) -> tuple[str, ...]:
        """Why a branch is not beside those that it is to attack: then it has nobody to harm."""
        info = next(info for info in self.sidecar.tree() if info.id == branch)
        return () if info.created == "fork" else (f"it could not be tried: {info.note}",)

    async def _attack(self, snippet: Snippet, branch: str, started: float) -> Outcome:
        differences: list[str] = []
        seen: Observation | None = None
        try:
            seen = await self.sidecar.run(branch, snippet.code, snippet.limits)
            differences += snippet.differences(seen)
            if snippet.is_clean_after:
                after = await self.sidecar.run(branch, "print('clean')\n6 * 7", _QUICK)
                is_clean = (after.stdout, after.stderr, after.result) == ("clean\n", "", "42")
                is_marked = after.result == "42" and "earlier cells" in after.note
                if not is_clean and not is_marked:
                    differences.append(f"the next cell gave {after}"[:500])
        except SidecarError as error:
            differences.append(f"no observation: {error}")
        await self.sidecar.drop(branch)
        return Outcome(snippet, seen, tuple(differences), time.monotonic() - started)

    async def harm(self) -> list[str]:
        """What is not as it was, in words; to be asked while nothing runs."""
        found = []
        for branch, expected in ((self.sidecar.root, 1000), (self.sentinel, 1001)):
            try:
                seen = await self.sidecar.run(branch, "len(kept)", _QUICK)
            except SidecarError as error:
                found.append(f"branch {branch} is lost: {error}")
                continue
            if seen.result != str(expected):
                found.append(f"branch {branch} says {seen}"[:500])
        if self._hashes() != self._files:
            found.append("the user's files have changed")
        if self._received:
            found.append(f"servers of this machine were reached {self._received} times")
        more = await self._leftovers()
        if more:
            found.append(f"{more} processes more than before")
        return found

    async def _leftovers(self) -> int:
        """How many processes there are more than at the start, once those that end have ended."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (more := self._count_processes() - self._processes) > 0:
            if time.monotonic() > deadline:
                return more
            await asyncio.sleep(0.02)
        return 0

    def _count_processes(self) -> int:
        return len(linux.descendants([os.getpid()]))

    def _hashes(self) -> dict[str, str]:
        """Of the user's files, and of the code that runs in branches."""
        ours = Path(exploracoder_kernel.__file__).parent / "branch"
        folders = (self._home, self._task, ours)
        files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
        return {
            str(path): f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
            for path in files
            if "__pycache__" not in path.parts
        }
