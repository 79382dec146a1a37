"""What the engine's code runs in: a tree of process states, here or in a Jupyter kernel.

``tests/kernel/test_contract.py`` holds both to the same contract. All methods raise
``BranchNotFound`` if a branch that they name does not exist, and another ``SidecarError`` if the
processes can't be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from exploracoder_kernel.kernel.remote import RemoteSidecar
    from exploracoder_kernel.sidecar import Sidecar

Executor: TypeAlias = "Sidecar | RemoteSidecar"
