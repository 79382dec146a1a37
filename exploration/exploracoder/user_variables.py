"""The user's variables, from a running kernel or this process, that an exploration starts with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from exploracoder_kernel.errors import KernelError, SidecarError
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.user_kernel import UserKernel, attach
from exploracoder_kernel.variable_transfer import OwnVariables, VariableTransfer, carry

from exploracoder.errors import InputError, SetupError, raised_as
from exploracoder.state import Brought, BroughtVariable, LeftVariable


@dataclass(frozen=True, slots=True)
class Source:
    """Where variables come from: a kernel's connection file or id, and the names chosen."""

    kernel: str
    names: tuple[str, ...] = ()


# Another kernel, or this very process.
AnySource = Source | OwnVariables


async def bring(sidecar: Executor, source: AnySource | None, before: Brought) -> Brought:
    """Bring the chosen variables into the root branch, or those that came ``before``.

    Raises InputError if there is nothing to bring them from, the user's kernel cannot be asked or
    none could be brought, SetupError if the sidecar fails or one brought before is missing now.
    """
    check_source(source, before)
    if source is None:
        return before
    names = source.names or tuple(one.name for one in before.variables)
    if not names:
        return before
    option = "--kernel" if isinstance(source, Source) else "--bring"
    with raised_as(SetupError, SidecarError), raised_as(InputError, KernelError, of=option):
        transfer = await _carry(source, names, sidecar)
    outcome = _brought(transfer)
    _accept(outcome, before)
    return outcome


async def _carry(source: AnySource, names: Sequence[str], sidecar: Executor) -> VariableTransfer:
    if isinstance(source, OwnVariables):
        return await carry(source, names, sidecar, sidecar.root)
    async with attach(source.kernel) as client:
        return await carry(UserKernel(client), names, sidecar, sidecar.root)


def check_source(source: AnySource | None, before: Brought) -> None:
    """Raise InputError if variables were brought ``before``, but now there is no source."""
    if source is None and before.variables:
        names = ", ".join(one.name for one in before.variables)
        raise InputError(
            f"It started with variables of a running kernel ({names}). Name one that has them with"
            " --kernel."
        )


async def interpreter_of(kernel: str) -> str:
    """The Python that a kernel runs in. Raises InputError when it cannot be asked."""
    with raised_as(InputError, KernelError, ValueError, SyntaxError, of="--kernel"):
        async with attach(kernel) as client:
            answer = await UserKernel(client).evaluate("__import__('sys').executable")
            return str(ast.literal_eval(answer))


def find_source(kernel: str | None, names: Sequence[str] = ()) -> Source | None:
    """The source for a kernel and the names of variables; None without a kernel."""
    return None if kernel is None else Source(kernel, parse_names(names))


def parse_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Split comma-separated names, each kept once."""
    names = (name.strip() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def in_words(outcome: Brought) -> str:
    """What was brought along and what could not be, in one line."""
    names = ", ".join(one.name for one in outcome.variables)
    rest = "; ".join(f"{one.name} ({one.reason})" for one in outcome.left)
    return ". ".join(
        part for part in (f"Brought along: {names or 'nothing'}", rest and f"Left: {rest}") if part
    )


def _brought(transfer: VariableTransfer) -> Brought:
    variables = (one for one in transfer.carried if one.is_chosen)
    refusals = transfer.refused
    return Brought(
        variables=tuple(BroughtVariable(name=one.name, type=one.type) for one in variables),
        left=tuple(
            LeftVariable(name=one.name, type=one.type, reason=one.reason) for one in refusals
        ),
    )


def _accept(outcome: Brought, before: Brought) -> None:
    if not outcome.variables:
        raise InputError(f"--bring: none of the variables could come. {in_words(outcome)}.")
    now = {one.name for one in outcome.variables}
    missing = [one.name for one in before.variables if one.name not in now]
    if missing:
        raise SetupError(
            f"{', '.join(missing)} came along before and cannot now. {in_words(outcome)}."
        )
