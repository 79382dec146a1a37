"""The index: what it finds, what it keeps, and what it survives."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.catalog import Entry, Files
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.errors import IndexUnavailable, LibraryNotFound
from exploracoder_retrieval.facts.store import ENTRIES, FactStore, read_file
from exploracoder_retrieval.harvest import Harvest, LibraryInfo, harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.search_filter import Filter

from .conftest import WritePackage

BREW = {
    "steep": "Steep the leaves in hot water.",
    "pour": "Pour the tea into cups.",
    "read_recipe_csv": "Load recipes from a comma separated file.",
    "Kettle": "Heats water.",
    "Kettle.boil": "Bring the water to the boil.",
}


class CountingEmbedder(MiniLmEmbedder):
    """Remembers how many texts it embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return super().embed(texts)


@pytest.fixture(scope="module")
def counting() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def warnings_seen() -> list[str]:
    return []


@pytest.fixture
def open_index(
    tmp_path: Path, counting: CountingEmbedder, warnings_seen: list[str]
) -> Iterator[Callable[[], Index]]:
    """Opens the index in one folder, as often as it is called; all are closed at the end."""
    counting.texts.clear()
    indexes: list[Index] = []

    def open_() -> Index:
        indexes.append(Index.open(tmp_path / "index", counting, on_warning=warnings_seen.append))
        return indexes[-1]

    yield open_
    for index in indexes:
        index.close()


def make_harvest(
    summaries: dict[str, str], *, name: str = "brew", version: str = "1", root: Path | str = ""
) -> Harvest:
    docs = tuple(
        ApiDoc(
            path=f"{name}.{path}",
            kind="method" if "." in path else "class" if path[0].isupper() else "function",
            library=name,
            summary=summary,
            aliases=(".brewed", f"{name}.alias.steep") if path == "steep" else (),
        )
        for path, summary in sorted(summaries.items())
    )
    library = LibraryInfo(
        name=name,
        import_name=name,
        version=version,
        source="module",
        root=str(root),
        overview="",
        examples=(),
    )
    return Harvest(library=library, docs=docs, skipped=())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system lists no open files")
def test_what_is_open_is_let_go_of_without_the_collector(
    open_index: Callable[[], Index],
) -> None:
    def files_after_a_search() -> tuple[int, int]:
        index = open_index()
        index.search("pour tea")
        while_open = _open_files()
        index.close()
        return while_open, _open_files()

    open_index().update(make_harvest(BREW))
    gc.disable()
    try:
        (most, first), _, (_, third) = (files_after_a_search() for _ in range(3))
    finally:
        gc.enable()

    assert most >= first + 10
    assert third < first + 10  # chroma may keep one or two of its own


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_what_is_meant_and_what_is_named_are_both_found(open_index: Callable[[], Index]) -> None:
    index = open_index()
    index.update(make_harvest(BREW))

    by_meaning, by_name = index.search_many(["put a drink in mugs", "read_recipe_csv"], ["brew"], 2)

    assert by_meaning[0].doc.path == "brew.pour"
    assert by_name[0].doc.path == "brew.read_recipe_csv"
    assert [hit.score for hit in by_meaning] == sorted(
        (hit.score for hit in by_meaning), reverse=True
    )


def test_libraries_of_one_name_from_two_places_do_not_replace_one_another(
    open_index: Callable[[], Index], tmp_path: Path, counting: CountingEmbedder
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    ours, theirs = open_index(), open_index()
    ours.update(make_harvest(BREW, root=here))
    ours.set_memo("brew", "summary", "ours")
    counting.texts.clear()
    theirs.update(make_harvest({"steep": BREW["steep"], "whisk": "Beat it."}, root=there))
    theirs.set_memo("brew", "summary", "theirs")

    assert [text for text in counting.texts if "steep" in text.lower()] == []  # shared
    for index, root, hit, memo in (
        (ours, here, "pour", "ours"),
        (theirs, there, "whisk", "theirs"),
    ):
        assert index.info("brew").root == str(root)
        assert f"brew.{hit}" in {one.doc.path for one in index.search("pour or beat", ["brew"], 5)}
        assert index.memo("brew", "summary") == memo
    assert ours.get("brew.whisk") is None
    assert open_index().info("brew").root == str(there)  # for who worked with neither: the last
    other = open_index()
    other.prefer(here)
    assert other.info("brew").root == str(here)
    assert [one.name for one in ours.libraries()] == ["brew"]


def test_a_view_works_with_another_edition(open_index: Callable[[], Index], tmp_path: Path) -> None:
    index = open_index()
    index.update(make_harvest(BREW, root=tmp_path))
    view = index.view()
    view.update(make_harvest({"whisk": "Beat it."}, root=tmp_path.parent))

    assert [len(one.docs("brew")) for one in (index, view)] == [len(BREW), 1]


def test_what_changed_where_it_was_read_is_followed(
    open_index: Callable[[], Index], tmp_path: Path
) -> None:
    first, second = open_index(), open_index()
    first.update(make_harvest(BREW, root=tmp_path))
    second.update(make_harvest({"whisk": "Beat it."}, root=tmp_path, version="2"))

    assert first.info("brew").version == "2"
    assert len(first.docs("brew")) == 1


def test_editions_that_are_gone_or_too_many_are_dropped(
    open_index: Callable[[], Index], tmp_path: Path
) -> None:
    index, folders = open_index(), [tmp_path / str(number) for number in range(10)]
    for number, folder in enumerate(folders):
        folder.mkdir()
        index.update(make_harvest({"steep": f"Steep {number} times."}, root=folder))
    editions = Files(tmp_path / "index").folder / "libraries" / "brew"
    assert len(list(editions.iterdir())) == 8
    for folder in folders[:9]:
        folder.rmdir()
    index.update(make_harvest({"steep": "Steep it again."}, root=folders[9]))
    assert len(list(editions.iterdir())) == 1

    index.remove("brew")
    assert list(editions.iterdir()) == []
    assert index.names() == frozenset()


def test_a_library_that_is_no_longer_there_as_it_was_is_not_taken_for_another(
    open_index: Callable[[], Index], tmp_path: Path
) -> None:
    ours, theirs = open_index(), open_index()
    (tmp_path / "gone").mkdir()
    ours.update(make_harvest(BREW, root=tmp_path / "gone"))
    (tmp_path / "gone").rmdir()
    theirs.update(make_harvest({"whisk": "Beat it."}, root=tmp_path))

    with pytest.raises(LibraryNotFound, match="exploracoder index brew"):
        ours.search("pour", ["brew"])


def test_no_api_is_found_twice(open_index: Callable[[], Index]) -> None:
    index = open_index()
    index.update(make_harvest(BREW))

    paths = [hit.doc.path for hit in index.search("steep leaves in water", None, 10)]

    assert paths[0] == "brew.steep"
    assert sorted(paths) == sorted(f"brew.{name}" for name in BREW)


def test_libraries_are_searched_together_or_one_by_one(open_index: Callable[[], Index]) -> None:
    index = open_index()
    index.update(make_harvest(BREW))
    index.update(make_harvest({"boil": "Boil an egg."}, name="eggs"))

    assert {hit.doc.library for hit in index.search("boil", None, 10)} == {"brew", "eggs"}
    assert {hit.doc.library for hit in index.search("boil", ["eggs"], 10)} == {"eggs"}
    assert [library.name for library in index.libraries()] == ["brew", "eggs"]


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (Filter(kind="class"), {"brew.Kettle", "eggs.Pan"}),
        (Filter(inside="brew"), {f"brew.{name}" for name in BREW}),
        (Filter(inside="brew.Kettle"), {"brew.Kettle.boil"}),
        (Filter(kind="function", inside="eggs"), {"eggs.boil"}),
        (Filter(inside="brew.Ket"), set()),
        (Filter(kind="module"), set()),
    ],
)
def test_a_search_may_be_narrowed_to_a_kind_or_a_place(
    open_index: Callable[[], Index], only: Filter, expected: set[str]
) -> None:
    index = open_index()
    index.update(make_harvest(BREW))
    index.update(make_harvest({"boil": "Boil an egg.", "Pan": "Boils eggs."}, name="eggs"))

    assert {hit.doc.path for hit in index.search("boil", None, 10, only=only)} == expected


def test_an_api_is_got_by_its_path_or_another_public_one(open_index: Callable[[], Index]) -> None:
    index = open_index()
    index.update(make_harvest(BREW))

    api = index.get("brew.steep")
    assert api is not None
    assert index.get("brew.alias.steep") == api
    assert index.get(".brewed") is None


def test_only_what_is_new_is_embedded_and_what_vanished_is_gone(
    open_index: Callable[[], Index], counting: CountingEmbedder
) -> None:
    index = open_index()
    index.update(make_harvest(BREW))
    counting.texts.clear()
    summaries = {**BREW, "steep": "Steep them for long.", "whisk": "Whisk matcha."}
    del summaries["pour"]

    index.update(make_harvest(summaries, version="2"))

    assert len(counting.texts) == 2
    assert index.libraries()[0].version == "2"
    paths = {hit.doc.path for hit in index.search("pour tea into cups", None, 20)}
    assert paths == {f"brew.{name}" for name in summaries}


def test_the_same_again_embeds_nothing(
    open_index: Callable[[], Index], counting: CountingEmbedder
) -> None:
    open_index().update(make_harvest(BREW))
    counting.texts.clear()

    open_index().update(make_harvest(BREW))

    assert counting.texts == []


def test_what_was_written_is_found_after_reopening(open_index: Callable[[], Index]) -> None:
    first = open_index()
    first.update(make_harvest(BREW))
    before = first.search("hot water", None, 5)
    first.close()

    assert open_index().search("hot water", None, 5) == before


def test_a_memo_lives_as_long_as_the_content_it_was_made_from(
    open_index: Callable[[], Index],
) -> None:
    index = open_index()
    index.update(make_harvest(BREW))
    index.set_memo("brew", "summary", {"text": "tea"})
    index.set_memo("brew", "plans", [1, 2])

    memo = open_index().memo("brew", "summary")
    index.update(make_harvest(BREW, version="2"))

    assert memo == {"text": "tea"}
    assert index.memo("brew", "summary") is None


def test_a_memo_that_cannot_be_written_is_said(
    open_index: Callable[[], Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index()
    index.update(make_harvest(BREW))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Files, "write_memo", full)

    with pytest.raises(IndexUnavailable, match="cannot be written: No space left"):
        index.set_memo("brew", "summary", "tea")


def test_a_library_that_is_not_indexed_is_said_with_what_to_do(
    open_index: Callable[[], Index],
) -> None:
    with pytest.raises(LibraryNotFound, match=r"No index for 'brew'\. Build it: exploracoder"):
        open_index().search("tea", ["brew"], 3)


def test_an_empty_index_finds_nothing(open_index: Callable[[], Index]) -> None:
    assert open_index().search("tea", None, 3) == ()


def test_a_query_without_any_known_word_still_finds_by_meaning(
    open_index: Callable[[], Index],
) -> None:
    index = open_index()
    index.update(make_harvest(BREW))

    assert index.search("zzz 茶 !?", ["brew"], 3)


def test_a_library_is_read_again_only_when_its_source_changed(
    open_index: Callable[[], Index], write_package: WritePackage, interpreter: Interpreter
) -> None:
    root = write_package({"brew/__init__.py": 'def steep():\n    """Steep."""\n'})
    index = open_index()
    stages: list[str] = []

    def remember(stage: str, done: int, total: int) -> None:
        stages.append(stage)

    ensure(root, interpreter, index, remember)
    first = list(stages)
    stages.clear()
    ensure(root, interpreter, index, remember)
    again = list(stages)
    was_current = index.is_current(root, interpreter)
    write_package({"brew/__init__.py": "def pour(): ...\n"})
    is_current = index.is_current(root, interpreter)
    ensure(root, interpreter, index)

    assert first == ["read", "embed"]
    assert again == []
    assert (was_current, is_current) == (True, False)
    assert [doc.path for doc in index.docs("brew")] == ["brew.pour"]


@pytest.mark.parametrize("stub", ["brew.pyi", "brew-stubs/__init__.pyi", "site/brew-stubs/pot.pyi"])
def test_a_library_is_read_again_when_its_stub_came_or_changed(
    stub: str,
    open_index: Callable[[], Index],
    write_package: WritePackage,
    interpreter: Interpreter,
) -> None:
    root = write_package({"brew.py": "def steep(leaves): ...\n"})
    python = replace(interpreter, search_paths=(*interpreter.search_paths, root / "site"))
    index = open_index()

    for text in ("def steep(leaves: int) -> None: ...\n", "def steep(leaves: str): ...\n"):
        ensure(root / "brew.py", python, index)
        was_current = index.is_current(root / "brew.py", python)
        write_package({stub: text})

        assert (was_current, index.is_current(root / "brew.py", python)) == (True, False)


@pytest.mark.parametrize(
    "damage",
    [
        "catalog.json",
        "docs.jsonl",
        "library.json",
        "frequencies.json",
        "figures.npy",
        "totals.npy",
    ],
)
def test_a_damaged_file_is_noticed_and_the_library_indexed_again(
    damage: str,
    open_index: Callable[[], Index],
    write_package: WritePackage,
    interpreter: Interpreter,
    warnings_seen: list[str],
    tmp_path: Path,
) -> None:
    root = write_package({"brew/__init__.py": 'def steep():\n    """Steep leaves."""\n'})
    first = open_index()
    ensure(root, interpreter, first)
    first.close()
    (file,) = (tmp_path / "index").rglob(damage)
    file.write_bytes(file.read_bytes()[:-20])

    index = open_index()
    ensure(root, interpreter, index)

    assert [hit.doc.path for hit in index.search("steep", ["brew"], 3)] == ["brew.steep"]
    assert len(warnings_seen) == 1
    assert "damaged" in warnings_seen[0]


def test_a_truncated_list_of_documents_is_noticed(
    open_index: Callable[[], Index], warnings_seen: list[str], tmp_path: Path
) -> None:
    first = open_index()
    first.update(make_harvest(BREW))
    first.close()
    (file,) = (tmp_path / "index").rglob("docs.jsonl")
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))

    with pytest.raises(LibraryNotFound, match=r"incomplete.*exploracoder index brew"):
        open_index().search("tea", ["brew"], 3)

    assert len(warnings_seen) == 1


@pytest.mark.parametrize("damage", ["overwritten", "removed"])
def test_lost_vectors_are_made_again_while_searching(
    damage: str,
    open_index: Callable[[], Index],
    warnings_seen: list[str],
    tmp_path: Path,
) -> None:
    first = open_index()
    first.update(make_harvest(BREW))
    before = first.search("hot water", None, 5)
    first.close()
    if damage == "overwritten":
        (Files(tmp_path / "index").chroma / "chroma.sqlite3").write_bytes(b"not a database" * 500)
    else:
        shutil.rmtree(Files(tmp_path / "index").chroma)

    after = open_index().search("hot water", None, 5)

    assert after == before
    assert len(warnings_seen) == 1
    assert "made again" in warnings_seen[0]


def test_vectors_whose_making_was_interrupted_are_completed_with_the_next_search(
    open_index: Callable[[], Index],
    counting: CountingEmbedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("exploracoder_retrieval.vectors._PORTION", 3)
    first = open_index()
    first.update(make_harvest(BREW))
    before = first.search("hot water", None, 5)
    first.close()
    shutil.rmtree(Files(tmp_path / "index").chroma)
    embed = counting.embed

    def fail_on_the_rest(texts: Sequence[str]) -> Any:
        if len(counting.texts) > 1:  # a query and a portion
            raise KeyboardInterrupt
        return embed(texts)

    counting.texts.clear()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(counting, "embed", fail_on_the_rest)
        open_index().search("hot water", None, 5)

    assert open_index().search("hot water", None, 5) == before


def test_an_update_survives_a_damaged_vector_store(
    open_index: Callable[[], Index], warnings_seen: list[str], tmp_path: Path
) -> None:
    first = open_index()
    first.update(make_harvest(BREW))
    first.close()
    (Files(tmp_path / "index").chroma / "chroma.sqlite3").write_bytes(b"not a database" * 500)

    index = open_index()
    index.update(make_harvest({**BREW, "whisk": "Whisk matcha."}))

    assert index.search("matcha", None, 1)[0].doc.path == "brew.whisk"
    assert len(warnings_seen) == 1


def test_an_update_that_fails_leaves_the_old_generation(
    open_index: Callable[[], Index], counting: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index()
    index.update(make_harvest(BREW))

    def fail(self: object, texts: Sequence[str]) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(CountingEmbedder, "embed", fail)
        index.update(make_harvest({"whisk": "Whisk matcha."}, version="2"))

    assert open_index().libraries()[0].version == "1"
    assert index.search("steep", None, 1)[0].doc.path == "brew.steep"


def test_an_interrupted_update_goes_on_where_it_was(
    open_index: Callable[[], Index], counting: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exploracoder_retrieval.vectors._PORTION", 3)
    seen: list[tuple[int, int]] = []

    def interrupt(_stage: str, done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_index().update(make_harvest(BREW), interrupt)
    counting.texts.clear()
    index = open_index()
    index.update(make_harvest(BREW), interrupt)

    assert len(counting.texts) == 3
    assert seen == [(2, 5), (5, 5), (5, 5)]
    assert len(index.search("tea", None, 9)) == 5


def test_a_folder_that_cannot_be_written_is_said(embedder: MiniLmEmbedder) -> None:
    # Not even the superuser can make a folder there.
    with pytest.raises(IndexUnavailable, match="cannot be made"):
        Index.open(Path("/proc/index"), embedder)


def test_a_file_in_the_place_of_the_folder_is_said(
    tmp_path: Path, embedder: MiniLmEmbedder
) -> None:
    (tmp_path / "index").write_text("")

    with pytest.raises(IndexUnavailable, match="cannot be made"):
        Index.open(tmp_path / "index", embedder)


def test_a_server_that_is_not_there_is_said(tmp_path: Path, embedder: MiniLmEmbedder) -> None:
    index = Index.open(tmp_path / "index", embedder, "http://127.0.0.1:9")

    with pytest.raises(IndexUnavailable, match=r"The chroma server http://127\.0\.0\.1:9 "):
        index.update(make_harvest(BREW))


@pytest.mark.thorough
def test_two_processes_may_index_at_the_same_time(
    open_index: Callable[[], Index], write_package: WritePackage, tmp_path: Path
) -> None:
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from exploracoder_retrieval.embeddings import MiniLmEmbedder
        from exploracoder_retrieval.ensure import ensure
        from exploracoder_retrieval.index import Index
        from exploracoder_retrieval.library_python import Interpreter
        with Index.open(Path(sys.argv[1]), MiniLmEmbedder(), on_warning=sys.exit) as index:
            ensure(Path(sys.argv[2]), Interpreter.inspect(sys.executable), index)
            assert index.search("steep leaves", None, 1)
    """)
    root = write_package(
        {f"{name}.py": 'def steep():\n    """Steep leaves."""\n' for name in ("one", "two")}
    )
    index = open_index()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "index"), str(root / f"{name}.py")],
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]

    ends = [(process.communicate(timeout=120)[1], process.returncode) for process in processes]

    assert ends == [("", 0), ("", 0)]
    paths = {hit.doc.path for hit in index.search("steep leaves", None, 5)}
    assert paths == {"one.steep", "two.steep"}


def test_a_reader_follows_what_another_process_replaced(open_index: Callable[[], Index]) -> None:
    reader, writer = open_index(), open_index()
    writer.update(make_harvest(BREW))
    reader.search("tea", None, 1)
    writer.update(make_harvest({"whisk": "Whisk matcha."}, version="2"))

    assert [hit.doc.path for hit in reader.search("tea", None, 5)] == ["brew.whisk"]


def test_what_is_replaced_while_it_is_read_is_not_taken_for_damaged(
    open_index: Callable[[], Index], warnings_seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_index()
    writer.update(make_harvest(BREW))
    replacements = [make_harvest({"whisk": "Whisk matcha."}, version="2")]
    read_generation = Files.read_generation

    def replace_then_read(files: Files, entry: Entry) -> Any:
        if replacements:
            writer.update(replacements.pop())
        return read_generation(files, entry)

    reader = open_index()
    monkeypatch.setattr(Files, "read_generation", replace_then_read)

    assert [doc.path for doc in reader.docs("brew")] == ["brew.whisk"]
    assert warnings_seen == []
    assert [info.version for info in open_index().libraries()] == ["2"]


@pytest.mark.parametrize("work", ["search", "update"])
def test_looking_up_waits_for_nothing_that_takes_long(
    work: str, open_index: Callable[[], Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index()
    index.update(make_harvest(BREW))
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(embedder: CountingEmbedder, texts: Sequence[str]) -> Any:
        hangs.set()
        goes_on.wait(60)
        return MiniLmEmbedder.embed(embedder, texts)

    def look_up() -> list[Any]:
        docs = [doc.path for doc in index.docs("brew")]
        api = index.get("brew.alias.steep")
        return [len(docs), api and api.path, index.info("brew").version, len(index.libraries())]

    monkeypatch.setattr(CountingEmbedder, "embed", hang)
    new_harvest = make_harvest({**BREW, "whisk": "Whisk matcha."}, version="2")
    with ThreadPoolExecutor(2) as pool:
        long = (
            pool.submit(index.search, "a query that nobody else has", ["brew"], 1)
            if work == "search"
            else pool.submit(index.update, new_harvest)
        )
        try:
            assert hangs.wait(30)
            answers = pool.submit(look_up).result(30)
            is_over = long.done()
        finally:
            goes_on.set()

    assert answers == [5, "brew.steep", "1", 1]
    assert not is_over
    assert long.result() is None if work == "update" else long.result()


def test_a_real_small_library_is_searched_well(
    open_index: Callable[[], Index], interpreter: Interpreter
) -> None:
    index = open_index()
    index.update(harvest("filelock", interpreter))

    paths = [hit.doc.path for hit in index.search("try to acquire the file lock", None, 5)]
    assert any(path.endswith(".acquire") for path in paths)


def test_half_a_character_in_a_text_leaves_the_rest_of_a_library_alone(
    open_index: Callable[[], Index],
    write_package: WritePackage,
    interpreter: Interpreter,
    tmp_path: Path,
) -> None:
    root = write_package(
        {
            "brew.py": r'''
            """Half: \ud800."""
            __all__ = ["steep", "pour", "\udc00"]
            WHISKS = "\ud83c\udf75"
            """Tea: \ud83c\udf75, half: \udf75."""
            def steep(kind="\ud800"):
                """Steep \udcff."""
                if kind not in ("green\ud800", "black"):
                    raise ValueError
            def pour(): "Pour it."
            class Pot:
                __slots__ = ("\udfff",)
            '''
        }
    )
    result = harvest(root / "brew.py", interpreter)
    index = open_index()

    index.update(result)
    store = FactStore(tmp_path / "facts", interpreter.version)
    module = read_file(root / "brew.py", "brew", is_package=False, version=interpreter.version)
    store.keep(ENTRIES, "brew", {"brew": module.entry})

    assert index.info("brew").overview == "Half: \ufffd."
    docs = {doc.path: doc for doc in index.docs("brew")}
    assert docs["brew.steep"].doc == "Steep \ufffd."
    assert docs["brew.steep"].signature == r"steep(kind='\ud800')"
    assert docs["brew.steep"].notes[0] == "kind is one of: 'green\ufffd', 'black'"
    assert index.search("pour it", ["brew"], 1)[0].doc.path == "brew.pour"
    assert store.load(ENTRIES, "brew")["brew"].module == module.entry.module
