"""Trees in which something waits for whoever reads them: read, or skipped with the reason."""

from __future__ import annotations

import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from exploracoder_retrieval import files
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.harvest.docs.collect import collect
from exploracoder_retrieval.harvest.docs.source import DocsSource
from exploracoder_retrieval.harvest.reader import harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository

SECRET = "class Secret:\n    '''hunter2'''\n"
MEMORY_BYTES = 4 << 30


@pytest.fixture(autouse=True)
def bounds() -> Iterator[None]:
    """What never ends takes memory until it is refused, and not all of the machine's."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    held_bytes = psutil.Process().memory_info().vms  # by the tests before, too
    resource.setrlimit(resource.RLIMIT_AS, (held_bytes + MEMORY_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with a package, a README, examples, docs, and tests."""
    top = tmp_path / "project"
    for name, text in {
        "pyproject.toml": '[project]\nname = "brew"\nversion = "1"\n',
        "brew/__init__.py": "def steep():\n    '''Steep some tea.'''\n",
        "brew/tests/test_brew.py": "def test_steep():\n    assert steep\n",
        "examples/one.py": "import brew\nbrew.steep()\n",
        "tests/test_more.py": "def test_more():\n    assert True\n",
    }.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.py").write_text(SECRET, encoding="utf-8")
    return top


def bind(file: Path) -> None:
    with working_in(file.parent), socket.socket(socket.AF_UNIX) as unix_socket:
        unix_socket.bind(file.name)


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """A socket's address may have a hundred characters."""
    before = Path.cwd()
    os.chdir(folder)
    yield
    os.chdir(before)


def grow(file: Path) -> None:
    file.touch()
    os.truncate(file, 1 << 40)


PLACES = ("brew", "brew/tests", "tests", "examples", "docs")
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link to itself": (lambda file: file.symlink_to(file.name), "symbolic links"),
    "rot13": (lambda file: file.write_bytes(b"# coding: rot13\nqrs s(): cnff\n"), "encoding"),
    "punycode": (lambda file: file.write_bytes(b"# coding: punycode\nx = 1\n"), "encoding"),
    "no encoding": (lambda file: file.write_bytes(b"# coding: klingon\nx = 1\n"), "encoding"),
    "undefined": (lambda file: file.write_bytes(b"# coding: undefined\nx = 1\n"), "encoding"),
    "not its encoding": (lambda file: file.write_bytes(b"# coding: utf-8\n'\xff'\n"), "text"),
    "a null": (lambda file: file.write_bytes(b"x = 1\0\n"), "null"),
    "a pipe": (lambda file: os.mkfifo(file), "no regular file"),
    "a socket": (bind, "no regular file"),
    "a link to a device": (lambda file: file.symlink_to("/dev/zero"), "no regular file"),
    "a link to a terminal": (lambda file: file.symlink_to("/dev/tty"), "no regular file"),
    "a link outside": (lambda file: file.symlink_to("../../elsewhere/secret.py"), "outside"),
    "enormous": (grow, "larger than"),
    "nested": (lambda file: file.write_text("x = " + "(" * 9_000 + ")" * 9_000), ""),
    "nested unary": (lambda file: file.write_text("x = " + "-" * 900_000 + "1"), ""),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_waits_for_its_reader_is_skipped_with_the_reason(
    kind: str, tree: Path, interpreter: Interpreter, embedder: MiniLmEmbedder, tmp_path: Path
) -> None:
    make, reason = FILES[kind]
    make(tree / "brew" / "trap.py")
    if "outside" in kind:
        (tree / "brew" / "trap.py").unlink()
        (tree / "brew" / "trap.py").symlink_to(tmp_path / "elsewhere" / "secret.py")
    index = Index.open(tmp_path / "index", embedder)

    info = ensure(tree, interpreter, index)
    repository = Repository.open(tree, interpreter)

    reasons = {Path(each.name).name: each.reason for each in info.skipped}
    assert index.get("brew.steep") is not None
    assert index.get("brew.trap.Secret") is None
    assert reason in reasons["trap.py"]
    assert "brew/trap.py" in {file for file, _ in repository.skipped_files}
    assert not repository.classes("Secret")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "kind", ["a link to itself", "rot13", "a pipe", "a socket", "a link to a device", "enormous"]
)
def test_it_is_skipped_wherever_it_lies(
    kind: str, place: str, tree: Path, interpreter: Interpreter, tmp_path: Path
) -> None:
    (tree / place).mkdir(exist_ok=True)
    FILES[kind][0](tree / place / "test_trap.py")

    result = harvest(tree, interpreter)

    assert "brew.steep" in {doc.path for doc in result.docs}


@pytest.mark.parametrize("name", ["trap.md", "trap.py", "trap.ipynb", "trap.jsonl", "objects.inv"])
@pytest.mark.parametrize("kind", ["a link to itself", "a pipe", "a link to a device", "enormous"])
def test_documentation_that_waits_for_its_reader_is_skipped_with_the_reason(
    kind: str, name: str, tree: Path
) -> None:
    docs = tree / "docs"
    docs.mkdir()
    make, reason = FILES[kind]
    make(docs / name)
    reasons: dict[str, str] = {}

    pieces = collect([DocsSource("docs", docs)], "brew", "brew", reasons.__setitem__)

    assert pieces.apis == []
    assert reason in reasons[str(docs / name)] or "longer than" in reasons[str(docs / name)]


@pytest.mark.parametrize("name", ["README.md", "pyproject.toml", "brew/__init__.py"])
@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "outside"])
def test_what_says_what_a_project_is_may_be_a_trap(
    target: str, name: str, tree: Path, interpreter: Interpreter, tmp_path: Path
) -> None:
    (tree / "brew" / "more.py").write_text("def pour(): ...\n", encoding="utf-8")
    (tree / name).unlink(missing_ok=True)
    if target == "pipe":
        os.mkfifo(tree / name)
    else:
        secret = tmp_path / "elsewhere" / "secret.py"
        (tree / name).symlink_to(secret if target == "outside" else target)

    try:
        text = harvest(tree, interpreter).model_dump_json()
    except UnreadableSource as refused:
        text = str(refused)

    assert "hunter2" not in text


@pytest.mark.parametrize("target", [".", "..", "../brew", "../../elsewhere", "/"])
def test_a_link_to_a_folder_is_not_followed(
    target: str, tree: Path, interpreter: Interpreter
) -> None:
    for place in ("brew", "brew/tests", "examples", "tests"):
        for name in ("tests", "loop", "other"):
            if not (tree / place / name).exists():
                (tree / place / name).symlink_to(target)

    result = harvest(tree, interpreter)
    repository = Repository.open(tree, interpreter)

    assert {doc.path for doc in result.docs} == {"brew.steep"}
    assert any("link to a folder" in each.reason for each in result.skipped)
    assert any(file.endswith("loop") for file, _ in repository.skipped_files)
    assert not repository.classes("Secret")


def test_a_package_of_an_installed_library_may_be_a_link_but_no_circle(
    tree: Path, tmp_path: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "brew").symlink_to(tree / "brew")
    (tree / "brew" / "loop").symlink_to(".")
    monkeypatch.setenv("PYTHONPATH", str(site))

    result = harvest("brew", Interpreter.inspect(sys.executable))

    assert {doc.path for doc in result.docs} == {"brew.steep"}


def test_a_tree_that_is_too_deep_is_read_as_far_as_it_goes(
    tree: Path, interpreter: Interpreter
) -> None:
    folder = tree / "brew"
    with working_in(folder):
        for _ in range(400):
            Path("deep").mkdir()
            os.chdir("deep")
            Path("__init__.py").write_text("from .deep import *\ndef dig(): ...\n")

    result = harvest(tree, interpreter)
    repository = Repository.open(tree, interpreter)

    assert "brew.steep" in {doc.path for doc in result.docs}
    assert len(repository.functions("dig")) == files.MAX_DEPTH - 1  # below the package
    assert any("folders deep" in reason for _, reason in repository.skipped_files)
    assert any("folders deep" in each.reason for each in result.skipped)


def test_more_files_than_anybody_wants_are_left_out(
    tree: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_ENTRIES", 50)
    for number in range(100):
        (tree / "brew" / f"part{number:03}.py").write_text("def f(): ...\n", encoding="utf-8")

    result = harvest(tree, interpreter)
    repository = Repository.open(tree, interpreter)

    assert len(result.docs) < 60
    assert any("more than" in each.reason for each in result.skipped)
    assert any("more than" in reason for _, reason in repository.skipped_files)


def test_a_link_that_leads_out_by_its_folder_is_seen(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.py").write_text(SECRET, encoding="utf-8")
    (tmp_path / "in" / "door").symlink_to("../out")

    with pytest.raises(UnreadableSource, match="outside"):
        files.read_bytes(tmp_path / "in" / "door" / "x.py", inside=tmp_path / "in")
