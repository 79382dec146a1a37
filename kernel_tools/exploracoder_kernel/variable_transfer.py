"""Brings variables of a user's kernel into a branch."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from exploracoder_kernel.errors import KernelError
from exploracoder_kernel.pickled_variables import (
    Message,
    PickledVariables,
    PickleReport,
    PickleRequest,
    RefusedVariable,
    UnpickleReport,
)

if TYPE_CHECKING:
    from exploracoder_kernel.executor import Executor
    from exploracoder_kernel.user_kernel import UserKernel

DEFAULT_LIMIT_BYTES = 1 << 30


class CarriedVariable(Message):
    """A variable that the branch has now.

    ``size_bytes`` counts what it shares with an earlier one with that one. ``is_chosen`` is False
    for functions, classes and values that one of the chosen ones needs.
    """

    name: str
    type: str
    size_bytes: int
    is_chosen: bool = True


class VariableTransfer(Message):
    """What came along, the chosen ones first, and what could not."""

    carried: tuple[CarriedVariable, ...] = ()
    refused: tuple[RefusedVariable, ...] = ()


async def carry(
    origin: UserKernel | OwnVariables,
    names: Sequence[str],
    sidecar: Executor,
    branch_id: str,
    *,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
) -> VariableTransfer:
    """Copy variables of a Python kernel into a branch, where they become part of its cells.

    Names of one object stay names of one object. Functions that were defined in the notebook see
    the branch's names, and bring along those they need.

    Args:
        origin: Where they come from.
        names: What to bring.
        sidecar: Where they go; the kernel of a remote one may be on another machine.
        branch_id: The branch that gets them, usually the root.
        limit_bytes: Limit for all of them together.

    Raises:
        KernelError: The kernel is busy, has ended, is not Python, or runs on another machine.
        BranchNotFound: There is no such branch.
        SidecarError: The branch could not answer.
    """
    request = PickleRequest(
        names=tuple(dict.fromkeys(names)), python=sidecar.python_version, limit_bytes=limit_bytes
    )
    while True:
        variables = await origin.pickle(request)
        report = variables.report
        if not report.variables:
            variables.file.close()
            return VariableTransfer(refused=report.refused)
        outcome = await sidecar.unpickle(branch_id, variables)
        if not outcome.obstacle:
            carried_variables = _carried(request.names, report, outcome)
            return VariableTransfer(carried=carried_variables, refused=report.refused)
        # Nothing was bound. What remains is written once more, in one piece.
        request = request.without(outcome)


def _carried(
    chosen_names: Sequence[str], report: PickleReport, outcome: UnpickleReport
) -> tuple[CarriedVariable, ...]:
    sizes = {variable.name: variable.size_bytes for variable in report.variables}
    return tuple(
        CarriedVariable(
            name=name, type=kind, size_bytes=sizes.get(name, 0), is_chosen=name in chosen_names
        )
        for name, kind in outcome.types.items()
    )


class OwnVariables:
    """Copies of the current variables of ``__main__``, in an unnamed file until `close`.

    They are written at once, in the caller's thread, so that later changes have no effect. Only if
    the branch cannot rebuild some of them, or has another version of Python, are the rest written
    once more, as they are then.

    Args:
        names: What to bring.
        limit_bytes: Limit for all of them together.

    Raises:
        KernelError: They cannot be written.
    """

    def __init__(self, names: Sequence[str], *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.names = tuple(dict.fromkeys(names))
        own = platform.python_version()
        self._request = PickleRequest(names=self.names, python=own, limit_bytes=limit_bytes)
        self._copies = _pickle_here(self._request)

    @property
    def refused(self) -> Mapping[str, str]:
        """The names that can't be brought, and why, in words."""
        return {variable.name: variable.reason for variable in self._copies.report.refused}

    def close(self) -> None:
        """Discard the copies. Branches that have them keep them."""
        self._copies.file.close()

    async def pickle(self, request: PickleRequest) -> PickledVariables:
        """The copies, in a file for the caller. Raises KernelError if they can't be written."""
        own = self._request.python
        if request.python.rpartition(".")[0] == own.rpartition(".")[0]:
            request = request.model_copy(update={"python": own})
        if request != self._request:
            self.close()
            self._request, self._copies = request, _pickle_here(request)
        file = os.fdopen(os.dup(self._copies.file.fileno()), "rb")
        return PickledVariables(file, self._copies.report)


def _pickle_here(request: PickleRequest) -> PickledVariables:
    from cloudpickle import cloudpickle

    from exploracoder_kernel.branch.pickling import pickle_variables

    try:
        # It stays open as long as somebody may have to read it.
        file = tempfile.TemporaryFile()  # noqa: SIM115
        report = pickle_variables(request.model_dump(), file, cloudpickle)
    except OSError as error:
        raise KernelError(f"Variables cannot be written: {error}") from error
    return PickledVariables(file, PickleReport.model_validate(report))
