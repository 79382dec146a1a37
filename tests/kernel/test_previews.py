"""Values in few characters."""

from __future__ import annotations

import collections
import pathlib
import time
from typing import Any

import pytest
from exploracoder_kernel.branch import variables as branch_variables
from exploracoder_kernel.branch.previews import is_lazy, preview, type_name


@pytest.mark.parametrize(
    "value",
    [[], [1, "a"], (), (1,), {}, {"b": [1], "a": (2,)}, set(), {1}, frozenset({1}), "it's", b"x"],
)
def test_small_values_look_like_their_repr(value: object) -> None:
    assert preview(value) == repr(value)


def test_large_values_are_cut_without_being_walked_through() -> None:
    huge: list[Any] = [list(range(10**6))] * 10**6

    text = preview(huge)

    assert len(text) == 200
    assert text.startswith("[[0, 1, 2")
    assert text.endswith("…")


def test_a_list_that_holds_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)

    assert preview(loop) == "[[[[...]]]]"


def test_types_are_named_by_the_shortest_package_that_has_them() -> None:
    assert type_name(int) == "int"
    assert type_name(collections.OrderedDict) == "collections.OrderedDict"
    assert type_name(pathlib.PurePosixPath) == "pathlib.PurePosixPath"


@pytest.mark.parametrize("value", [iter([1]), map(str, [1]), (n for n in [1]), enumerate([1])])
def test_iterators_are_lazy(value: object) -> None:
    assert is_lazy(value)


@pytest.mark.parametrize("value", [[1], "a", {1: 2}, range(3), 5, None, int, collections.Counter()])
def test_containers_and_scalars_are_not_lazy(value: object) -> None:
    assert not is_lazy(value)


def test_variables_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        def __repr__(self) -> str:
            time.sleep(0.05)
            return "slow"

    monkeypatch.setattr(branch_variables, "_MOST_SECONDS", 0.12)
    names = [f"x{number}" for number in range(50)]
    described = branch_variables.describe(names, {name: Slow() for name in names}, None)

    assert [one["name"] for one in described] == names[: len(described)]
    assert 1 <= len(described) <= 4
