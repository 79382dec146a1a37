"""Variables of a user's kernel on their way into a branch, as pickles in one unnamed file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_kernel.errors import SidecarError

if TYPE_CHECKING:
    from exploracoder_kernel.branch_process import BranchProcess

_UNPICKLE_SECONDS = 120.0


class Message(BaseModel):
    """Base of what travels about variables."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PickleRequest(Message):
    """Which variables to pickle, in ``limit_bytes`` in all, for a branch that runs ``python``.

    ``refusals`` are names that it could not take before, with the reasons; of ``missing_modules``
    it has none.
    """

    names: tuple[str, ...]
    python: str
    limit_bytes: int
    refusals: dict[str, str] = {}
    missing_modules: tuple[str, ...] = ()

    def without(self, outcome: UnpickleReport) -> PickleRequest:
        """The same request without what a branch could not unpickle."""
        return self.model_copy(
            update={
                "refusals": self.refusals | outcome.failures,
                "missing_modules": self.missing_modules + outcome.missing_modules,
            }
        )


class PickledVariable(Message):
    """A variable in the file. What it shares with an earlier one is in that one's bytes."""

    name: str
    size_bytes: int


class RefusedVariable(Message):
    """A variable that could not go, and why, in words."""

    name: str
    type: str
    reason: str


class PickleReport(Message):
    """What is in the file, in order, and what could not go; or why there is nothing at all.

    ``modules`` are the top-level modules that the pickles refer to, ``paths`` is the kernel's
    ``sys.path``, which holds for a branch of the same ``prefix``.
    """

    variables: tuple[PickledVariable, ...] = ()
    refused: tuple[RefusedVariable, ...] = ()
    modules: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    prefix: str = ""
    failure: str = ""


class UnpickleReport(Message):
    """What a branch says: the types of all names that are bound, or why none is."""

    types: dict[str, str] = {}
    failures: dict[str, str] = {}
    missing_modules: tuple[str, ...] = ()

    @property
    def obstacle(self) -> str:
        """Why nothing was bound, in words; empty if everything was."""
        modules = ", ".join(map(repr, self.missing_modules))
        missing = [f"the branch's Python has no module {modules}"] if modules else []
        return "; ".join(missing + [f"{name}: {why}" for name, why in self.failures.items()])


@dataclass(frozen=True, slots=True)
class PickledVariables:
    """Pickles in a file that its owner keeps open while a branch may need it to be rebuilt."""

    file: BinaryIO
    report: PickleReport

    async def unpickle(self, process: BranchProcess) -> UnpickleReport:
        """Bind the variables in a branch's process.

        The file's descriptor is passed along, so that a sandbox needs no folder to read it from.

        Raises:
            BranchDied: The process ended while unpickling.
            SidecarError: It could not answer, or its answer was malformed.
        """
        answer = await process.ask(
            "unpickle",
            descriptors=(self.file.fileno(),),
            timeout_s=_UNPICKLE_SECONDS,
            names=[variable.name for variable in self.report.variables],
            modules=list(self.report.modules),
            paths=list(self.report.paths),
            prefix=self.report.prefix,
            library=library_source(),
        )
        try:
            return UnpickleReport.model_validate(answer)
        except ValidationError as error:
            raise SidecarError("A branch gave no clear answer about what it took in.") from error


@cache
def library_source() -> str:
    """The source of our cloudpickle, which both interpreters use under its real name."""
    from cloudpickle import cloudpickle

    return Path(cloudpickle.__file__).read_text(encoding="utf-8")
