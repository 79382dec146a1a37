"""The memory and processor cores that this machine has for running a model."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_MIB = 1 << 20
_CONTROL_GROUP = Path("/sys/fs/cgroup")
# For cgroups v2 and v1: the file with the limit, the one with the usage, and its field to read.
_CONTROL_GROUPS = (
    ("memory.max", "memory.stat", "anon"),
    ("memory/memory.limit_in_bytes", "memory/memory.stat", "total_rss"),
)
# As above: the files with a quota of processor time and the period that it is for. Without a quota
# there is "max" or -1.
_CPU_QUOTAS = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
# Working memory besides weights and context, and the context size that goes with it. Measured with
# a 1.5B model, which needed 3.0, 2.5 and 2.0 GiB in total.
_WORK_FOR_CONTEXT = ((1_558 * _MIB, 16_384), (1_270 * _MIB, 8_192), (870 * _MIB, 4_096))


def available_memory_bytes() -> int:
    """Memory available without swapping; all of it if the system does not report this."""
    total, usage = _container_memory_bytes()
    try:
        text = Path("/proc/meminfo").read_text().partition("MemAvailable:")[2]
        return min(int(text.split()[0]) * 1024, total - usage)
    except (OSError, IndexError):
        return total - usage


def total_memory_bytes() -> int:
    """Physical memory, or the container's limit if that is lower."""
    return _container_memory_bytes()[0]


def _container_memory_bytes() -> tuple[int, int]:
    """The memory limit, and how much of it processes use, which is 0 outside a container."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit, usage, field in _CONTROL_GROUPS:
        with suppress(OSError, ValueError, KeyError):
            most = int((_CONTROL_GROUP / limit).read_text())
            lines = (_CONTROL_GROUP / usage).read_text().splitlines()
            if most < physical:
                return most, int(dict(line.split() for line in lines)[field])
    return physical, 0


def context_for_memory(
    available_bytes: int,
    wanted_tokens: int,
    slots: int = 1,
    *,
    weights_bytes: int,
    token_bytes: int,
) -> int:
    """The context that fits for each slot, in tokens; 0 if the model does not fit at all.

    ``token_bytes`` is the memory that the model needs per token of context.
    """
    for work_bytes, most_tokens in _WORK_FOR_CONTEXT:
        tokens = min(most_tokens, wanted_tokens)
        if available_bytes >= weights_bytes + work_bytes + slots * tokens * token_bytes:
            return tokens
    return 0


def least_memory_bytes(weights_bytes: int, token_bytes: int, slots: int = 1) -> int:
    """The least memory with which a model runs at all."""
    work_bytes, tokens = _WORK_FOR_CONTEXT[-1]
    return weights_bytes + work_bytes + slots * tokens * token_bytes


def physical_cores() -> int:
    """Cores this process may use: hardware threads of one core count once, at least 1."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    cores = {_siblings(cpu) for cpu in os.sched_getaffinity(0)}
    return max(1, min(len(cores), _quota_cores()))


def spare_threads() -> int:
    """Hardware threads this process may use beside one for each of its cores; 0 under a quota,
    which is used up by whatever runs.
    """
    if not hasattr(os, "sched_getaffinity"):
        return 0
    cpus = os.sched_getaffinity(0)
    cores = {_siblings(cpu) for cpu in cpus}
    return len(cpus) - len(cores) if len(cores) <= _quota_cores() else 0


def _siblings(cpu: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return path.read_text().strip()
    except OSError:
        return str(cpu)


def _quota_cores() -> int:
    # Containers see all cores, but may be limited to some.
    for files in _CPU_QUOTAS:
        with suppress(OSError, ValueError):
            text = " ".join((_CONTROL_GROUP / file).read_text() for file in files)
            quota, period = map(int, text.split())
            if quota > 0:
                return max(1, quota // period)
    return os.cpu_count() or 1
