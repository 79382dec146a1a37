"""What an index keeps of a library on disk is found again, and damage is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.docfile import DocFile, write_docs
from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.rows import RowTable
from exploracoder_retrieval.vectors import Schedule

DOCS = tuple(
    ApiDoc(path=f"tea.pour{number}", kind="function", library="tea", summary=f"Ünï {number}.\n")
    for number in range(50)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "generation"
    path.mkdir()
    write_docs(path, DOCS)
    return path


def test_docs_come_back_one_by_one_together_and_in_slices(folder: Path) -> None:
    docs = DocFile.open(folder, len(DOCS))

    assert len(docs) == 50
    assert (docs[0], docs[-1], docs[3:5]) == (DOCS[0], DOCS[-1], DOCS[3:5])
    assert tuple(docs) == DOCS
    with pytest.raises(IndexError):
        docs[50]


def test_docs_stay_readable_when_another_process_removes_their_folder(folder: Path) -> None:
    docs = DocFile.open(folder, len(DOCS))
    shutil.rmtree(folder)

    assert docs[42] == DOCS[42]


def test_a_library_without_docs_is_no_damage(tmp_path: Path) -> None:
    write_docs(tmp_path, ())

    assert list(DocFile.open(tmp_path, 0)) == []


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.json", "starts.npy"])
def test_a_file_that_was_cut_is_noticed_when_it_is_opened(name: str, folder: Path) -> None:
    file = folder / name
    file.write_bytes(file.read_bytes()[:-9])

    with pytest.raises(IndexCorrupt, match="damaged or incomplete"):
        DocFile.open(folder, len(DOCS))


def test_one_changed_byte_is_noticed(folder: Path) -> None:
    file = folder / "docs.jsonl"
    content = bytearray(file.read_bytes())
    content[500] ^= 1
    file.write_bytes(content)

    with pytest.raises(IndexCorrupt):
        DocFile.open(folder, len(DOCS))


def test_other_docs_than_the_catalog_says_are_noticed(folder: Path) -> None:
    with pytest.raises(IndexCorrupt):
        DocFile.open(folder, len(DOCS) + 1)


def test_a_table_finds_every_row_of_a_key_and_none_of_another(tmp_path: Path) -> None:
    RowTable.build([("tea", 7), ("chai", 1), ("tea", 3)]).save(tmp_path / "table.npy")
    table = RowTable.load(tmp_path / "table.npy")

    assert table.find("tea") == [7, 3]
    assert table.find("chai") == [1]
    assert table.find("mate") == []
    assert RowTable.build([]).find("tea") == []
    assert table.first(["mate", "tea", "chai"]).tolist() == [-1, 7, 1]
    assert RowTable.build([]).first(["tea"]).tolist() == [-1]


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"text" * 100])
def test_a_damaged_table_is_noticed(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "table.npy").write_bytes(content)

    with pytest.raises(IndexCorrupt):
        RowTable.load(tmp_path / "table.npy")


@pytest.mark.parametrize(
    "count", [1, 2, 99, 100, 101, 999, 1_001, 2_228, 10_007, 100_000, 999_999, 1_000_003]
)
def test_the_last_portion_of_vectors_makes_chroma_save_all(count: int) -> None:
    schedule = Schedule.of(count)
    pending, saves = 0, 0

    sizes = [span.stop - span.start for span in schedule.spans()]
    for size in sizes:
        pending += size
        if pending >= schedule.sync:
            pending, saves = 0, saves + 1

    assert pending == 0
    assert (sum(sizes), saves) == (count, schedule.saves)
    assert 0 < min(sizes) <= max(sizes) <= 1_000
    assert saves <= 21
