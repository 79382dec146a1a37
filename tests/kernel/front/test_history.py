"""A front end's arrow keys: which cells a history request gets."""

from __future__ import annotations

import pytest
from exploracoder_kernel.kernel.history import SESSION, Entry, History
from exploracoder_kernel.kernel.messages import HistoryRequest


def history() -> History:
    return History(tuple(Entry(n, code) for n, code in enumerate(["a1", "b", "a2", "a1"], 1)))


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
    asked: dict[str, object], numbers: list[int]
) -> None:
    answer = history().answer(HistoryRequest.model_validate(asked))

    assert [entry[1] for entry in answer] == numbers


def test_results_come_along_when_they_were_asked_for() -> None:
    one = History((Entry(1, "2 + 2", "4"),))

    asked = HistoryRequest(hist_access_type="tail", output=True)

    assert one.answer(asked) == [[SESSION, 1, ["2 + 2", "4"]]]


def test_a_fork_goes_on_by_itself() -> None:
    parent = history()

    child = parent.copy()
    child.add(Entry(5, "mine"))

    asked = HistoryRequest(hist_access_type="tail")
    assert len(child.answer(asked)) == 5
    assert len(parent.answer(asked)) == 4
