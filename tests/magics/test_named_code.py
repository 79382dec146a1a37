"""Code that is named: which call stands below a function, and where a file is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_jupyter.magics.named_code import code_named


def real() -> None:
    """A check."""


def test_a_function_is_called_by_its_own_name() -> None:
    assert code_named("alias", {"alias": real}, "--check").endswith("real()\n")


def test_a_lambda_is_called_by_the_name_that_it_has() -> None:
    check = lambda: None  # noqa: E731  # as in a cell

    assert code_named("check", {"check": check}, "--check").endswith("check()\n")


def test_a_file_may_be_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "check.py").write_text("assert names")

    assert code_named("~/check.py", {}, "--check") == "assert names"
