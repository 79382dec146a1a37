"""Notebooks of every version of the format that was released open, and are saved in the newest.

Each ``notebooks/version-N.ipynb`` was saved by the code that wrote version N, from the exploration
in its ``samples.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exploracoder import document
from exploracoder.errors import InputError
from exploracoder.state import SCHEMA_VERSION

from .samples import exploration

NOTEBOOKS = Path(__file__).with_name("notebooks")
FIRST = 8
VERSIONS = range(FIRST, SCHEMA_VERSION + 1)


def version_in(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))["metadata"]["exploracoder"][
        "schema_version"
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_notebook_of_each_version_loads_and_is_saved_in_the_newest(
    tmp_path: Path, version: int
) -> None:
    path = NOTEBOOKS / f"version-{version}.ipynb"
    state = document.load(path)
    document.save(tmp_path / "tea.ipynb", state)

    assert version_in(path) == version
    assert version_in(tmp_path / "tea.ipynb") == SCHEMA_VERSION
    assert document.load(tmp_path / "tea.ipynb") == state
    assert state.steps == exploration().steps
    assert state.solution == exploration().solution


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (SCHEMA_VERSION + 1, "Upgrade it"),
        (True, "version True"),
        ("3", "version 3"),
        (FIRST - 1, f"version {FIRST - 1} of the format, which no release has written"),
        (-1, "no release"),
    ],
)
def test_a_version_that_is_none_of_ours_is_refused(version: object, said: str) -> None:
    metadata = exploration().model_dump(mode="json") | {"schema_version": version}

    with pytest.raises(InputError, match=said):
        document.from_metadata(metadata, "tea.ipynb")


def test_settings_that_are_unknown_are_left_out_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    state = document.from_metadata(with_settings(steeping="long", candidates=2), "tea.ipynb")

    assert state.settings.candidates == 2
    assert "steeping" not in state.settings.model_dump()
    assert [record.getMessage() for record in caplog.records] == [
        "tea.ipynb was made with settings that this ExploraCoder does not have, and goes on without"
        " them: steeping."
    ]


def test_a_setting_that_is_known_is_still_looked_at() -> None:
    with pytest.raises(InputError, match=r"damaged at settings\.candidates"):
        document.from_metadata(with_settings(candidates=-1), "tea.ipynb")


def with_settings(**changes: object) -> dict[str, object]:
    metadata = exploration().model_dump(mode="json")
    return metadata | {"settings": metadata["settings"] | changes}
