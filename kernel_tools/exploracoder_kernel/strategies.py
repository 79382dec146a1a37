"""How a branch gets a second process with its state: by a fork, or by running its cells again."""

from __future__ import annotations

from typing import Literal, Protocol

from exploracoder_kernel.branch_process import BranchProcess, ForkRefused
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.launch import Launch

StrategyName = Literal["fork", "replay"]
StrategyChoice = Literal["auto", "fork", "replay"]


class Strategy(Protocol):
    """Makes the process of a child branch."""

    @property
    def name(self) -> StrategyName:
        """What it is called in settings."""
        ...

    @property
    def needs_parent(self) -> bool:
        """Whether the parent's process must be there when a branch is made."""
        ...

    async def branch(self, parent: BranchProcess | None) -> BranchProcess | None:
        """The child's process, or None: it is built from its cells when it is first used.

        Raises:
            ForkRefused: This parent can't be forked; the child has to be built from its cells.
            SidecarError: It can't be forked, and the user asked for nothing else.
        """
        ...


class ForkStrategy:
    """A fork of the parent's process: milliseconds, and nothing runs again."""

    name: StrategyName = "fork"
    needs_parent = True

    def __init__(self, *, is_forced: bool) -> None:
        self._is_forced = is_forced

    async def branch(self, parent: BranchProcess | None) -> BranchProcess | None:
        """Fork ``parent``."""
        if parent is None:
            raise ForkRefused("there is no process to fork")
        try:
            return await parent.fork(is_forced=self._is_forced)
        except ForkRefused as refusal:
            if self._is_forced:
                raise SidecarError(
                    f"A fork was asked for and did not work: {refusal}. "
                    "Use the strategy 'auto' or 'replay'."
                ) from refusal
            raise


class ReplayStrategy:
    """A fresh process in which the parent's cells run again, once it is needed."""

    name: StrategyName = "replay"
    needs_parent = False

    async def branch(self, parent: BranchProcess | None) -> BranchProcess | None:
        """None: there is nothing to do yet."""
        return None


def choose(choice: StrategyChoice, launch: Launch) -> tuple[Strategy, str]:
    """The strategy for what a launch said about its system, and the reason in words.

    Raises:
        SidecarError: A fork was asked for where there is none.
    """
    platform = str(launch.hello["platform"])
    can_fork = platform.startswith("linux") and bool(launch.hello["can_adopt"])
    if choice == "replay":
        return ReplayStrategy(), "replay was asked for"
    if choice == "fork":
        if not can_fork:
            raise SidecarError(f"Branches can't be forked on {platform}. Use 'auto' or 'replay'.")
        return ForkStrategy(is_forced=True), "fork was asked for"
    if can_fork:
        reason = "Linux forks; a branch with more than one thread or a GPU is built by replay"
        return ForkStrategy(is_forced=False), reason
    return ReplayStrategy(), f"fork is not safe on {platform}"
