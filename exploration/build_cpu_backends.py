"""Build the embedded model's CPU backends for several processors.

They are built from the same source as the library that serves the model: its release on the
package index. The compiler comes with the package ``ziglang``: none has to be installed, other
architectures can be cross-compiled, and old systems can load the result.

Run as ``python build_cpu_backends.py [ARCHITECTURE]``: ``x86_64`` or ``aarch64``.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urljoin

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from exploracoder.models.cpu_backends import (  # noqa: E402 - of this checkout
    CPU_BACKENDS,
    XLLAMACPP_VERSION,
    CpuBackend,
)

_ARCHIVE = f"xllamacpp-{XLLAMACPP_VERSION}.tar.gz"
_SHA256 = "c17ee1163006f70726abb9f72137830818f3d8cb60bfc34cb232d08428eaa22b"
_INDEX = "https://pypi.org/simple"
_LLAMA_CPP = f"xllamacpp-{XLLAMACPP_VERSION}/thirdparty/llama.cpp/"
_GGML = f"{_LLAMA_CPP}ggml/"
# The glibc version that manylinux2014 wheels may rely on.
_GLIBC = "2.17"
_FOLDERS = {"x86_64": "x86", "aarch64": "arm"}
_MACROS = (
    *("GGML_BACKEND_DL", "GGML_BACKEND_BUILD", "GGML_BACKEND_SHARED", "GGML_USE_CPU_REPACK"),
    *("GGML_USE_LLAMAFILE", "GGML_SCHED_MAX_COPIES=4", "NDEBUG", "_GNU_SOURCE"),
)
# Replaces ggml's spinning barrier with the one in build_cpu_backends.h.
_CHANGES = (
    (
        "n_barrier_passed, memory_order_relaxed) == n_passed) {\n        ggml_thread_cpu_relax();",
        "n_barrier_passed, memory_order_relaxed) == n_passed) {\n"
        "        barrier_wait(&tp->n_barrier_passed, n_passed, spins++);",
    ),
    ("    // wait for other threads\n", "    int spins = 0;\n"),
    (
        "memory_order_seq_cst);\n        return;",
        "memory_order_seq_cst);\n        barrier_wake(&tp->n_barrier_passed);\n        return;",
    ),
)


def build(architecture: str) -> None:
    """Build an architecture's backends that are missing or older than this script."""
    backends = [one for one in CPU_BACKENDS if one.architecture == architecture]
    newest = max(path.stat().st_mtime for path in (Path(__file__), _header()))
    missing = [
        one for one in backends if not one.path.exists() or one.path.stat().st_mtime < newest
    ]
    if not missing:
        return
    with tempfile.TemporaryDirectory() as folder:
        source = fetch_source(Path(folder))
        for backend in missing:
            sys.stderr.write(f"Building the embedded model's arithmetic for {backend.name}\n")
            _build_one(backend, source, Path(folder))


def _header() -> Path:
    return Path(__file__).with_suffix(".h")


def fetch_source(folder: Path) -> Path:
    """Fetch ggml's source and apply our changes; the license is in the parent folder."""
    index = os.environ.get("PIP_INDEX_URL", _INDEX).rstrip("/") + "/xllamacpp/"
    page = _fetched(index).decode()
    match = re.search(rf'href="([^"]*{re.escape(_ARCHIVE)})[#"]', page)
    if match is None:
        raise SystemExit(f"The package index does not list {_ARCHIVE}.")
    content = _fetched(urljoin(index, match[1]))
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise SystemExit(f"What came as {_ARCHIVE} is not the published file (SHA-256).")
    archive = folder / _ARCHIVE
    archive.write_bytes(content)
    with tarfile.open(archive) as files:
        prefixes = (_GGML, f"{_LLAMA_CPP}LICENSE")
        members = [one for one in files if one.name.startswith(prefixes) and one.isfile()]
        # Python before 3.11.4 has no filters; the hash vouches for the archive there.
        files.extraction_filter = getattr(tarfile, "data_filter", None)
        files.extractall(folder, members)
    source_file = folder / _GGML / "src/ggml-cpu/ggml-cpu.c"
    text = source_file.read_text()
    for old, new in _CHANGES:
        if text.count(old) != 1:
            raise SystemExit(f"{source_file.name} is not what our changes to it were made for.")
        text = text.replace(old, new)
    source_file.write_text(text)
    return folder / _GGML


def _fetched(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=60) as reply:
            content: bytes = reply.read()
            return content
    except (OSError, ValueError) as error:
        # The index URL may contain a password.
        raise SystemExit(
            "The source of the embedded model's arithmetic cannot be fetched from the package index"
            f" ({type(error).__name__}). PIP_INDEX_URL names another index."
        ) from None


def _build_one(backend: CpuBackend, ggml: Path, folder: Path) -> None:
    cpu = ggml / "src/ggml-cpu"
    own = cpu / "arch" / _FOLDERS[backend.architecture]
    sources = sorted(
        path
        for place in (cpu, cpu / "amx", cpu / "tiled", cpu / "llamafile", own)
        for path in (*place.glob("*.c"), *place.glob("*.cpp"))
        # We decide ourselves how well a build suits a processor.
        if path.stem != "cpu-feats"
    )
    includes = [f"-I{path}" for path in (ggml / "include", ggml / "src", cpu)]
    target = ["-target", f"{backend.architecture}-linux-gnu.{_GLIBC}"]

    def compiled(number: int) -> Path:
        source, result = sources[number], folder / f"{backend.name}-{number}.o"
        is_c = source.suffix == ".c"
        _zig(
            *(["cc", "-std=gnu11"] if is_c else ["c++", "-std=c++17"]),
            *(*target, "-O3", "-g0", "-w", "-fPIC", "-fvisibility=hidden"),
            *(f"-D{macro}" for macro in _MACROS),
            *(*includes, "-include", str(_header()), *backend.compiler_options),
            *("-c", str(source), "-o", str(result)),
        )
        return result

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        objects = [str(path) for path in threads.map(compiled, range(len(sources)))]
    draft = folder / backend.path.name
    _zig("c++", *target, "-shared", "-s", "-Wl,-Bsymbolic", "-o", str(draft), *objects)
    # Copy, since file systems may differ, then rename: nobody may load half a file.
    backend.path.parent.mkdir(exist_ok=True)
    copy = backend.path.with_suffix(".draft")
    copy.write_bytes(draft.read_bytes())
    copy.replace(backend.path)


def _zig(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "ziglang", *arguments], check=True)


if __name__ == "__main__":
    build(*(sys.argv[1:] or [platform.machine()]))
