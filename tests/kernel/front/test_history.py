"""A front end's arrow keys: which cells a history request gets."""

from __future__ import annotations

from typing import Any

import pytest
from exploracoder_kernel.kernel.cell_history import SESSION, CellHistory


def history() -> CellHistory:
    cells = CellHistory()
    for number, code in enumerate(["a1", "b", "a2", "a1"], 1):
        cells = cells.plus(number, code, None)
    return cells


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ({"hist_access_type": "tail", "n": 2}, [3, 4]),
        ({"hist_access_type": "tail", "n": 0}, []),
        ({"hist_access_type": "tail"}, [1, 2, 3, 4]),
        ({"hist_access_type": "range", "session": 0, "start": 2, "stop": 4}, [2, 3]),
        ({"hist_access_type": "range", "session": SESSION, "start": 3}, [3, 4]),
        ({"hist_access_type": "range", "session": 9}, []),
        ({"hist_access_type": "search", "pattern": "a*"}, [1, 3, 4]),
        ({"hist_access_type": "search", "pattern": "a*", "n": 2}, [3, 4]),
        ({"hist_access_type": "search", "pattern": "a?", "unique": True}, [3, 4]),
        ({"hist_access_type": "search", "pattern": "c"}, []),
    ],
)
def test_the_cells_that_were_asked_for_come_oldest_first(
    asked: dict[str, Any], numbers: list[int]
) -> None:
    answer = history().answer(**asked)

    assert [entry[1] for entry in answer] == numbers


def test_results_come_along_when_they_were_asked_for() -> None:
    one = CellHistory().plus(1, "2 + 2", "4")

    assert one.answer("tail", output=True) == [[SESSION, 1, ["2 + 2", "4"]]]


def test_a_fork_goes_on_by_itself() -> None:
    parent = history()

    child = parent.plus(5, "mine", None)

    assert len(child.answer("tail")) == 5
    assert len(parent.answer("tail")) == 4
