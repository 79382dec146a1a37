"""Build the embedded model's CPU backends for several processors.

They are built from the same source as the library that serves the model: its release on the
package index. The compiler comes with the package ``ziglang``: none has to be installed, other
architectures can be cross-compiled, and old systems can load the result.

Run as ``python build_cpu_backends.py [ARCHITECTURE]``: ``x86_64`` or ``aarch64``. The results are
for Linux: elsewhere nothing is built unless an architecture is named.
"""

from __future__ import annotations

import base64
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
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

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
    index = f"{_index_url().rstrip('/')}/xllamacpp/"
    page = _fetched(index, index).decode()
    match = re.search(rf'href="([^"]*{re.escape(_ARCHIVE)})[#"]', page)
    if match is None:
        raise SystemExit(f"The package index does not list {_ARCHIVE}.")
    content = _fetched(urljoin(index, match[1]), index)
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


def _index_url() -> str:
    """The package index that pip uses: set by a variable, in its configuration, or its own."""
    if url := os.environ.get("PIP_INDEX_URL"):
        return url
    # `pip config get` reads one of its files, this all of them.
    command = [sys.executable, "-m", "pip", "config", "list"]
    # While pip builds a wheel, this variable hides pip itself.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    urls = dict(re.findall(r"^(\w+)\.index-url='([^']+)'$", process.stdout, re.MULTILINE))
    return next((urls[name] for name in ("install", "download", "global") if name in urls), _INDEX)


def _fetched(url: str, index: str) -> bytes:
    """What is at ``url``, to whose host the name and password in ``index`` may be sent."""
    try:
        opener = urllib.request.build_opener(_Redirects(index))
        with opener.open(_request(url, index), timeout=60) as reply:
            content: bytes = reply.read()
            return content
    except (OSError, ValueError, HTTPException) as error:
        reason = type(error).__name__
        if isinstance(error, HTTPError):
            reason = f"HTTP {error.code}"
            error.close()
        # The index URL may contain a password.
        raise SystemExit(
            "The source of the embedded model's arithmetic cannot be fetched from the package index"
            f" ({reason}). PIP_INDEX_URL names another index."
        ) from None


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Each redirect is a request of its own: another host gets neither name nor password."""

    def __init__(self, index: str) -> None:
        self._index = index

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        is_followed = super().redirect_request(req, fp, code, msg, headers, newurl)
        return _request(newurl, self._index) if is_followed else None


def _request(url: str, index: str) -> urllib.request.Request:
    """A request with a header for name and password, which urllib does not take from an address."""
    parts, index_parts = urlsplit(url), urlsplit(index)
    host, login = parts.netloc.rpartition("@")[2], index_parts.netloc.rpartition("@")[0]
    request = urllib.request.Request(urlunsplit(parts._replace(netloc=host)))
    if login and _origin(parts) == _origin(index_parts):
        user, _, password = login.partition(":")
        token = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
        request.add_header("Authorization", f"Basic {token}")
    return request


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    usual_port = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual_port


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
            folder,
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
    _zig(folder, "c++", *target, "-shared", "-s", "-Wl,-Bsymbolic", "-o", str(draft), *objects)
    # Copy, since file systems may differ, then rename: nobody may load half a file.
    backend.path.parent.mkdir(exist_ok=True)
    copy = backend.path.with_suffix(".draft")
    copy.write_bytes(draft.read_bytes())
    copy.replace(backend.path)


def _zig(folder: Path, *arguments: str) -> None:
    """Run the compiler, with its cache in ``folder``: nothing else would ever remove it."""
    cache = str(folder / "zig-cache")
    subprocess.run(
        [sys.executable, "-m", "ziglang", *arguments],
        env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache},
        check=True,
    )


def main() -> None:
    """Build for the architecture named, or else for this machine, if it is one that can use it."""
    if sys.argv[1:]:
        build(sys.argv[1])
    elif sys.platform == "linux":
        build(platform.machine())


if __name__ == "__main__":
    main()
