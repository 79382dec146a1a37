"""How long something takes: wall-clock and CPU seconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Seconds(NamedTuple):
    """Wall-clock and CPU seconds of one run."""

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
