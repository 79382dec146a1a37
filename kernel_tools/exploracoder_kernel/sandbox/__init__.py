"""Isolates snippets from the user: no network, no files but the task's, own processes."""

from exploracoder_kernel.sandbox.consent import QUESTION, Consent
from exploracoder_kernel.sandbox.hard_limits import SandboxLimits
from exploracoder_kernel.sandbox.sandbox_choice import (
    LEVELS,
    ChosenSandbox,
    Level,
    LevelChoice,
    Mechanism,
    choose,
)

__all__ = [
    "LEVELS",
    "QUESTION",
    "ChosenSandbox",
    "Consent",
    "Level",
    "LevelChoice",
    "Mechanism",
    "SandboxLimits",
    "choose",
]
