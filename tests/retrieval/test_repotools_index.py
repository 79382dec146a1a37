"""Opening a repository: incremental, without touching it, and with whatever may lie in it."""

from __future__ import annotations

import hashlib
import resource
import sys
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import (
    IndexUnavailable,
    LibraryNotFound,
    QuestionError,
    UnreadableSource,
)
from exploracoder_retrieval.facts.store import SNIPPETS, FactStore
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.six_tools import RepositoryTools
from exploracoder_retrieval.repotools.tool_questions import Question
from exploracoder_retrieval.repotools.tool_text import answer_text

from .conftest import WritePackage

QUESTIONS = (
    Question.of("get_class_info", {"class_name": "Own"}),
    Question.of("get_signature", {"class_name": "Own", "method_name": "go"}),
    Question.of("get_method_body", {"class_name": "Own", "method_name": "go"}),
    Question.of("get_imports", {"code": "Own()", "file": "lib/new.py"}),
    Question.of("get_related_snippets", {"query": "go"}),
    Question.of("get_relevant_code", {"query": "go"}),
)
LIBRARY = {
    "lib/__init__.py": "from .own import Own\n",
    "lib/own.py": "class Own:\n    def go(self): ...\n",
}


def state(root: Path) -> dict[str, tuple[str, int, int]]:
    """Content and times of every file and folder below."""
    return {
        str(path): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.stat().st_mtime_ns,
            path.stat().st_ctime_ns,
        )
        for path in [root, *root.rglob("*")]
    }


def test_no_tool_changes_or_imports_anything(
    write_package: WritePackage, interpreter: Interpreter, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    trap = f"from pathlib import Path\nPath({str(canary)!r}).write_text('imported')\n"
    root = write_package({name: trap + text for name, text in LIBRARY.items()})
    before = state(root)

    tools = RepositoryTools(Repository.open(root, interpreter, cache=tmp_path / "cache"))
    answers = [question.ask(tools) for question in QUESTIONS]

    assert all(answer_text(answer) for answer in answers)
    assert state(root) == before
    assert not canary.exists()
    assert "lib" not in sys.modules


def test_only_what_has_changed_is_read_again(
    write_package: WritePackage, interpreter: Interpreter, tmp_path: Path
) -> None:
    root, cache = write_package(LIBRARY), tmp_path / "cache"

    first = Repository.open(root, interpreter, cache=cache)
    second = Repository.open(root, interpreter, cache=cache)
    (root / "lib/own.py").write_text("class Own:\n    def come(self): ...\n", encoding="utf-8")
    (root / "lib/more.py").write_text("class More: ...\n", encoding="utf-8")
    third = Repository.open(root, interpreter, cache=cache)
    (root / "lib/more.py").unlink()
    fourth = Repository.open(root, interpreter, cache=cache)

    assert [one.files_read for one in (first, second, third, fourth)] == [2, 0, 2, 0]
    members = RepositoryTools(third).get_class_info("Own").classes[0].members
    assert [one.name for one in members] == ["come"]
    assert third.classes("More")
    assert not fourth.classes("More")
    assert RepositoryTools(fourth).get_relevant_code("come").snippets[0].name.startswith("Own")


def test_a_damaged_cache_is_made_anew(
    write_package: WritePackage, interpreter: Interpreter, tmp_path: Path
) -> None:
    root, cache = write_package(LIBRARY), tmp_path / "cache"
    Repository.open(root, interpreter, cache=cache)
    for file in cache.rglob("*.json"):
        file.write_bytes(file.read_bytes()[:50])

    again = Repository.open(root, interpreter, cache=cache)

    assert again.files_read == 2
    assert RepositoryTools(again).get_relevant_code("go").snippets


def test_pieces_whose_cache_file_is_gone_are_cut_again(
    write_package: WritePackage, interpreter: Interpreter, tmp_path: Path
) -> None:
    root, cache = write_package(LIBRARY), tmp_path / "cache"
    before = Repository.open(root, interpreter, cache=cache).snippets
    (file,) = cache.rglob("*.snippets.json")
    file.unlink()
    (root / "lib/more.py").write_text("class More: ...\n", encoding="utf-8")

    again = Repository.open(root, interpreter, cache=cache)

    assert again.files_read == 1
    assert [one for one in again.snippets if one[0] != "lib/more.py"] == before
    assert set(FactStore(cache, interpreter.version).load(SNIPPETS, f"tree:{root}")) == {
        entry.sha256 for entry in again._index.entries.values()
    }


def test_a_full_disk_leaves_nothing_behind(
    write_package: WritePackage, interpreter: Interpreter, tmp_path: Path
) -> None:
    root, cache = write_package(LIBRARY), tmp_path / "cache"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(IndexUnavailable, match="cannot be written"):
            Repository.open(root, interpreter, cache=cache)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_files_that_cannot_be_read_are_counted_and_said(
    write_package: WritePackage, interpreter: Interpreter
) -> None:
    root = write_package(LIBRARY | {"lib/broken.py": "def (\n"})
    (root / "lib/latin.py").write_bytes(b"name = '\xe9'\n")
    (root / "lib/zero.py").write_bytes(b"a = 1\x00\n")
    (root / "lib/deep.py").write_text("x = " + "(" * 5000 + ")" * 5000, encoding="utf-8")
    answer = RepositoryTools(Repository.open(root, interpreter)).get_class_info("Own")

    files = {one.file for one in answer.skipped}
    assert files == {"lib/broken.py", "lib/latin.py", "lib/zero.py", "lib/deep.py"}
    assert "4 files could not be read" in answer_text(answer)


def test_a_file_in_another_encoding_is_read(
    write_package: WritePackage, interpreter: Interpreter
) -> None:
    root = write_package(LIBRARY)
    text = "# -*- coding: latin-1 -*-\nclass Café:\n    '''é'''\n"
    (root / "lib/cafe.py").write_bytes(text.encode("latin-1"))

    assert Repository.open(root, interpreter).classes("Café")


def test_environments_and_hidden_folders_are_not_source(
    write_package: WritePackage, interpreter: Interpreter
) -> None:
    others = ("venv/x.py", ".hidden/x.py", "lib/__pycache__/x.py", "node_modules/x.py")
    root = write_package(LIBRARY | dict.fromkeys(others, "class X: ...\n"))
    (root / "venv/pyvenv.cfg").touch()

    assert not Repository.open(root, interpreter).classes("X")


def test_modules_below_src_are_named_as_they_are_imported(
    write_package: WritePackage, interpreter: Interpreter
) -> None:
    root = write_package({f"src/{name}": text for name, text in LIBRARY.items()})
    repository = Repository.open(root, interpreter)

    assert repository.classes("Own")[0].path == "lib.own.Own"
    assert repository.sources.file(repository.sources.own["lib.own"]) == "src/lib/own.py"


def test_an_installed_library_is_a_repository(interpreter: Interpreter) -> None:
    answer = RepositoryTools(Repository.open("platformdirs", interpreter)).get_class_info("Unix")

    assert answer.classes[0].file == "platformdirs/unix.py"


@pytest.mark.parametrize(
    ("root", "error"),
    [
        ("/no/such/folder", LibraryNotFound),
        ("nosuchlibrary", LibraryNotFound),
        ("", LibraryNotFound),
        ("math", UnreadableSource),
    ],
)
def test_what_cannot_be_looked_into_is_refused(
    interpreter: Interpreter, root: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Repository.open(root, interpreter)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("get_clas_info", {}, "The nearest is get_class_info"),
        ("get_signature", {"class_name": "A"}, "get_signature needs method_name"),
        ("get_class_info", {"class_name": "A", "query": "x"}, "takes class_name, not query"),
        ("get_imports", {"code": "x", "file": "../x.py"}, "not inside the repository"),
        ("get_relevant_code", {"query": "  "}, "get_relevant_code needs query"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(
    tool: str, arguments: dict[str, str], said: str
) -> None:
    with pytest.raises(QuestionError, match=said):
        Question.of(tool, arguments)
