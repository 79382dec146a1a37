"""Asking a Python for its version and paths, and what can stand in its place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import InterpreterError
from exploracoder_retrieval.library_python import Interpreter


def test_an_interpreter_tells_its_version_and_paths(interpreter: Interpreter) -> None:
    assert interpreter.version == sys.version_info[:3]
    assert Path() not in interpreter.search_paths
    assert any(path.name == "site-packages" for path in interpreter.search_paths)


def test_a_distribution_is_known_by_the_names_it_provides(interpreter: Interpreter) -> None:
    distribution = interpreter.distribution_of("Stemmer")

    assert distribution is not None
    assert distribution.name.lower() == "pystemmer"
    assert distribution.version
    assert distribution.readme
    assert interpreter.import_names("pystemmer") == ("Stemmer",)


def test_a_standard_module_belongs_to_no_distribution(interpreter: Interpreter) -> None:
    assert interpreter.distribution_of("json") is None


def test_a_module_in_the_current_folder_does_not_answer_for_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path)

    assert Interpreter.inspect(sys.executable).version == sys.version_info[:3]


def test_a_missing_interpreter_is_named(tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match=r"There is no interpreter .*nopython.*--python"):
        Interpreter.inspect(tmp_path / "nopython")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo hello", "is not a Python"),
        ("echo oh no >&2; exit 3", "is not a usable Python: oh no"),
        (
            """echo '{"executable": "/x", "version": [3, 8, 1], "paths": []}'""",
            r"is Python 3\.8\.1; 3\.9 or newer is needed",
        ),
    ],
)
def test_something_else_in_its_place_is_refused(script: str, message: str, tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)

    with pytest.raises(InterpreterError, match=message):
        Interpreter.inspect(fake)


def test_a_file_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("")

    with pytest.raises(InterpreterError, match="cannot be run"):
        Interpreter.inspect(tmp_path / "python")


def write_traps(folder: Path, marker: Path) -> None:
    """Modules that Python imports by itself, or that a question to it may import."""
    for name in ("json", "sitecustomize", "usercustomize", "site", "os"):
        trap = f"open({str(marker)!r}, 'a').write({name!r})\n"
        (folder / f"{name}.py").write_text(trap, encoding="utf-8")


@pytest.mark.parametrize("where", ["current folder", "TMPDIR", "PYTHONPATH"])
def test_no_module_that_lies_about_is_run(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, marker = tmp_path / "about", tmp_path / "it-ran"
    folder.mkdir()
    write_traps(folder, marker)
    if where == "current folder":
        monkeypatch.chdir(folder)
    else:
        monkeypatch.setenv(where, str(folder))
        monkeypatch.setattr("tempfile.tempdir", None)

    interpreter = Interpreter.inspect(sys.executable)

    assert not marker.exists()
    assert (folder in interpreter.search_paths) == (where == "PYTHONPATH")


def test_an_interpreter_is_told_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("SOME_SETTING", "secret")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nenv > {tmp_path}/env\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)

    Interpreter.inspect(python)

    assert "PATH=" in (tmp_path / "env").read_text()
    assert "secret" not in (tmp_path / "env").read_text()
