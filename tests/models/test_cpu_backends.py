"""Which build of the embedded model's arithmetic a processor gets, and that each one computes."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest
from exploracoder.errors import SetupError
from exploracoder.models import cpu_backends
from exploracoder.models.cpu_backends import (
    CPU_BACKENDS,
    FORCED_BACKEND,
    XLLAMACPP_VERSION,
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


@pytest.fixture(scope="module")
def build_script() -> ModuleType:
    path = Path(__file__).parents[2] / "exploration/build_cpu_backends.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _PrivateIndex(BaseHTTPRequestHandler):
    """A package index with a password: the archive's address is a whole one, without it."""

    def log_message(self, format: str, *args: object) -> None: ...

    def do_GET(self) -> None:
        is_known = self.headers.get("Authorization") == "Basic bWU6c0AzY3JldA=="
        if is_known and not self.path.endswith("/"):
            self.send_response(302)
            self.send_header("Location", f"{self.path}/")
            self.end_headers()
            return
        self.send_response(200 if is_known else 401)
        self.end_headers()
        self.wfile.write(
            f'<a href="http://{self.headers["Host"]}/xllamacpp-{XLLAMACPP_VERSION}.tar.gz">'.encode()
        )


@pytest.fixture
def private_index() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _PrivateIndex) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("place", ["variable", "configuration"])
def test_the_source_comes_from_an_index_with_a_password(
    place: str,
    build_script: ModuleType,
    private_index: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"http://me:s%403cret@{private_index}/simple/"
    (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {url}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    if place == "variable":
        monkeypatch.setenv("PIP_INDEX_URL", url)

    # It has come, and is something else.
    with pytest.raises(SystemExit, match=r"is not the published file \(SHA-256\)"):
        build_script.fetch_source(tmp_path)


@pytest.mark.parametrize(
    "url", ["http://me:s3cret@{}", "http://me:s3cret@x@{}/s", "x://me:s3cret@["]
)
def test_a_password_of_an_index_is_sent_to_it_alone_and_never_shown(
    url: str,
    build_script: ModuleType,
    private_index: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", url.format(private_index))

    with pytest.raises(SystemExit, match=r"cannot be fetched from the package index") as failure:
        build_script.fetch_source(tmp_path)
    elsewhere = build_script._request(
        "https://files.example/x", f"http://me:s3cret@{private_index}"
    )

    assert "s3cret" not in str(failure.value)
    assert not elsewhere.has_header("Authorization")


def test_the_compiler_leaves_nothing_outside_of_its_folder(
    build_script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    (tmp_path / "one.c").write_text("int one(void) { return 1; }\n")

    build_script._zig(tmp_path, "cc", "-c", str(tmp_path / "one.c"), "-o", str(tmp_path / "one.o"))

    assert (tmp_path / "one.o").exists()
    assert (tmp_path / "zig-cache").is_dir()


@pytest.mark.parametrize(
    ("system", "words", "built"),
    [
        ("darwin", [], []),
        ("darwin", ["aarch64"], ["aarch64"]),
        ("linux", [], ["x86_64"]),
    ],
)
def test_what_only_linux_can_load_is_built_elsewhere_only_if_named(
    system: str,
    words: list[str],
    built: list[str],
    build_script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    architectures: list[str] = []
    monkeypatch.setattr(build_script, "build", architectures.append)
    monkeypatch.setattr(build_script.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(sys, "argv", ["build_cpu_backends.py", *words])

    build_script.main()

    assert architectures == built


def test_a_build_of_an_older_version_stays_as_it_is() -> None:
    contention.follow_contention(ctypes.CDLL(None))

    assert "contention" not in {thread.name for thread in threading.enumerate()}
