"""Bringing variables of a running kernel of the user's along into a branch."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_kernel.errors import KernelError
from exploracoder_kernel.parcels import Entry, Parcel, Unpacked, entries_of, open_nameless
from exploracoder_kernel.user_kernel import UserKernel

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

    from exploracoder_kernel.executor import Executor

DEFAULT_LIMIT_BYTES = 1 << 30


class CarriedVariable(BaseModel):
    """A variable that the branch has now.

    ``size_bytes`` counts what it shares with an earlier one with that one. ``asked`` is False for
    functions, classes and values that one of the chosen ones needs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: str
    size_bytes: int
    asked: bool = True


class RefusedVariable(BaseModel):
    """A variable that could not go, and why, in words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: str
    reason: str


class Carried(BaseModel):
    """What came along, and what could not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    carried: tuple[CarriedVariable, ...] = ()
    refused: tuple[RefusedVariable, ...] = ()


class Origin(Protocol):
    """Where variables come from: something that writes them to a file."""

    def packed(
        self, names: Sequence[str], refused: Mapping[str, str], *, python: str, limit_bytes: int
    ) -> AbstractAsyncContextManager[tuple[Path, Mapping[str, Any]]]:
        """The file, whose name may be taken away, and a report on what is in it.

        Raises KernelError when they cannot be written.
        """
        ...


async def carry(
    client: AsyncKernelClient,
    names: Sequence[str],
    sidecar: Executor,
    branch_id: str,
    *,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
    busy_seconds: float = 10.0,
    seconds: float = 120.0,
) -> Carried:
    """Bring variables of a running Python kernel along; they are part of the branch's cells then.

    Names of one object stay names of one object. Functions that were defined in the notebook see
    the branch's names, and those they need come along. The kernel is asked silently, keeps no
    name of ours, and is not interrupted.

    Args:
        client: Of a kernel on this machine, its channels started, read by nobody else meanwhile.
        names: What to bring.
        sidecar: Where to; the kernel of a remote one may be on another machine.
        branch_id: The branch that gets them, which is the root as a rule.
        limit_bytes: Of all of them together.
        busy_seconds: How long a kernel that runs a cell is waited for.
        seconds: How long the kernel may take to write them.

    Raises:
        KernelError: The kernel is busy, has ended, is no Python, or runs on another machine.
        BranchNotFound: There is no such branch.
        SidecarError: The branch could not answer.
    """
    kernel = UserKernel(client, busy_seconds=busy_seconds, seconds=seconds)
    await kernel.check()
    return await carry_from(kernel, names, sidecar, branch_id, limit_bytes=limit_bytes)


async def carry_from(
    origin: Origin,
    names: Sequence[str],
    sidecar: Executor,
    branch_id: str,
    *,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
) -> Carried:
    """Bring variables of any origin along, as `carry` does from a running kernel.

    Raises:
        KernelError: They cannot be written.
        BranchNotFound: There is no such branch.
        SidecarError: The branch could not answer.
    """
    chosen = list(dict.fromkeys(names))
    refused = no_names(chosen)
    while True:
        packed = origin.packed(
            chosen, refused, python=sidecar.python_version, limit_bytes=limit_bytes
        )
        async with packed as (path, report):
            try:
                entries = entries_of(report["entries"])
                left = tuple(RefusedVariable.model_validate(one) for one in report["refused"])
                paths = tuple(str(folder) for folder in report["paths"])
            except (ValidationError, KeyError, TypeError) as error:
                raise KernelError("The kernel's report could not be understood.") from error
            if not entries:
                return Carried(refused=left)
            parcel = Parcel(open_nameless(path), entries, paths, prefix=str(report["prefix"]))
        unpacked = await sidecar.unpack(branch_id, parcel)
        if not unpacked.unmade:
            return Carried(carried=_carried(unpacked, entries), refused=left)
        # Nothing was bound. Without these, what remains is written once more, in one piece.
        refused |= {one.name: one.reason for one in unpacked.unmade}


def no_names(chosen: Sequence[str]) -> dict[str, str]:
    """Which of the words are no names in Python, and that they are not."""
    wrong = (name for name in chosen if not name.isidentifier() or keyword.iskeyword(name))
    return dict.fromkeys(wrong, "it is not a name in Python")


def _carried(unpacked: Unpacked, entries: Sequence[Entry]) -> tuple[CarriedVariable, ...]:
    """In the order of the request; what came along is last."""
    written = {entry.name: entry for entry in entries}
    bound = {one.name: one.type for one in unpacked.bound}
    order = [name for name in written if name in bound]
    order += [name for name in bound if name not in written]
    rows = [
        CarriedVariable(
            name=name,
            type=bound[name],
            size_bytes=written[name].size if name in written else 0,
            asked=name in written and written[name].asked,
        )
        for name in order
    ]
    return tuple(sorted(rows, key=lambda row: not row.asked))
