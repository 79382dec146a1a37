"""Synthetic libraries: typed functions with a sentence of documentation and no code at all."""

from __future__ import annotations

import keyword
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from exploracoder.errors import InputError
from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field

Style = Literal["import", "class"]

SCALARS = ("any", "float", "int", "str", "bool")
# The module that packages of libraries share; see ``packages``.
VALUES_MODULE = "recorded_values"
# A library becomes a module of its name, on disk and in programs, and would shadow these.
_MODULES = sys.stdlib_module_names | {
    VALUES_MODULE,
    "exploracoder",
    "exploracoder_bench",
    "exploracoder_jupyter",
    "exploracoder_kernel",
    "exploracoder_retrieval",
}


_JSON = ConfigDict(extra="forbid")


def _field(*names: str, **more: Any) -> Any:
    """A field with other names in JSON: the published package's, and those of judged cases."""
    return Field(validation_alias=AliasChoices(*names), serialization_alias=names[0], **more)


def listed(value: Any, key: str) -> Any:
    """An object of objects as a list of them, each with its key under this name."""
    if not isinstance(value, Mapping):
        return value
    return [{key: name, **x} if isinstance(x, Mapping) else x for name, x in value.items()]


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function; ``type`` is a scalar or a class library."""

    __pydantic_config__ = _JSON

    name: str
    type: str = "any"


@dataclass(frozen=True, slots=True)
class Function:
    """What the documentation says about one function."""

    __pydantic_config__ = _JSON

    name: Annotated[str, _field("function_name", "name")]
    doc: Annotated[str, _field("documentation")] = ""
    arguments: Annotated[
        tuple[Annotated[Argument, BeforeValidator(_named)], ...], _field("arglist", "args")
    ] = ()
    returns: Annotated[str, _field("return_type", "returns")] = "any"


@dataclass(frozen=True, slots=True)
class Library:
    """One library (Measuring Novel API Use, section 2).

    Attributes:
        id: Its name in signatures.
        name: Its name in programs: the module, or the argument that holds an object of the class.
        style: ``import``: functions of a module. ``class``: member functions of an object, whose
            type is the library's id.
        functions: In the order in which they are documented.
    """

    __pydantic_config__ = _JSON

    id: str
    name: Annotated[str, _field("library_name", "name", default_factory=lambda at: at.get("id"))]
    style: Annotated[Style, Field(default="import")]
    functions: Annotated[
        tuple[Function, ...], BeforeValidator(lambda value: listed(value, "function_name"))
    ]

    def function(self, name: str) -> Function:
        """The function of that name. Raises InputError when there is none."""
        for function in self.functions:
            if function.name == name:
                return function
        names = ", ".join(one.name for one in self.functions[:8])
        raise InputError(f"Library {self.id} has no function {name!r}. It has: {names}.")

    def with_functions(self, functions: Iterable[Function]) -> Library:
        """The same library with other functions."""
        return replace(self, functions=tuple(functions))


@dataclass(frozen=True, slots=True)
class Shelf:
    """Libraries that know of each other: a function of one may return an object of another."""

    libraries: tuple[Library, ...]

    def __post_init__(self) -> None:
        """Raises InputError when the libraries do not fit together."""
        _refuse_twice("library", [one.id for one in self.libraries])
        _refuse_twice("library's name", [one.name for one in self.libraries])
        for library in self.libraries:
            _check_library(library)
        for library in self.libraries:
            _check_types(library, self)

    def __iter__(self) -> Iterator[Library]:
        return iter(self.libraries)

    def find(self, name: str) -> Library:
        """The library with this id, or else with this name. Raises InputError."""
        for library in self.libraries:
            if library.id == name:
                return library
        for library in self.libraries:
            if library.name == name:
                return library
        ids = ", ".join(one.id for one in self.libraries)
        raise InputError(f"There is no library {name!r}. Known: {ids or 'none'}.")

    def class_of(self, type_name: str) -> Library | None:
        """The class library whose objects have this type; None for a scalar."""
        classes = [one for one in self.libraries if one.style == "class"]
        by_name = {one.name: one for one in classes} | {one.id: one for one in classes}
        return by_name.get(type_name)

    def plain(self, type_name: str) -> str:
        """The scalar, or the id of the class library, whichever of its names was used."""
        library = self.class_of(type_name)
        return library.id if library else type_name

    def accepts(self, parameter_type: str, argument_type: str) -> bool:
        """Whether a value of one type may be given where another is wanted."""
        to, of = self.plain(parameter_type), self.plain(argument_type)
        return to == of or "any" in (to, of) or (to == "float" and of == "int")


def _check_library(library: Library) -> None:
    where = f"Library {library.id}"
    _refuse_illegal("Library", [library.id, library.name])
    for name in (library.id, library.name):
        if name in SCALARS:
            raise InputError(f"Library {name!r} is a type, too. Give it another name.")
    if library.name in _MODULES:
        raise InputError(
            f"Library {library.name!r} would hide the module of that name. Give it another"
            " 'library_name'."
        )
    if not library.functions:
        raise InputError(f"{where} has no functions. Give it at least one.")
    _refuse_illegal(f"{where}: function", [one.name for one in library.functions])
    _refuse_twice(f"{where}: function", [one.name for one in library.functions])
    for function in library.functions:
        names = [argument.name for argument in function.arguments]
        _refuse_illegal(f"{where}.{function.name}: argument", names)
        if library.style == "class" and "self" in names:
            raise InputError(
                f"{where}.{function.name}: argument 'self' is the object itself. Leave it out."
            )
        _refuse_twice(f"{where}.{function.name}: argument", names)


def _check_types(library: Library, shelf: Shelf) -> None:
    type_names = []
    for function in library.functions:
        type_names += [function.returns, *(argument.type for argument in function.arguments)]
    for name in type_names:
        if name not in SCALARS and shelf.class_of(name) is None:
            classes = [one.id for one in shelf if one.style == "class"]
            raise InputError(
                f"Library {library.id} names the type {name!r}, which nothing defines. Use one of "
                f"{', '.join([*SCALARS, *classes])}."
            )


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{what} {twice[0]!r} is defined twice. Rename one of them.")


def _refuse_illegal(what: str, names: Iterable[str]) -> None:
    for name in names:
        # Python normalises names to this form: another spelling would never be found.
        is_legal = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
        if not is_legal or keyword.iskeyword(name) or name.startswith("_"):
            raise InputError(
                f"{what} {name!r} is no name that a program could use. Take letters, digits and"
                " underscores, not at the beginning, and no word of Python's own."
            )
