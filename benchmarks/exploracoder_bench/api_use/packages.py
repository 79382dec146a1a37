"""A synthetic library as a package on disk: documentation, and functions that only say what was
called. With it a library without code can be indexed, tried out and explored like any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exploracoder.errors import InputError

from exploracoder_bench.api_use.expressions import Outer
from exploracoder_bench.api_use.invented_libraries import VALUES_MODULE, Function, Library, Shelf
from exploracoder_bench.api_use.noise import Key

_VALUES_SOURCE = '''"""Values that no library computed: they say how they would come about."""

import importlib


class Recorded:
    """A value; shown, it says which call gave it."""

    def __init__(self, told=None):
        self._told = told or f"{type(self).__name__}()"

    def __repr__(self):
        return f"<{self._told}>"


def recorded(function, arguments, home=None):
    """What a call gives: an object of the class in the module ``home``, or any value."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    told = f"{function}({given})"
    if home is None:
        return Recorded(told)
    module, name = home
    return getattr(importlib.import_module(module), name)(told)
'''
_EXAMPLES = {"float": "2.5", "int": "3", "str": "'C'", "bool": "True", "any": "4"}


def write_packages(shelf: Shelf, keys: Sequence[Key], folder: Path) -> list[Path]:
    """Write a package for each library that has a function in the documentation.

    Args:
        shelf: The libraries, with the names and texts that the documentation gives.
        keys: The functions that are documented.
        folder: Where to write them; it belongs on the import path.

    Returns:
        The packages' folders.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{VALUES_MODULE}.py").write_text(_VALUES_SOURCE, encoding="utf-8")
    packages = []
    for library in shelf:
        # In the order of the documentation.
        functions = [library.function(name) for id, name in dict.fromkeys(keys) if id == library.id]
        # A class without documented functions is still the return type of others.
        if functions or library.style == "class":
            package = folder / library.name
            package.mkdir(exist_ok=True)
            source = _source(library, functions, shelf)
            (package / "__init__.py").write_text(source, encoding="utf-8")
            packages += [package] if functions else []
    return packages


def write_new_packages(shelf: Shelf, folder: Path) -> list[Path]:
    """Write packages for whole libraries into a user's folder, whose files stay as they are.

    Raises:
        InputError: Something with the name of one of the packages already exists.
    """
    values = folder / f"{VALUES_MODULE}.py"
    is_other = values.exists() and values.read_text(encoding="utf-8") != _VALUES_SOURCE
    there = [values] if is_other else []
    there += [folder / one.name for one in shelf if (folder / one.name).exists()]
    if there:
        raise InputError(f"{there[0]} is there already. Remove it, or give another --out.")
    keys = [(one.id, function.name) for one in shelf for function in one.functions]
    return write_packages(shelf, keys, folder)


def example_context(outer: Sequence[Outer], shelf: Shelf) -> str:
    """Code that makes a value for each argument of the function that is asked for."""
    lines = []
    for one in outer:
        library = shelf.class_of(one.type)
        if library is None:
            lines.append(f"{one.name} = {_EXAMPLES[shelf.plain(one.type)]}")
        else:
            name = class_name(library)
            lines += [f"from {library.name} import {name}", f"{one.name} = {name}()"]
    return "\n".join(lines)


def class_name(library: Library) -> str:
    """The name of a class library's class: ``Image`` for ``image``."""
    return "".join(part.capitalize() for part in library.name.split("_"))


def _source(library: Library, functions: Sequence[Function], shelf: Shelf) -> str:
    is_class = library.style == "class"
    lines = [f'"""The library {library.name}."""', "", f"import {VALUES_MODULE} as _values"]
    if is_class:
        lines += ["", "", f"class {class_name(library)}(_values.Recorded):"]
        lines += [f'    """An object of the library {library.name}."""']
    for function in functions:
        block = _function(library, function, shelf)
        lines += ["", *(f"    {line}" for line in block)] if is_class else ["", "", *block]
    return "\n".join(lines) + "\n"


def _function(library: Library, function: Function, shelf: Shelf) -> list[str]:
    parameters = [f"{one.name}{_note(one.type, shelf)}" for one in function.arguments]
    pairs = [f"{one.name!r}: {one.name}" for one in function.arguments]
    if library.style == "class":
        parameters, pairs = ["self", *parameters], ["'self': self", *pairs]
    home = shelf.class_of(function.returns)
    returns = _annotation(function.returns, shelf)
    arrow = f" -> {returns}" if returns else ""
    where = f", {(home.name, class_name(home))!r}" if home else ""
    full_name = f"{library.name}.{function.name}"
    return [
        f"def {function.name}({', '.join(parameters)}){arrow}:",
        f"    {function.doc!r}",
        f"    return _values.recorded({full_name!r}, {{{', '.join(pairs)}}}{where})",
    ]


def _note(type_name: str, shelf: Shelf) -> str:
    words = _annotation(type_name, shelf)
    return f": {words}" if words else ""


def _annotation(type_name: str, shelf: Shelf) -> str:
    home = shelf.class_of(type_name)
    if home is not None:
        return repr(f"{home.name}.{class_name(home)}")
    plain = shelf.plain(type_name)
    return "" if plain == "any" else plain
