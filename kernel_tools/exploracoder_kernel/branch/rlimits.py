"""Limits of the process and all that come from it, set once and for good."""

from __future__ import annotations

import contextlib


def apply(limits: dict[str, int]) -> None:
    """Set hard limits by their names in ``resource``; none is raised."""
    import resource

    for name, wanted in limits.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        _soft, hard = resource.getrlimit(number)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (value, value))
