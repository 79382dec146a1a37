"""What is said on the way, on standard error: the result alone is on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable

Say = Callable[[str], None]


def say(text: str) -> None:
    """Print a line at once."""
    print(text, file=sys.stderr, flush=True)
