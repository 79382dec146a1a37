"""Libraries as JSON: a library, a list of them, or an object whose keys are their ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from exploracoder.errors import InputError

from exploracoder_bench.api_use.invented_libraries import Argument, Function, Library, Shelf, Style

PROVIDED = ("solids", "image", "chem", "music")
_LIBRARY_FIELDS = {"id", "library_name", "name", "style", "functions", "types", "documentation"}
_FUNCTION_FIELDS = {
    "function_name", "name", "documentation", "arglist", "args", "return_type", "returns",
}  # fmt: skip


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
    if value in ([], {}):
        raise InputError(f"{where} describes no library: it is empty. Give at least one.")
    if isinstance(value, Mapping) and "functions" in value:
        return Shelf((_library(value, None, where),))
    if isinstance(value, Mapping):
        return Shelf(tuple(_library(one, key, where) for key, one in value.items()))
    if isinstance(value, list):
        return Shelf(tuple(_library(one, None, where) for one in value))
    raise InputError(f"{where} describes no library: give an object or a list of them.")


def as_json(shelf: Shelf) -> list[dict[str, Any]]:
    """The libraries in the form that `shelf_of` reads."""
    return [
        {
            "id": one.id,
            "library_name": one.name,
            "style": one.style,
            **({"types": dict(one.types)} if one.types else {}),
            "functions": [
                {
                    "function_name": function.name,
                    "documentation": function.doc,
                    "arglist": [
                        {"name": argument.name, "type": argument.type}
                        for argument in function.arguments
                    ],
                    "return_type": function.returns,
                }
                for function in one.functions
            ],
        }
        for one in shelf
    ]


def _library(value: Any, key: str | None, where: str) -> Library:
    fields = _object(value, f"{where}: a library", _LIBRARY_FIELDS)
    id = _text(fields.get("id", key), f"{where}: a library's id")
    where = f"{where}: library {id}"
    types = fields.get("types", {})
    if not isinstance(types, Mapping) or not all(isinstance(one, str) for one in types.values()):
        raise InputError(f"{where}: 'types' is an object from names to types.")
    return Library(
        id,
        _text(fields.get("library_name", fields.get("name", id)), f"{where}: its name"),
        cast(Style, _text(fields.get("style", "import"), f"{where}: its style")),
        tuple(_functions(fields.get("functions"), where)),
        dict(types),
    )


def _functions(functions: Any, where: str) -> Iterable[Function]:
    if isinstance(functions, Mapping):
        functions = [
            {"function_name": key, **_object(one, where)} for key, one in functions.items()
        ]
    if not isinstance(functions, list):
        raise InputError(f"{where}: 'functions' is a list, or an object from names to functions.")
    for one in functions:
        fields = _object(one, f"{where}: a function", _FUNCTION_FIELDS)
        name = _text(fields.get("function_name", fields.get("name")), f"{where}: a function's name")
        arguments = fields.get("arglist", fields.get("args", []))
        if not isinstance(arguments, list):
            raise InputError(f"{where}.{name}: 'arglist' is a list of arguments.")
        yield Function(
            name,
            _text(fields.get("documentation", ""), f"{where}.{name}: its documentation"),
            tuple(_argument(argument, f"{where}.{name}") for argument in arguments),
            _text(fields.get("return_type", fields.get("returns", "any")), f"{where}.{name}: type"),
        )


def _argument(value: Any, where: str) -> Argument:
    if isinstance(value, str):
        name, _, kind = value.partition(":")
        return Argument(name.strip(), kind.strip() or "any")
    fields = _object(value, f"{where}: an argument", {"name", "type"})
    name = _text(fields.get("name"), f"{where}: an argument's name")
    return Argument(name, _text(fields.get("type", "any"), f"{where}: the type of {name}"))


def _object(value: Any, what: str, field_names: set[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what} is an object, not {type(value).__name__}.")
    unknown = sorted(set(value) - field_names) if field_names else []
    if unknown:
        raise InputError(
            f"{what} has no {unknown[0]!r}. Known: {', '.join(sorted(field_names or ()))}."
        )
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} is a text, not {type(value).__name__}.")
    return value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice in one object; rename one of them")
    return dict(pairs)
