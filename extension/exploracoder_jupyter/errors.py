"""The errors that the server adds to the engine's.

InputError (of exploracoder)
├── UnknownError    an id or a path that does not exist
└── TooLargeError   an unreasonably large request
SetupError (of exploracoder)
└── ModelGoneError  the model that an exploration was made with is no longer available
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exploracoder.errors import InputError, SetupError

if TYPE_CHECKING:
    from exploracoder.models.model_choice import ModelChoice


class UnknownError(InputError):
    """An id or a path does not exist."""


class TooLargeError(InputError):
    """A request is unreasonably large."""


class ModelGoneError(SetupError):
    """The model that an exploration was made with is no longer available."""

    def __init__(self, why: str, choice: ModelChoice) -> None:
        super().__init__(why)
        self.choice = choice
