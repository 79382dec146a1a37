"""The embedded model's arithmetic, built for several processors; the best one is used.

The library that serves the model carries it for AVX2 alone. What lies beside this file, made by
``build_cpu_backends.py`` of the same source, takes its place in the server's process.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from exploracoder.errors import SetupError

# The library's release that the files were built for: they share its data structures.
XLLAMACPP_VERSION = "2026.10.11549"
# The library's own.
BUILT_IN = "built in"
# Names the one to use, such as "avx2" or "built in", for measuring.
FORCED_BACKEND = "EXPLORACODER_MODEL_CPU"


@dataclass(frozen=True, slots=True)
class CpuBackend:
    """One build of the arithmetic.

    Attributes:
        name: The instructions that tell it from the others.
        architecture: The machines that it is for.
        flags: What Linux calls all the instructions that it needs.
        compiler_options: What a compiler is told, to use them.
    """

    name: str
    architecture: str
    flags: frozenset[str]
    compiler_options: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The shared library, where it was built."""
        return Path(__file__).parent / self.architecture / f"libggml-cpu-{self.name}.so"


def _x86(name: str, *instructions: str) -> CpuBackend:
    avx2 = ("sse4_2", "f16c", "fma", "bmi2", "avx", "avx2")
    options = tuple(f"-m{_OPTIONS.get(one, one)}" for one in (*avx2, *instructions))
    return CpuBackend(name, "x86_64", frozenset((*avx2, *instructions)), options)


# Where a compiler's option has another name than Linux's flag.
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

# Of each architecture the fastest first.
CPU_BACKENDS = (
    _x86("amx", *_AVX512, "avx512vbmi", "avx512_bf16", "amx_tile", "amx_int8"),
    _x86("avx512_vnni", *_AVX512),
    _x86("avx_vnni", "avx_vnni"),
    _x86("avx2"),
    CpuBackend("i8mm", "aarch64", _ARM | {"i8mm"}, ("-mcpu=generic+v8_6a+dotprod+fullfp16+i8mm",)),
    CpuBackend("dotprod", "aarch64", _ARM, ("-mcpu=generic+v8_2a+dotprod+fullfp16",)),
)


def processor_flags() -> frozenset[str]:
    """The instructions of this machine's processor, by Linux's names; none where it doesn't say."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    values = (line.partition(":")[2] for line in lines if line.startswith(("flags", "Features")))
    return frozenset(next(values, "").split())


def best_backend(flags: frozenset[str] | None = None) -> CpuBackend | None:
    """The fastest build that lies here and that a processor with ``flags`` can run.

    Raises:
        SetupError: ``EXPLORACODER_MODEL_CPU`` names one that this processor cannot run, or an
            x86 processor is older than AVX2.
    """
    flags = processor_flags() if flags is None else flags
    machine = platform.machine()
    own = [one for one in CPU_BACKENDS if one.architecture == machine]
    fitting = [one for one in own if one.flags <= flags]
    if machine == "x86_64" and flags and not fitting:
        raise SetupError(
            "The embedded model needs a processor with AVX2, which this one lacks. Use another"
            " model with --base-url."
        )
    there = [one for one in fitting if one.path.is_file()]
    choice = os.environ.get(FORCED_BACKEND, "").strip()
    if choice == BUILT_IN:
        return None
    if choice and choice not in (one.name for one in there):
        names = ", ".join([*(one.name for one in there), BUILT_IN])
        raise SetupError(f"{FORCED_BACKEND} is {choice[:40]!r}; this machine can run: {names}.")
    return next((one for one in there if not choice or one.name == choice), None)


def require_openmp() -> None:
    """Raises SetupError where the system lacks what the model's library spreads its work with."""
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
    """Puts the best build in place of the library's own, before a model is loaded.

    Returns:
        Its name, or ``built in`` where the library's own stays: none was built for this machine,
        or the library is not the release that they were built for.

    Raises:
        SetupError: As for `best_backend` and `require_openmp`.
    """
    require_openmp()
    backend = best_backend()
    import xllamacpp
    import xllamacpp.xllamacpp as extension

    if backend is None or xllamacpp.__version__ != XLLAMACPP_VERSION:
        return BUILT_IN
    # The build takes what is not arithmetic from the library, so that there is one of each.
    ggml = ctypes.CDLL(extension.__file__, mode=ctypes.RTLD_GLOBAL)
    ggml.ggml_backend_reg_by_name.restype = ctypes.c_void_p
    ggml.ggml_backend_load.restype = ctypes.c_void_p
    ggml.ggml_backend_unload.argtypes = [ctypes.c_void_p]
    built_in = ggml.ggml_backend_reg_by_name(b"CPU")
    if not ggml.ggml_backend_load(os.fsencode(backend.path)):
        return BUILT_IN
    ggml.ggml_backend_unload(built_in)
    return backend.name
