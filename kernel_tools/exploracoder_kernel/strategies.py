"""How a branch gets a second process with its state: by a fork, or by running its cells again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exploracoder_kernel.branch_process import BranchProcess, ForkRefused
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.launch import Launch

StrategyChoice = Literal["auto", "fork", "replay"]


@dataclass(frozen=True, slots=True)
class Strategy:
    """Makes the process of a child branch.

    Attributes:
        name: ``fork`` copies the parent's process, which takes milliseconds and reruns nothing.
            ``replay`` runs the cells again in a fresh process, once that is needed.
        reason: Why this one is used, in words.
        is_forced: Whether to fork even if that is not safe.
    """

    name: Literal["fork", "replay"]
    reason: str
    is_forced: bool = False

    @property
    def forks(self) -> bool:
        """Whether branches are made by forking, if that is safe."""
        return self.name == "fork"

    async def branch(self, parent: BranchProcess | None) -> BranchProcess | None:
        """The child's process, or None if it is to be built from its cells on first use.

        Raises:
            ForkRefused: This parent can't be forked; the child has to be built from its cells.
            SidecarError: It can't be forked, and the user insisted on a fork.
        """
        if not self.forks or parent is None:
            return None
        try:
            return await parent.fork(is_forced=self.is_forced)
        except ForkRefused as refusal:
            if self.is_forced:
                raise SidecarError(
                    f"A fork was asked for and did not work: {refusal}. "
                    "Use the strategy 'auto' or 'replay'."
                ) from refusal
            raise


def choose(choice: StrategyChoice, launch: Launch) -> Strategy:
    """Choose the strategy by what a launch reported about its system.

    Raises:
        SidecarError: ``fork`` was asked for, but branches can't be forked here.
    """
    platform = str(launch.hello["platform"])
    can_fork = platform.startswith("linux") and bool(launch.hello["can_adopt"])
    if choice == "replay":
        return Strategy("replay", "replay was asked for")
    if choice == "fork":
        if not can_fork:
            raise SidecarError(f"Branches can't be forked on {platform}. Use 'auto' or 'replay'.")
        return Strategy("fork", "fork was asked for", is_forced=True)
    if can_fork:
        reason = "Linux forks; a branch with more than one thread or a GPU is built by replay"
        return Strategy("fork", reason)
    return Strategy("replay", f"fork is not safe on {platform}")
