"""What this machine has to run a model with."""

from __future__ import annotations

import os
import time
from math import inf
from pathlib import Path

_MIB = 1 << 20
# Work space beside the weights and the context, and the context that goes with it. Measured with a
# model of 1.5B, which had to have 3.0, 2.5 and 2.0 GiB in all.
_WORK_FOR_CONTEXT = ((1_558 * _MIB, 16_384), (1_270 * _MIB, 8_192), (870 * _MIB, 4_096))
# Long enough for the clock that the system counts work with, which ticks every 10 ms.
_LOOK_S = 0.3


def available_memory_bytes() -> int:
    """Memory that can be had without swapping; all of it where the system does not say."""
    try:
        said = Path("/proc/meminfo").read_text().partition("MemAvailable:")[2]
        return int(said.split()[0]) * 1024
    except (OSError, IndexError):
        return total_memory_bytes()


def total_memory_bytes() -> int:
    """Physical memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def context_for_memory(
    available_bytes: int,
    wanted_tokens: int,
    slots: int = 1,
    *,
    weights_bytes: int,
    token_bytes: int,
) -> int:
    """The context that fits for each slot, in tokens; 0 if the model does not fit at all.

    ``token_bytes`` is what the model needs for a token of context.
    """
    for work_bytes, most_tokens in _WORK_FOR_CONTEXT:
        tokens = min(most_tokens, wanted_tokens)
        if available_bytes >= weights_bytes + work_bytes + slots * tokens * token_bytes:
            return tokens
    return 0


def least_memory_bytes(weights_bytes: int, token_bytes: int, slots: int = 1) -> int:
    """The memory with which a model runs at all."""
    work_bytes, tokens = _WORK_FOR_CONTEXT[-1]
    return weights_bytes + work_bytes + slots * tokens * token_bytes


def physical_cores() -> int:
    """Cores this process may use: hardware threads of one core count once, at least 1."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    cores = {_siblings(cpu) for cpu in os.sched_getaffinity(0)}
    return max(1, min(len(cores), _quota_cores()))


def is_busy() -> bool:
    """Whether work keeps more than half of the usable cores occupied: in the last minute, and now.

    What was done just before, such as reading a library, is in the minute's average, and over.
    Takes a moment where the average is high.
    """
    many = physical_cores() / 2
    return os.getloadavg()[0] > many and occupied_cores(_LOOK_S) > many


def occupied_cores(seconds: float) -> float:
    """Cores that worked, on average over so many seconds from now; infinite where not known."""
    before = _worked_seconds()
    time.sleep(seconds)
    after = _worked_seconds()
    return inf if before is None or after is None else (after - before) / seconds


def _worked_seconds() -> float | None:
    """What all cores have worked since the machine started."""
    try:
        ticks = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        user, nice, system = (int(one) for one in ticks[:3])
    except (OSError, ValueError, IndexError):
        return None
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def _siblings(cpu: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return path.read_text().strip()
    except OSError:
        return str(cpu)


def _quota_cores() -> int:
    # Containers see all cores and may use some.
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return os.cpu_count() or 1
