"""How long a backend's threads spin for one another before they sleep.

On processors that nobody else wants they spin: a thread that sleeps is late when it is needed.
Otherwise they soon sleep: one that spins keeps the thread that it waits for from running.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time

from exploracoder.models import hardware

# About a millisecond, and a few microseconds; see build_cpu_backends.h.
UNDISTURBED_SPINS, CONTENDED_SPINS = 20_000, 50
_SPINS = "exploracoder_barrier_spins"
_EVERY_S = 0.5
# Other work on fewer cores does not count: a browser at rest, a shell.
_NEGLIGIBLE_CORES = 0.3


def follow_contention(backend: ctypes.CDLL) -> None:
    """Adapt the spins of ``backend`` to what other processes do, from now until this one ends.

    A build without the setting, made by an older version, stays as it is.
    """
    try:
        spins = ctypes.c_int.in_dll(backend, _SPINS)
    except ValueError:
        return
    threading.Thread(target=_follow, args=(spins,), name="contention", daemon=True).start()


def spins_for(other_cores: float, spare_threads: int) -> int:
    """The spins while others keep ``other_cores`` busy and we leave them ``spare_threads``."""
    is_contended = other_cores > spare_threads + _NEGLIGIBLE_CORES
    return CONTENDED_SPINS if is_contended else UNDISTURBED_SPINS


def _follow(spins: ctypes.c_int) -> None:
    import psutil

    process, cpus = psutil.Process(), os.sched_getaffinity(0)

    def seconds_of_others() -> float:
        times = [one for cpu, one in enumerate(psutil.cpu_times(percpu=True)) if cpu in cpus]
        busy = sum(one.user + one.nice + one.system + one.irq + one.softirq for one in times)
        own = process.cpu_times()
        return float(busy - own.user - own.system)

    spare_threads = hardware.spare_threads()
    start, before = time.monotonic(), seconds_of_others()
    while True:
        time.sleep(_EVERY_S)
        now, after = time.monotonic(), seconds_of_others()
        spins.value = spins_for((after - before) / (now - start), spare_threads)
        start, before = now, after
