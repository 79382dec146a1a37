"""What this machine has to run a model with."""

from __future__ import annotations

import os
from pathlib import Path

_GIB = 1 << 30
_BYTES_PER_CONTEXT_TOKEN = 28 << 10
# Weights as they are laid out for the CPU, work space, and the context of one slot.
_CONTEXT_FOR_AVAILABLE = ((3.0 * _GIB, 16_384), (2.5 * _GIB, 8_192), (2.0 * _GIB, 4_096))


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


def context_for_memory(available_bytes: int, wanted_tokens: int, slots: int = 1) -> int:
    """The context that fits for each slot, in tokens; 0 if the model does not fit at all."""
    for needed_bytes, most_tokens in _CONTEXT_FOR_AVAILABLE:
        tokens = min(most_tokens, wanted_tokens)
        if available_bytes >= needed_bytes + (slots - 1) * tokens * _BYTES_PER_CONTEXT_TOKEN:
            return tokens
    return 0


def physical_cores() -> int:
    """Cores this process may use: hardware threads of one core count once, at least 1."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    cores = {_siblings(cpu) for cpu in os.sched_getaffinity(0)}
    return max(1, min(len(cores), _quota_cores()))


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
