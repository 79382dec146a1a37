"""A synthetic library as a package on disk: documentation, and functions that only say what was
called. With it a library without code can be indexed, tried out and explored like any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exploracoder_retrieval.files import write_atomically

from exploracoder_bench.api_use.expressions import Outer
from exploracoder_bench.api_use.invented_libraries import VALUES_MODULE, Function, Library, Shelf
from exploracoder_bench.api_use.noise import Key

_VALUES_SOURCE = Path(__file__).with_name(f"{VALUES_MODULE}.py")
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
    _write(folder / _VALUES_SOURCE.name, _VALUES_SOURCE.read_text(encoding="utf-8"))
    packages = []
    for library in shelf:
        # In the order of the documentation.
        functions = [library.function(name) for id, name in dict.fromkeys(keys) if id == library.id]
        # A class without documented functions is still the return type of others.
        if functions or library.style == "class":
            package = folder / library.name
            package.mkdir(exist_ok=True)
            _write(package / "__init__.py", _source(library, functions, shelf))
            packages += [package] if functions else []
    return packages


def _write(file: Path, text: str) -> None:
    """Write what is not there yet: a run beside this one may be importing the file."""
    if not (file.is_file() and file.read_text(encoding="utf-8") == text):
        write_atomically(file, text)


def example_context(outer: Sequence[Outer], shelf: Shelf) -> str:
    """Code that makes a value for each argument of the function that is asked for."""
    lines = []
    for one in outer:
        home = class_home(one.type, shelf)
        if home is None:
            lines.append(f"{one.name} = {_EXAMPLES[one.type]}")
        else:
            module, name = home
            lines += [f"from {module} import {name}", f"{one.name} = {name}()"]
    return "\n".join(lines)


def class_home(type_name: str, shelf: Shelf) -> tuple[str, str] | None:
    """The module and the name of the class that a type stands for; None for a scalar."""
    library = shelf.class_of(type_name)
    return None if library is None else (library.name, _class_name(library))


def _class_name(library: Library) -> str:
    """``Image`` for the library ``image``."""
    return "".join(part.capitalize() for part in library.name.split("_"))


def _source(library: Library, functions: Sequence[Function], shelf: Shelf) -> str:
    is_class = library.style == "class"
    lines = [f'"""The library {library.name}."""', "", f"import {VALUES_MODULE} as _values"]
    if is_class:
        lines += ["", "", f"class {_class_name(library)}(_values.Recorded):"]
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
    home = class_home(function.returns, shelf)
    returns = _annotation(function.returns, shelf)
    arrow = f" -> {returns}" if returns else ""
    where = f", {home!r}" if home else ""
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
    home = class_home(type_name, shelf)
    if home is not None:
        return repr(".".join(home))
    return "" if type_name == "any" else type_name
