"""Which build of the embedded model's arithmetic a processor gets, and that each one computes."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from exploracoder.errors import SetupError
from exploracoder.models import cpu_backends
from exploracoder.models.cpu_backends import (
    CPU_BACKENDS,
    FORCED_BACKEND,
    best_backend,
    contention,
    processor_flags,
)
from exploracoder.models.cpu_backends.contention import (
    CONTENDED_SPINS,
    UNDISTURBED_SPINS,
    spins_for,
)
from exploracoder.models.weights import WeightsStore

_FLAGS = {one.name: one.flags for one in CPU_BACKENDS}
_RUNNABLE = [
    one.name
    for one in CPU_BACKENDS
    if one.architecture == platform.machine() and one.flags <= processor_flags()
]
_ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86 processors")


@_ON_X86
@pytest.mark.parametrize("name", ["amx", "avx512_vnni", "avx_vnni", "avx2"])
def test_a_processor_gets_the_fastest_build_that_it_can_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FORCED_BACKEND, raising=False)
    backend = best_backend(_FLAGS[name] | {"sse", "sse2"})

    assert backend is not None
    assert backend.name == name


@_ON_X86
def test_a_processor_without_its_instructions_gets_a_sentence() -> None:
    with pytest.raises(SetupError, match=r"a processor with AVX2.*--base-url"):
        best_backend(frozenset({"sse2", "avx"}))


@_ON_X86
def test_a_build_that_the_processor_cannot_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORCED_BACKEND, "amx")

    with pytest.raises(SetupError, match="'amx'; this machine can run: avx2, built in"):
        best_backend(_FLAGS["avx2"])


def test_without_builds_the_library_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cpu_backends, "__file__", str(tmp_path / "__init__.py"))

    assert best_backend() is None


_ANSWER = """
import json, os, sys, urllib.request
import xllamacpp
from exploracoder.models.cpu_backends import use_best_backend

used = use_best_backend()
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames, parameters.port, parameters.n_ctx = ["127.0.0.1"], 0, 1024
server = xllamacpp.Server(parameters)
question = {"prompt": "def add(a, b):\\n    return", "n_predict": 4, "temperature": 0}
request = urllib.request.Request(
    server.listening_address + "/completion",
    json.dumps(question).encode(),
    {"Content-Type": "application/json"},
)
print(used, json.load(urllib.request.urlopen(request))["content"])
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.model
@pytest.mark.parametrize("name", [*_RUNNABLE, "built in"])
def test_each_build_that_this_processor_can_run_answers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = WeightsStore()
    if not store.is_verified:
        pytest.skip("the embedded model is not there: exploracoder model pull")
    monkeypatch.setenv(FORCED_BACKEND, name)

    process = subprocess.run(
        [sys.executable, "-c", _ANSWER, str(store.path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert process.stdout.startswith(f"{name}  a + b"), process.stdout + process.stderr[-2000:]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the library brings its own")
def test_a_system_without_libgomp_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(cpu_backends.ctypes, "CDLL", load)

    with pytest.raises(SetupError, match=r"needs libgomp.*apt install libgomp1.*--base-url"):
        cpu_backends.use_best_backend()


@pytest.mark.parametrize(
    ("other_cores", "spare_threads", "spins"),
    [
        (0.1, 0, UNDISTURBED_SPINS),
        (1.0, 0, CONTENDED_SPINS),
        # The other threads of the cores are free: nobody needs those that we use.
        (1.0, 2, UNDISTURBED_SPINS),
        (3.0, 2, CONTENDED_SPINS),
    ],
)
def test_threads_spin_while_nobody_else_wants_their_processors(
    other_cores: float, spare_threads: int, spins: int
) -> None:
    assert spins_for(other_cores, spare_threads) == spins


_BESIDE = """
import ctypes, os, subprocess, sys, time
from exploracoder.models.cpu_backends import best_backend, use_best_backend

use_best_backend()
backend = ctypes.CDLL(os.fspath(best_backend().path))
spins = ctypes.c_int.in_dll(backend, "exploracoder_barrier_spins")
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
deadline = time.monotonic() + 60
while spins.value != int(sys.argv[1]) and time.monotonic() < deadline:
    time.sleep(0.1)
for one in busy:
    one.kill()
print(spins.value, flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not _RUNNABLE, reason="no build is for this processor")
def test_beside_busy_processes_they_soon_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORCED_BACKEND, raising=False)

    process = subprocess.run(
        [sys.executable, "-c", _BESIDE, str(CONTENDED_SPINS)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert process.stdout.split() == [str(CONTENDED_SPINS)], process.stderr[-2000:]


def test_a_build_of_an_older_version_stays_as_it_is() -> None:
    contention.follow_contention(ctypes.CDLL(None))

    assert "contention" not in {thread.name for thread in threading.enumerate()}
