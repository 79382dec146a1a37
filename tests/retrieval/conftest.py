"""Real packages on disk, the real interpreter, the real embedding model."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from exploracoder.confined_interpreter import find_interpreter
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.harvest import Harvest, harvest
from exploracoder_retrieval.library_python import Interpreter

WritePackage = Callable[[Mapping[str, str]], Path]
ReadPackage = Callable[[Mapping[str, str]], Harvest]


@pytest.fixture(scope="session")
def interpreter() -> Interpreter:
    return find_interpreter(sys.executable)


@pytest.fixture(scope="session")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


@pytest.fixture
def write_package(tmp_path: Path) -> WritePackage:
    """Writes files, given as texts by relative path, into a folder and returns it."""

    def write(files: Mapping[str, str]) -> Path:
        root = tmp_path / "project"
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text), encoding="utf-8")
        return root

    return write


@pytest.fixture
def read_package(write_package: WritePackage, interpreter: Interpreter) -> ReadPackage:
    """Writes files and harvests the library in them."""
    return lambda files: harvest(write_package(files), interpreter)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    return path


def by_path(result: Harvest) -> dict[str, ApiDoc]:
    return {doc.path: doc for doc in result.docs}


def reasons(result: Harvest) -> dict[str, str]:
    return {Path(each.name).name: each.reason for each in result.skipped}
