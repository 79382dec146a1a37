"""Libraries as JSON: a library, a list of them, or an object whose keys are their ids."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError
from pydantic import TypeAdapter, ValidationError

from exploracoder_bench.api_use.invented_libraries import Library, Shelf, listed
from exploracoder_bench.datasets.json_lines import first_fault

PROVIDED = ("solids", "image", "chem", "music")
_LIBRARIES = TypeAdapter(tuple[Library, ...])


@cache
def provided(name: str = "") -> Shelf:
    """The libraries that come with the benchmark: one bundle, or all of them.

    Raises:
        InputError: There is no such bundle.
    """
    if name and name not in PROVIDED:
        raise InputError(f"There is no library {name!r}. Known: {', '.join(PROVIDED)}.")
    folder = resources.files("exploracoder_bench.api_use") / "data"
    bundles = [name] if name else PROVIDED
    texts = [(folder / f"{one}.json").read_text(encoding="utf-8") for one in bundles]
    return Shelf(tuple(one for text in texts for one in parse(text, "the provided libraries")))


def read(file: Path) -> Shelf:
    """The libraries of a file. Raises InputError when it cannot be read or used."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}. Check the path.") from error
    return parse(text, str(file))


def parse(text: str, where: str) -> Shelf:
    """The libraries described in JSON. Raises InputError when it cannot be used.

    Args:
        text: The JSON.
        where: How errors refer to it.
    """
    try:
        value = json.loads(text, object_pairs_hook=_no_key_twice)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is no JSON that describes libraries: {error}") from error
    return shelf_of(value, where)


def shelf_of(value: Any, where: str) -> Shelf:
    """The libraries that a JSON value describes. Raises InputError."""
    if isinstance(value, Mapping):
        value = [value] if "functions" in value else listed(value, "id")
    if not isinstance(value, list) or not value:
        raise InputError(f"{where} describes no library: give an object or a list of them.")
    try:
        return Shelf(_LIBRARIES.validate_python(value))
    except ValidationError as error:
        raise InputError(f"{where}: {first_fault(error)}") from error


def as_json(shelf: Shelf) -> tuple[dict[str, Any], ...]:
    """The libraries in the form that `shelf_of` reads."""
    return _LIBRARIES.dump_python(shelf.libraries, by_alias=True)  # type: ignore[no-any-return] # as it makes them


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice in one object; rename one of them")
    return dict(pairs)
