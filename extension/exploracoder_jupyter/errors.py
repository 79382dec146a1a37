"""What the server refuses besides what the engine does.

InputError (of exploracoder)
├── UnknownError    an id or a path that is not there
└── TooLargeError   a request that is larger than any that makes sense
"""

from __future__ import annotations

from exploracoder.errors import InputError


class UnknownError(InputError):
    """An id or a path names nothing."""


class TooLargeError(InputError):
    """A request is larger than any that makes sense."""
