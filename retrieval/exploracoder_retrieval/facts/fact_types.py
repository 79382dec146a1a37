"""The facts read from a Python file, as values that are kept on disk."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from exploracoder_retrieval.files import without_surrogates

ParameterKind = Literal["posonly", "pos", "vararg", "kwonly", "kwarg"]
# Where a variable of a class was seen: in its body, in ``__slots__``, or assigned in a method.
VariablePlace = Literal["body", "slots", "instance", "class"]
# Text of literals, in which an escape may have put half a character.
Text = Annotated[str, AfterValidator(without_surrogates)]


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True)


class _NamedFact(_Fact):
    name: Text


class Parameter(_NamedFact):
    """One parameter; annotation and default are source text, None if there is none."""

    kind: ParameterKind = "pos"
    annotation: str | None = None
    default: str | None = None


class Function(_NamedFact):
    """A function or method. ``line`` is that of its ``def``, ``first_line`` of its decorators.

    ``choices`` are the strings that its body compares parameters with, ``raises`` the exceptions
    that it raises by name.
    """

    qualname: str
    line: int
    first_line: int
    end_line: int
    parameters: tuple[Parameter, ...] = ()
    returns: str | None = None
    decorators: tuple[str, ...] = ()
    is_async: bool = False
    is_async_generator: bool = False
    doc: Text = ""
    choices: dict[str, tuple[Text, ...]] = {}
    raises: tuple[str, ...] = ()


class Variable(_NamedFact):
    """A name that is assigned or annotated; ``alias`` is the dotted name assigned to it, if any.

    ``doc`` is the string literal below it, or the one passed to ``property(…, doc="…")``.
    """

    line: int
    place: VariablePlace = "body"
    annotation: str | None = None
    value: str | None = None
    alias: str | None = None
    doc: Text = ""


class Import(_NamedFact):
    """``name`` is bound to ``attribute`` of ``module``, or to the module itself.

    In a stub, an import ``as`` its own name publishes it. ``only`` says that it is only for type
    checkers, or that the module's ``__getattr__`` fetches it.
    """

    module: str
    attribute: str | None
    line: int
    as_itself: bool = False
    only: Literal["", "types", "asked"] = ""


class _Scope(_NamedFact):
    """A scope that defines names: a module or a class."""

    doc: Text = ""
    functions: tuple[Function, ...] = ()
    variables: tuple[Variable, ...] = ()
    classes: tuple[Class, ...] = ()

    @cached_property
    def named(self) -> dict[str, list[Class | Function | Variable]]:
        """Its definitions by name; under one name, classes, then functions, then variables."""
        by_name: dict[str, list[Class | Function | Variable]] = {}
        all_of_it: tuple[Class | Function | Variable, ...]
        all_of_it = (*self.classes, *self.functions, *self.variables)
        for one in all_of_it:
            by_name.setdefault(one.name, []).append(one)
        return by_name


class Class(_Scope):
    """A class; bases and decorators are source text, nested classes are in ``classes``."""

    qualname: str
    line: int
    first_line: int
    end_line: int
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()


class Snippet(_Fact):
    """A piece of a file that a search can find, with its stemmed words."""

    kind: Literal["class", "function", "snippet"]
    name: str
    line: int
    end_line: int
    words: str


class Module(_Scope):
    """A file. ``exports`` is its ``__all__``, ``stars`` the modules of its star imports.

    ``other.__all__`` among the exports stands for the list of another module. ``texts`` are the
    strings of several words that it assigns, by name or ``table['name']``. ``is_stub`` says that it
    was read from the stub beside the source: it has only signatures, and the stub's line numbers.
    """

    is_package: bool = False
    is_stub: bool = False
    imports: tuple[Import, ...] = ()
    stars: tuple[str, ...] = ()
    exports: tuple[Text, ...] | None = None
    texts: dict[str, Text] = {}

    @cached_property
    def imported(self) -> dict[str, list[Import]]:
        """Its imports, by the name that each binds."""
        by_name: dict[str, list[Import]] = {}
        for one in self.imports:
            by_name.setdefault(one.name, []).append(one)
        return by_name
