"""What is read out of an error about an object that lacks an attribute."""

from __future__ import annotations

from collections import deque

import pytest
from exploracoder.engine.knowing.name_problems import OBJECT_ERROR


class Pot:
    """A type that is written in Python: its module is not said."""


@pytest.mark.parametrize(("value", "type_"), [(Pot(), "Pot"), (deque[int](), "deque"), (1, "int")])
def test_the_type_is_told_with_its_module_or_without(value: object, type_: str) -> None:
    with pytest.raises(AttributeError) as error_info:
        value.boil  # type: ignore[attr-defined]  # noqa: B018

    match = OBJECT_ERROR.search(str(error_info.value))
    assert match is not None
    assert (match["type"], match["name"]) == (type_, "boil")


def test_an_object_that_cannot_be_called_is_one_of_its_type() -> None:
    match = OBJECT_ERROR.search("'numpy.ndarray' object is not callable")
    assert match is not None
    assert (match["type"], match["name"]) == ("ndarray", None)
