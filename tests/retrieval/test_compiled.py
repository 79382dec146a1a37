"""Compiled modules: imported in a sandbox only, and of folders only when the user says so."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from exploracoder.confined_interpreter import find_interpreter
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.errors import NotConfined
from exploracoder_retrieval.harvest import harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.six_tools import RepositoryTools

from .conftest import by_path

FAST = "from .Stemmer import Stemmer\n__all__ = ['Stemmer', 'steep']\ndef steep(): ...\n"


@pytest.fixture
def brew(tmp_path: Path, interpreter: Interpreter) -> Path:
    """A package with a module that was compiled: a copy of an installed one."""
    (module,) = [
        file
        for path in interpreter.search_paths
        for file in (path.glob("Stemmer.*.so") if path.is_dir() else ())
    ][:1]
    folder = tmp_path / "project" / "brew"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(FAST, encoding="utf-8")
    shutil.copy(module, folder / module.name)
    return folder


def test_nothing_of_a_folder_that_was_only_named_is_imported(
    brew: Path, interpreter: Interpreter
) -> None:
    result = harvest(brew, interpreter)

    assert set(by_path(result)) == {"brew.steep"}
    assert [each.name for each in result.skipped] == ["brew.Stemmer"]
    assert "--import-compiled" in result.skipped[0].reason


def test_a_module_beside_a_named_library_is_not_imported_either(
    brew: Path, interpreter: Interpreter
) -> None:
    (module,) = brew.glob("*.so")
    module.rename(brew.parent / module.name)
    (brew / "__init__.py").write_text(FAST.replace(".Stemmer", "Stemmer"), encoding="utf-8")

    result = harvest(brew, replace(interpreter, search_paths=()))

    assert "brew.Stemmer" not in by_path(result)


def test_compiled_modules_of_a_folder_are_imported_if_the_user_says_so(
    brew: Path, interpreter: Interpreter, tmp_path: Path
) -> None:
    marker = tmp_path / "it-ran"
    (brew / "__init__.py").write_text(f"open({str(marker)!r}, 'w')\n{FAST}", encoding="utf-8")

    result = harvest(brew, replace(interpreter, imports_named=True))

    assert "brew.Stemmer.stemWord" in by_path(result)
    assert not marker.exists()


def test_packages_of_what_is_installed_run_only_in_the_sandbox(
    brew: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "it-ran"
    code = f"import os\ntry:\n    open({str(marker)!r}, 'w')\nexcept OSError:\n    pass\n"
    names = "KEYS = os.environ.get('OPENAI_API_KEY', '')\nassert not KEYS\n"
    (brew / "__init__.py").write_text(code + names + FAST, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(brew.parent))
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    result = harvest("brew", find_interpreter(sys.executable))

    assert "brew.Stemmer.stemWord" in by_path(result)
    assert not marker.exists()


def _none_there(_python: Path, _code: str, _readable: tuple[Path, ...]) -> tuple[str, str]:
    raise NotConfined("This kernel has neither.")


@pytest.mark.parametrize("confined", [None, _none_there])
def test_without_a_sandbox_compiled_modules_are_left_out_with_the_reason(
    confined: Callable[..., tuple[str, str]] | None, brew: Path, interpreter: Interpreter
) -> None:
    result = harvest(brew, replace(interpreter, imports_named=True, confined_runner=confined))

    assert set(by_path(result)) == {"brew.steep"}
    assert "there is no sandbox here" in result.skipped[0].reason


@pytest.mark.parametrize(
    "printed",
    [
        "[]\n{}\nnull\n",
        '{"name": "other", "stub": "x"}\n',
        '{"name": "brew.Stemmer", "stub": 3}\n',
        '{"name": "brew.Stemmer", "stub": "def ("}\n',
        '{"name": ["brew.Stemmer"], "stub": "x = 1"}\n',
        "[" * 100_000,
    ],
)
def test_what_a_module_answers_for_itself_is_not_believed(
    printed: str, brew: Path, interpreter: Interpreter
) -> None:
    lying = replace(interpreter, imports_named=True, confined_runner=lambda *_: (printed, ""))

    result = harvest(brew, lying)

    assert set(by_path(result)) == {"brew.steep"}
    assert [each.name for each in result.skipped] == ["brew.Stemmer"]


def test_the_repository_tools_import_nothing_of_the_tree(
    brew: Path, interpreter: Interpreter
) -> None:
    snippets: list[str] = []

    def confined(_python: Path, code: str, _readable: tuple[Path, ...]) -> tuple[str, str]:
        snippets.append(code)
        return "", ""

    (brew / "pot.py").write_text("from .Stemmer import Stemmer\nclass Pot(Stemmer): ...\n")
    repository = Repository.open(brew.parent, replace(interpreter, confined_runner=confined))

    RepositoryTools(repository).get_class_info("Pot")

    assert [code for code in snippets if "brew" in code] == []


def test_what_was_read_with_its_compiled_modules_is_current_without_asking_for_them(
    brew: Path, interpreter: Interpreter, embedder: MiniLmEmbedder, tmp_path: Path
) -> None:
    asking = replace(interpreter, imports_named=True)
    index = Index.open(tmp_path / "index", embedder)
    ensure(brew, interpreter, index)
    was_current = index.is_current(brew, asking)

    ensure(brew, asking, index)

    assert not was_current
    assert index.is_current(brew, asking)
    assert index.is_current(brew, interpreter)
    assert index.get("brew.Stemmer.stemWord") is not None
