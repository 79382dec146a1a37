"""An environment that has a wheel, and nothing else of ours."""

from __future__ import annotations

import os
import subprocess
import venv
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from pathlib import Path

# What passes from the caller: the package index's settings, and how the terminal encodes.
_PASSED = ("PIP_", "SSL_", "LANG", "LC_")


class CheckError(Exception):
    """What was tried does not work; the text is for whoever reads the line."""


@dataclass(slots=True)
class Installation:
    """A folder with an environment, a home, and a place to work; ``wheel`` goes into it.

    ``others`` are the environment's files when it had all but the wheel.
    """

    folder: Path
    wheel: Path
    others: frozenset[str] | None = None

    @property
    def bin(self) -> Path:
        """Where the environment's programs are."""
        return self.folder / "env" / "bin"

    @property
    def work(self) -> Path:
        """The folder that things run in."""
        return self.folder / "work"

    @property
    def version(self) -> str:
        """The wheel's."""
        with zipfile.ZipFile(self.wheel) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return str(BytesParser().parsebytes(archive.read(name))["Version"])

    def create(self) -> None:
        """Make the folders, and an environment that has pip alone."""
        for folder in (self.folder / "home", self.work):
            folder.mkdir()
        venv.create(self.folder / "env", with_pip=True)

    def pip(self, *words: str) -> None:
        """Run pip, as its user has configured it."""
        self._finish([str(self.bin / "python"), "-m", "pip", *words, "--quiet"], os.environ)

    def run(
        self, program: str, *words: str | Path, variables: Mapping[str, str] | None = None
    ) -> str:
        """Run one of the environment's programs; returns all that it said.

        Raises CheckError with the end of that when its exit code is not 0.
        """
        words = (self.bin / program, *words)
        return self._finish([str(word) for word in words], self.environment | (variables or {}))

    @property
    def environment(self) -> dict[str, str]:
        """Variables in which nothing is the caller's, but for how packages are fetched."""
        own = {name: value for name, value in os.environ.items() if name.startswith(_PASSED)}
        path = os.pathsep.join([str(self.bin), "/usr/bin", "/bin"])
        return own | {"PATH": path, "HOME": str(self.folder / "home")}

    def files(self) -> frozenset[str]:
        """All files of the environment but what Python compiles beside other packages' code."""
        root = self.folder / "env"
        paths = (path.relative_to(root) for path in root.rglob("*") if not path.is_dir())
        return frozenset(
            str(path)
            for path in paths
            if path.parent.name != "__pycache__" or "exploracoder" in str(path)
        )

    def size_mb(self) -> int:
        """What the environment takes on disk, in millions of bytes."""
        return sum(size for size in self._sizes()) // 1_000_000

    def _sizes(self) -> Iterator[int]:
        for path in (self.folder / "env").rglob("*"):
            if not path.is_symlink() and path.is_file():
                yield path.stat().st_size

    def _finish(self, words: list[str], environment: Mapping[str, str]) -> str:
        process = subprocess.run(
            words,
            cwd=self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        if process.returncode != 0:
            program = " ".join([Path(words[0]).name, *words[1:3]])
            raise CheckError(f"{program}: exit code {process.returncode}\n{process.stdout[-3000:]}")
        return process.stdout
