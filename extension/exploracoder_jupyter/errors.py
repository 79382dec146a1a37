"""What the server refuses besides what the engine does.

InputError (of exploracoder)
├── UnknownError    an id or a path that is not there
└── TooLargeError   a request that is larger than any that makes sense
SetupError (of exploracoder)
└── ModelGoneError  the model that an exploration was made with is not there any more
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exploracoder.errors import InputError, SetupError

if TYPE_CHECKING:
    from exploracoder.models.model_choice import ModelChoice


class UnknownError(InputError):
    """An id or a path names nothing."""


class TooLargeError(InputError):
    """A request is larger than any that makes sense."""


class ModelGoneError(SetupError):
    """The model that an exploration was made with is not there any more."""

    def __init__(self, why: str, gone: ModelChoice) -> None:
        super().__init__(why)
        self.gone = gone
