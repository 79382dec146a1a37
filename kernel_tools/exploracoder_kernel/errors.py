"""The sidecar's errors, worded for the user. An error in a snippet is a value, not an exception.

SidecarError
├── InterpreterError    the chosen Python can't be used
├── BranchNotFound      no branch has this name (any more)
├── ReplayError         cells came out differently when they were run again
├── SandboxUnavailable  no sandbox is available, and nobody agreed to go on without one
└── KernelError         the user's own kernel could not be asked for its variables
"""

from __future__ import annotations


class SidecarError(Exception):
    """Base class. ``str()`` says what happened, to what, and what to do next."""


class InterpreterError(SidecarError):
    """The chosen Python can't be used: missing, not executable, not Python, too old."""


class BranchNotFound(SidecarError):  # noqa: N818  # named for what it says, as FileNotFoundError
    """No branch has this name; it may have been dropped."""

    def __init__(self, branch_id: str) -> None:
        super().__init__(f"There is no branch {branch_id!r}. It may have been dropped.")


class ReplayError(SidecarError):
    """A branch was rebuilt from its cells, and one of them came out differently."""


class SandboxUnavailable(SidecarError):  # noqa: N818  # named for what it says
    """No sandbox is available here, and the user has not agreed to go on without one."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"There is no sandbox to run snippets in. {missing} Or go on without one:"
            " `--sandbox off` for once, `exploracoder doctor --allow-no-sandbox` for good."
        )
        self.missing = missing


class KernelError(SidecarError):
    """The user's own kernel could not be asked: busy, ended, not Python, on another machine."""
