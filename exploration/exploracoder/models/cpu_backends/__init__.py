"""CPU backends for the embedded model, built for several processors; the best one is used.

The library that serves the model only ships one for AVX2. The builds beside this file, made by
``build_cpu_backends.py`` from the same source, replace it in the server's process.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from exploracoder.errors import SetupError
from exploracoder.models.cpu_backends.contention import follow_contention

# The library's release that the files were built for: they share its data structures.
XLLAMACPP_VERSION = "2026.10.11549"
# The name of the library's own backend.
BUILT_IN = "built in"
# Environment variable that selects a backend, such as "avx2" or "built in", for measurements.
FORCED_BACKEND = "EXPLORACODER_MODEL_CPU"


@dataclass(frozen=True, slots=True)
class CpuBackend:
    """One build of the CPU backend.

    Attributes:
        name: The instruction set that distinguishes it from the others.
        architecture: The machine architecture that it is for.
        flags: All the CPU flags that it requires, by Linux's names.
        compiler_options: The compiler options that enable them.
    """

    name: str
    architecture: str
    flags: frozenset[str]
    compiler_options: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Path of the shared library, which exists only if it was built."""
        return Path(__file__).parent / self.architecture / f"libggml-cpu-{self.name}.so"


def _x86(name: str, *instructions: str) -> CpuBackend:
    avx2 = ("sse4_2", "f16c", "fma", "bmi2", "avx", "avx2")
    options = tuple(f"-m{_OPTIONS.get(one, one)}" for one in (*avx2, *instructions))
    return CpuBackend(name, "x86_64", frozenset((*avx2, *instructions)), options)


# Compiler options whose names differ from Linux's flags.
_OPTIONS = {
    "sse4_2": "sse4.2",
    "avx_vnni": "avxvnni",
    "avx512_vnni": "avx512vnni",
    "avx512_bf16": "avx512bf16",
    "amx_tile": "amx-tile",
    "amx_int8": "amx-int8",
}
_AVX512 = ("avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw", "avx512_vnni")
_ARM = frozenset({"asimd", "asimddp", "asimdhp"})

# Fastest first within each architecture.
CPU_BACKENDS = (
    _x86("amx", *_AVX512, "avx512vbmi", "avx512_bf16", "amx_tile", "amx_int8"),
    _x86("avx512_vnni", *_AVX512),
    _x86("avx_vnni", "avx_vnni"),
    _x86("avx2"),
    CpuBackend("i8mm", "aarch64", _ARM | {"i8mm"}, ("-mcpu=generic+v8_6a+dotprod+fullfp16+i8mm",)),
    CpuBackend("dotprod", "aarch64", _ARM, ("-mcpu=generic+v8_2a+dotprod+fullfp16",)),
)


def processor_flags() -> frozenset[str]:
    """The flags of this machine's processor, by Linux's names; empty if they cannot be read."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    values = (line.partition(":")[2] for line in lines if line.startswith(("flags", "Features")))
    return frozenset(next(values, "").split())


def best_backend(flags: frozenset[str] | None = None) -> CpuBackend | None:
    """The fastest available build for a processor with ``flags``; None means the library's own.

    Raises:
        SetupError: ``EXPLORACODER_MODEL_CPU`` names one that this machine cannot run, or an
            x86 processor lacks AVX2.
    """
    flags = processor_flags() if flags is None else flags
    machine = platform.machine()
    own = [one for one in CPU_BACKENDS if one.architecture == machine]
    matches = [one for one in own if one.flags <= flags]
    if machine == "x86_64" and flags and not matches:
        raise SetupError(
            "The embedded model needs a processor with AVX2, which this one lacks. Use another"
            " model with --base-url."
        )
    there = [one for one in matches if one.path.is_file()]
    choice = os.environ.get(FORCED_BACKEND, "").strip()
    if choice == BUILT_IN:
        return None
    if choice and choice not in (one.name for one in there):
        names = ", ".join([*(one.name for one in there), BUILT_IN])
        raise SetupError(f"{FORCED_BACKEND} is {choice[:40]!r}; this machine can run: {names}.")
    return next((one for one in there if not choice or one.name == choice), None)


def require_openmp() -> None:
    """Raises SetupError if a Linux system lacks the OpenMP runtime that the library needs."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError as error:
        raise SetupError(
            "The embedded model needs libgomp, which small systems and container images do not"
            " have. Install it (apt install libgomp1, dnf install libgomp, pacman -S gcc-libs), or"
            " use another model with --base-url."
        ) from error


def use_best_backend() -> str:
    """Replaces the library's own backend with the best build; call it before loading a model.

    Returns:
        The backend's name, or ``built in`` if the library's own stays: none was built for this
        machine, or the library is not the release that they were built for.

    Raises:
        SetupError: As for `best_backend` and `require_openmp`.
    """
    require_openmp()
    backend = best_backend()
    import xllamacpp
    import xllamacpp.xllamacpp as extension

    if backend is None or xllamacpp.__version__ != XLLAMACPP_VERSION:
        return BUILT_IN
    # The build resolves all other symbols from the library, so that nothing is loaded twice.
    ggml = ctypes.CDLL(extension.__file__, mode=ctypes.RTLD_GLOBAL)
    ggml.ggml_backend_reg_by_name.restype = ctypes.c_void_p
    ggml.ggml_backend_load.restype = ctypes.c_void_p
    ggml.ggml_backend_unload.argtypes = [ctypes.c_void_p]
    built_in = ggml.ggml_backend_reg_by_name(b"CPU")
    if not ggml.ggml_backend_load(os.fsencode(backend.path)):
        return BUILT_IN
    ggml.ggml_backend_unload(built_in)
    follow_contention(ctypes.CDLL(os.fspath(backend.path)))
    return backend.name
