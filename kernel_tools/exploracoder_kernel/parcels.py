"""Variables of a user's kernel on their way into a branch: pickles in one open file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_kernel.errors import SidecarError

if TYPE_CHECKING:
    from exploracoder_kernel.branch_process import BranchProcess

_UNPACK_SECONDS = 120.0


class Answer(BaseModel):
    """Base of what other processes say about a parcel."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(Answer):
    """A variable in the file; ``asked`` is False for what others need and nobody named.

    ``modules`` are the top-level modules that its pickle refers to.
    """

    name: str
    size: int
    asked: bool = True
    modules: tuple[str, ...] = ()


class Bound(Answer):
    """A name that a branch has now."""

    name: str
    type: str


class Unmade(Answer):
    """A name that the branch's Python could not make."""

    name: str
    reason: str


class Unpacked(Answer):
    """What a branch says: all is bound, or nothing is, since some could not be made."""

    bound: tuple[Bound, ...] = ()
    unmade: tuple[Unmade, ...] = ()


@dataclass(frozen=True, slots=True)
class Parcel:
    """The pickles of ``entries``, in order, in one file that has no name any more.

    ``paths`` is the kernel's ``sys.path``, which holds for a branch of the same ``prefix``.
    It stays open for as long as a branch may have to be built again; whoever has it closes it.
    """

    file: BinaryIO
    entries: tuple[Entry, ...]
    paths: tuple[str, ...]
    prefix: str

    async def unpack(self, process: BranchProcess) -> Unpacked:
        """Bind the variables in a process.

        The file's descriptor is passed along, so that a sandbox needs no folder to read it from.

        Raises:
            BranchDied: The process ended over it.
            SidecarError: It could not answer, or not in the form that was asked for.
        """
        answer = await process.ask(
            "unpack",
            descriptors=(self.file.fileno(),),
            timeout_s=_UNPACK_SECONDS,
            entries=[entry.model_dump() for entry in self.entries],
            paths=list(self.paths),
            prefix=self.prefix,
            library=library_source(),
        )
        try:
            return Unpacked.model_validate(answer)
        except ValidationError as error:
            raise SidecarError("A branch gave no clear answer about what it took in.") from error


def library_folder() -> Path:
    """The folder of our copy of cloudpickle, which both interpreters use under its real name."""
    import cloudpickle

    return Path(cloudpickle.__file__).parent


@cache
def library_source() -> str:
    """The text of the library."""
    return (library_folder() / "cloudpickle.py").read_text(encoding="utf-8")


def open_nameless(path: Path) -> BinaryIO:
    """Open a file and take its name away: it is gone when the last process closes it."""
    file = path.open("rb")
    path.unlink()
    return file


def entries_of(content: Sequence[Any]) -> tuple[Entry, ...]:
    """The entries as the kernel listed them."""
    return tuple(Entry.model_validate(entry) for entry in content)
