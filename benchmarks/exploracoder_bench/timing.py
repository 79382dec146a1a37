"""How long something takes, on the clock on the wall and on this process's processors."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Seconds(NamedTuple):
    """Of one run of something."""

    wall: float
    cpu: float


def timed(act: Callable[[], object]) -> Seconds:
    """The seconds that ``act`` takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def p50_and_p95(values: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile, of two values or more."""
    cuts = statistics.quantiles(values, n=20)
    return cuts[9], cuts[18]
