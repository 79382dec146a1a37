"""How long a backend's threads spin for one another before they sleep.

On processors that nobody else wants they spin: a thread that sleeps is late when it is needed.
Otherwise they soon sleep: one that spins keeps the thread that it waits for from running.
"""

from __future__ import annotations

import ctypes
import threading
import time

from exploracoder.models import hardware

# About a millisecond, and a few microseconds; see build_cpu_backends.h.
UNDISTURBED_SPINS, CONTENDED_SPINS = 20_000, 50
_SPINS = "exploracoder_barrier_spins"
_EVERY_S = 0.5
# Cores' worth of other work that are none: a browser at rest, a shell.
_NEGLIGIBLE_CORES = 0.3


def follow_contention(backend: ctypes.CDLL) -> None:
    """Adapt the spins of ``backend`` to what other processes do, from now until this one ends."""
    spins = ctypes.c_int.in_dll(backend, _SPINS)
    threading.Thread(target=_follow, args=(spins,), name="contention", daemon=True).start()


def spins_for(other_cores: float, spare_cores: int) -> int:
    """The spins while others use ``other_cores``, and our threads leave ``spare_cores`` to them."""
    is_contended = other_cores > spare_cores + _NEGLIGIBLE_CORES
    return CONTENDED_SPINS if is_contended else UNDISTURBED_SPINS


def _follow(spins: ctypes.c_int) -> None:
    import psutil

    process = psutil.Process()

    def seconds_of_others() -> float:
        total, own = psutil.cpu_times(), process.cpu_times()
        busy = total.user + total.nice + total.system + total.irq + total.softirq
        return float(busy - own.user - own.system)

    spare_cores = psutil.cpu_count() - hardware.physical_cores()
    began, before = time.monotonic(), seconds_of_others()
    while True:
        time.sleep(_EVERY_S)
        now, after = time.monotonic(), seconds_of_others()
        spins.value = spins_for((after - before) / (now - began), spare_cores)
        began, before = now, after
