"""An index that another version wrote, that a dying process left, or that two use at once."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from chromadb.errors import InternalError
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import Vectors, np
from exploracoder_retrieval.catalog import Catalog, Files
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.errors import (
    EmbeddingError,
    IndexUnavailable,
    LibraryNotFound,
    RetrievalError,
)
from exploracoder_retrieval.harvest import Harvest, LibraryInfo
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.vectors import Rows, VectorStore

from .test_docs_alone import OPENAPI

# Says where it is, and stays there until it is killed.
STOPS = """
    import sys, time
    from pathlib import Path
    from exploracoder_retrieval.catalog import Files
    from exploracoder_retrieval.embeddings import MiniLmEmbedder
    from exploracoder_retrieval.harvest import Harvest
    from exploracoder_retrieval.index import Index

    def stop(*given, **more):
        print("here", flush=True)
        time.sleep(600)

    where = {"embed": (MiniLmEmbedder, "embed"), "catalog": (Files, "write_catalog")}
    setattr(*where[sys.argv[2]], stop)
    index = Index.open(Path(sys.argv[1]), MiniLmEmbedder())
    index.update(Harvest.model_validate_json(sys.stdin.read()))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def index(folder: Path, embedder: MiniLmEmbedder, told: list[str]) -> Iterator[Index]:
    with Index.open(folder, embedder, on_warning=told.append) as fresh_index:
        yield fresh_index


def library(version: str, *names: str) -> Harvest:
    docs = tuple(
        ApiDoc(path=f"brew.{name}", kind="function", library="brew", summary=f"To {name} tea.")
        for name in names
    )
    info = LibraryInfo(
        name="brew",
        import_name="brew",
        version=version,
        source="module",
        root="",
        overview="",
        examples=(),
    )
    return Harvest(library=info, docs=docs, skipped=())


def found(index: Index) -> set[str]:
    return {hit.doc.path for hit in index.search("tea", ["brew"], 9)}


def test_versions_that_share_a_folder_leave_each_others_index_alone(
    folder: Path,
    index: Index,
    embedder: MiniLmEmbedder,
    told: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index.update(library("1", "steep"))

    with monkeypatch.context() as patch:
        patch.setattr("exploracoder_retrieval.catalog.SCHEMA", 99)
        with Index.open(folder, embedder, on_warning=told.append) as other:
            assert other.names() == frozenset()
            other.update(library("2", "pour"))

    assert found(index) == {"brew.steep"}
    assert told == []


def test_a_catalog_that_another_process_mended_meanwhile_is_used(
    folder: Path, index: Index, embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(library("1", "steep"))
    catalog = Files(folder).folder / "catalog.json"
    sound = catalog.read_text()
    catalog.write_text("{")
    locked = Files.locked

    @contextmanager
    def locked_after_another(files: Files) -> Iterator[None]:
        with locked(files):
            catalog.write_text(sound)
            yield

    monkeypatch.setattr(Files, "locked", locked_after_another)
    warnings: list[str] = []

    with Index.open(folder, embedder, on_warning=warnings.append) as other:
        assert found(other) == {"brew.steep"}

    assert warnings == []


def test_a_catalog_that_is_replaced_while_it_is_read_is_read_again(
    folder: Path, index: Index, embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Files.read_catalog

    def replace_after_reading(files: Files) -> Catalog:
        monkeypatch.setattr(Files, "read_catalog", read)
        catalog = read(files)
        index.update(library("1", "steep"))
        return catalog

    monkeypatch.setattr(Files, "read_catalog", replace_after_reading)

    with Index.open(folder, embedder) as other:
        assert other.names() == {"brew"}


class OtherEmbedder:
    """Vectors that have nothing to do with the model's own."""

    name = "other"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = MiniLmEmbedder().embed(texts)[:, ::-1][:, : self.dimensions]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.mark.parametrize("dimensions", [8, 384])
def test_embedders_that_share_an_index_keep_their_vectors_apart(
    dimensions: int, folder: Path, index: Index, told: list[str]
) -> None:
    index.update(library("1", "steep", "pour"))
    before = index.search("tea", None, 9)

    with Index.open(folder, OtherEmbedder(dimensions), on_warning=told.append) as other:
        assert other.search("tea") == ()
        with pytest.raises(LibraryNotFound, match="with other embeddings only"):
            found(other)
        assert len(other.docs("brew")) == 2
        other.update(library("1", "steep", "pour"))
        assert found(other) == {"brew.steep", "brew.pour"}

    assert index.search("tea", None, 9) == before
    assert told == []


def test_docs_whose_file_is_gone_are_embedded_from_the_index(
    tmp_path: Path, folder: Path, index: Index, interpreter: Interpreter
) -> None:
    file = tmp_path / "teahouse.yaml"
    file.write_text(OPENAPI)
    index.given_docs.give("tea house", [str(file)], stands_alone=True)
    ensure("tea house", interpreter, index)
    file.unlink()

    with Index.open(folder, OtherEmbedder(8)) as other:
        ensure("tea house", interpreter, other)
        (hit,) = other.search("look up one tea", ["tea house"], 1)

    assert hit.doc.kind == "operation"


def test_vectors_of_another_length_damage_nothing(tmp_path: Path) -> None:
    rows = Rows(["a"], np.ones((1, 4), dtype=np.float32), ["tea"], [{"library": "brew"}])
    store = VectorStore(tmp_path, None)
    store.write("first", 1, [rows])

    with pytest.raises(EmbeddingError, match="dimension of 4, got 8"):
        store.search("first", np.ones((1, 8), dtype=np.float32), 1, None)
    assert store.matching("first", {"library": "brew"}) == ["a"]
    store.close()


def test_a_generation_that_cannot_be_written_again_stays_as_it_was(
    folder: Path, index: Index, embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(library("1", "steep"))
    (file,) = folder.rglob("docs.jsonl")
    before = file.read_text()
    (Files(folder).folder / "catalog.json").unlink()

    def no_room(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("exploracoder_retrieval.catalog.write_docs", no_room)
    with Index.open(folder, embedder) as other, pytest.raises((OSError, RetrievalError)):
        other.update(library("1", "steep"))

    assert file.read_text() == before
    assert [path.name for path in file.parent.parent.iterdir()] == [file.parent.name]


def test_documents_with_what_a_newer_version_says_are_read_again(
    folder: Path, index: Index, embedder: MiniLmEmbedder
) -> None:
    index.update(library("1", "steep"))
    (file,) = folder.rglob("docs.jsonl")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"colour": "green"}))
    warnings: list[str] = []

    with Index.open(folder, embedder, on_warning=warnings.append) as other:
        other.update(library("1", "steep"))
        assert found(other) == {"brew.steep"}

    assert len(warnings) == 1
    assert "damaged" in warnings[0]


@pytest.mark.parametrize("place", ["embed", "catalog"])
def test_a_writer_that_is_killed_leaves_what_was_there_and_no_lock(
    place: str, folder: Path, index: Index, told: list[str]
) -> None:
    index.update(library("1", "steep", "pour"))
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(STOPS), str(folder), place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdin and writer.stdout
        writer.stdin.write(library("2", "steep", "whisk").model_dump_json())
        writer.stdin.close()
        assert writer.stdout.readline() == "here\n"
        meanwhile = found(index)
        os.kill(writer.pid, signal.SIGKILL)

    assert meanwhile == found(index) == {"brew.steep", "brew.pour"}
    assert index.info("brew").version == "1"
    index.update(library("2", "steep", "whisk"))
    assert found(index) == {"brew.steep", "brew.whisk"}
    assert [each.name for each in (Files(folder).folder / "libraries" / "brew").iterdir()] == [
        each.parent.name for each in folder.rglob("docs.jsonl")
    ]
    assert told == []


def test_a_library_that_is_removed_is_gone_for_every_reader(
    folder: Path, index: Index, embedder: MiniLmEmbedder
) -> None:
    with Index.open(folder, embedder) as reader:
        index.update(library("1", "steep"))
        before = reader.names()
        index.remove("brew")

        assert (before, reader.names()) == (frozenset({"brew"}), frozenset())
        assert list(folder.rglob("docs.jsonl")) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system lists no open files")
def test_vectors_stay_when_no_more_files_can_be_opened(
    folder: Path, index: Index, embedder: MiniLmEmbedder, told: list[str]
) -> None:
    index.update(library("1", *(f"steep_{number}" for number in range(120))))
    found(index)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_file = os.dup(0)
    os.close(next_file)
    reasons: list[str] = []
    # Chroma fails differently for lack of its database, of its graph, or of its own sockets.
    for spare in range(12):
        index._meaning.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_file + spare, hard))
        try:
            found(index)
        except IndexUnavailable as error:
            reasons.append(str(error))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert any("Nothing is lost" in one for one in reasons)
    assert len(found(index)) == 9
    assert told == []


@pytest.mark.parametrize(
    "message",
    [
        "error returned from database: (code: 5) database is locked",
        "error returned from database: (code: 13) database or disk is full",
        "error returned from database: (code: 1032) attempt to write a readonly database",
    ],
)
def test_trouble_that_passes_deletes_no_vectors(
    message: str, index: Index, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(library("1", "steep"))
    open_client = VectorStore._open
    failures = iter([InternalError(message)] * 3)

    def fail_thrice(store: VectorStore) -> object:
        if error := next(failures, None):
            raise error
        return open_client(store)

    monkeypatch.setattr(VectorStore, "_open", fail_thrice)

    with pytest.raises(IndexUnavailable, match=re.escape(message)):
        found(index)
    # The third failure is followed by another try with a new client.
    assert found(index) == {"brew.steep"}
    assert told == []


def test_a_full_disk_deletes_no_vectors(
    folder: Path, index: Index, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(library("1", "steep"))

    def fail(*_: object, **__: object) -> None:
        raise InternalError("Error in compaction: Failed to apply logs to the metadata segment")

    def no_room(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(VectorStore, "_open", fail)
        patch.setattr("exploracoder_retrieval.vectors.TemporaryFile", no_room)
        with pytest.raises(IndexUnavailable, match="No space left on device"):
            index.update(library("2", "steep", "pour"))

    assert found(index) == {"brew.steep"}
    assert told == []


def test_a_nearly_full_disk_deletes_no_vectors(
    index: Index, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(library("1", "steep"))

    def fail(*_: object, **__: object) -> None:
        raise InternalError("Error in compaction: Failed to apply logs to the metadata segment")

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with monkeypatch.context() as patch:
        patch.setattr(VectorStore, "_open", fail)
        # The first write is then short, and only the next one fails.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, hard))
        try:
            with pytest.raises(IndexUnavailable, match="File too large"):
                found(index)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert found(index) == {"brew.steep"}
    assert told == []


def test_vectors_that_another_process_made_again_meanwhile_are_used(
    folder: Path, index: Index, embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(library("1", "steep"))
    index.close()
    database = Files(folder).chroma / "chroma.sqlite3"
    sound = database.read_bytes()
    database.write_bytes(b"not a database" * 500)
    locked = Files.locked

    @contextmanager
    def locked_after_another(files: Files) -> Iterator[None]:
        with locked(files):
            database.write_bytes(sound)
            yield

    monkeypatch.setattr(Files, "locked", locked_after_another)
    warnings: list[str] = []

    with Index.open(folder, embedder, on_warning=warnings.append) as other:
        assert found(other) == {"brew.steep"}

    assert warnings == []


def test_files_that_were_replaced_are_opened_anew_though_another_store_has_the_old_ones_open(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "chroma"
    rows = Rows(["a"], np.ones((1, 4), dtype=np.float32), ["tea"], [{"library": "brew"}])
    one, other = VectorStore(folder, None), VectorStore(folder, None)
    one.write("first", 1, [rows])
    assert other.matching("first", {"library": "brew"}) == ["a"]
    shutil.copytree(folder, tmp_path / "copy")
    shutil.rmtree(folder)
    (tmp_path / "copy").rename(folder)

    one.write("second", 1, [rows])
    other.write("third", 1, [rows])
    other.close()

    for name in ("first", "second", "third"):
        assert one.matching(name, {"library": "brew"}) == ["a"]
    one.close()
