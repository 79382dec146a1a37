"""What a library's names refer to, with the code completed from its stubs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from exploracoder_retrieval.facts.fact_types import Class, Function, Module, Parameter, Variable
from exploracoder_retrieval.facts.importable_modules import Sources
from exploracoder_retrieval.facts.kinds import (
    functions_of,
    implementation,
    is_overload,
    is_property,
    joined,
    variables_of,
)
from exploracoder_retrieval.facts.lineage import Lineage, Lineages, LocatedClass
from exploracoder_retrieval.facts.module_files import is_published
from exploracoder_retrieval.facts.parameters import is_opaque
from exploracoder_retrieval.facts.scope import Definition, Scope
from exploracoder_retrieval.harvest.library_sources import LibrarySources, StubbedSources

Item = Class | Function | Variable
Overloads = tuple[Function, ...]


@dataclass(frozen=True, slots=True)
class Api:
    """A class, function or variable where it is defined; ``path`` is its canonical name.

    ``overloads`` are a function's other signatures. ``stub`` declares a class beside its code.
    """

    module: Module
    item: Class | Function | Variable
    path: str
    overloads: tuple[Function, ...] = ()
    stub: Definition | None = None

    @property
    def library(self) -> str:
        """The top-level package that defines it."""
        return self.path.partition(".")[0]


class LibraryScope(Scope):
    """Resolves names as a library's docs do: inherited members count, builtins do not.

    A stub vouches for names that are hidden by a list built at run time.
    """

    def __init__(self, sources: Sources, library: LibrarySources) -> None:
        super().__init__(sources)
        self.library = library
        self.lineages = Lineages(self)

    def _inside(self, owner: Definition, name: str) -> Definition | None:
        own = super()._inside(owner, name)
        if own is not None or not isinstance(owner.item, Class):
            return own
        bases = self.lineages.of(LocatedClass(owner.module, owner.item)).classes[1:]
        candidates = (
            super(LibraryScope, self)._inside(Definition(base.module, base.item), name)
            for base in bases
        )
        return next(filter(None, candidates), None)

    def _builtin(self, name: str) -> None:
        return None

    def _declared(self, module: Module, name: str, steps: int) -> Definition | None:
        definition = super()._declared(module, name, steps)
        if (
            definition is None
            or definition.item is None
            or not definition.module.is_stub
            or definition.item.doc
        ):
            return definition
        return self._hidden(module, name) or definition

    def _hidden(self, module: Module, name: str) -> Definition | None:
        """What a star import binds although no list says so, or what a package loads lazily."""
        for source in filter(None, map(self.sources.module, module.stars)):
            if definition := self.member(source, name):
                return definition
        if not functions_of(module, "__getattr__"):
            return None
        for inner_name in self.library.finder.submodules(module.name):
            inner = self.sources.module(inner_name) if _is_inner(inner_name) else None
            candidate = self.inside(inner, name) if inner else None
            if candidate is not None and candidate.item is not None and candidate.item.doc:
                return candidate
        return None


class Names:
    """Resolves names across modules; look-ups give None instead of failing."""

    def __init__(self, sources: LibrarySources) -> None:
        self.sources = sources
        self.scope = LibraryScope(sources, sources)
        self._annotation_scope = LibraryScope(StubbedSources(sources), sources)
        self._stubs: dict[str, Definition] = {}
        self._members: dict[str, dict[str, Api]] = {}

    def member(self, module: Module, name: str) -> Api | None:
        """The definition a module's name refers to; None for modules and unknown names."""
        definition = self.scope.member(module, name)
        stub_module = self.sources.stub(module.name)
        stub = self.scope.member(stub_module, name) if stub_module else None
        if stub is None or stub.item is None:
            return self._api(definition)
        if definition is None or definition.item is None or definition.item is stub.item:
            code = self.sources.module(stub.module.name)
            is_elsewhere = (stub.module.name, stub.item.name) != (module.name, name)
            api = self.member(code, stub.item.name) if code and is_elsewhere else None
            return api or self._api(stub)
        self._stubs.setdefault(definition.path, stub)
        return self._api(definition)

    def lacks(self, module_name: str, name: str) -> bool:
        """Whether a module of the library certainly does not have that name."""
        module = self.sources.module(module_name)
        if module is None or functions_of(module, "__getattr__"):
            return False
        if name in module.imported or not all(self.sources.module(star) for star in module.stars):
            return False
        inner = self.sources.module(f"{module_name}.{name}")
        return inner is None and self.member(module, name) is None

    def in_scope(self, api: Api, name: str) -> Api | None:
        """What dotted source text, such as an argument, refers to in an API's module."""
        return self._api(self.scope.resolve(api.module, name))

    def annotated(self, api: Api, name: str) -> Api | None:
        """Like `in_scope`, for a name in an annotation; nothing is imported for it."""
        return self._api(self._annotation_scope.resolve(api.module, name))

    def lineage(self, cls: Api, *, is_annotated: bool = False) -> Lineage:
        """A class and its bases in method resolution order.

        With ``is_annotated``, nothing is imported for it, as in `annotated`.
        """
        lineages = (self._annotation_scope if is_annotated else self.scope).lineages
        assert isinstance(cls.item, Class)
        own = LocatedClass(cls.module, cls.item)
        if cls.item.bases or cls.stub is None or not isinstance(cls.stub.item, Class):
            return lineages.of(own)
        stub_lineage = lineages.of(LocatedClass(cls.stub.module, cls.stub.item))
        return replace(stub_lineage, classes=(own, *stub_lineage.classes[1:]))

    def bases(self, cls: Api) -> list[Api]:
        """A class and its bases, in method resolution order."""
        others = self.lineage(cls).classes[1:]
        apis = (self._api(Definition(each.module, each.item)) for each in others)
        return [cls, *(base for base in apis if base is not None)]

    def own_members(self, cls: Api) -> dict[str, Api]:
        """The members that a class itself defines or its stub declares, by name."""
        if cls.path not in self._members:
            stub = dict(_members(cls.stub.module, cls.stub.item, cls.path)) if cls.stub else {}
            own = dict(_members(cls.module, cls.item, cls.path))
            twins = {name for name, each in own.items() if getattr(each.item, "alias", "") in own}
            members = {
                name: member if name in twins else _completed(member, stub.get(name))
                for name, member in own.items()
            }
            own_names = own.keys() | _set_by_methods(cls.item)
            stub_members = {name: member for name, member in stub.items() if name not in own_names}
            self._members[cls.path] = members | stub_members
        return self._members[cls.path]

    def _api(self, definition: Definition | None) -> Api | None:
        api = _grouped(definition)
        if api is None or definition is None:
            return None
        return _completed(
            api, _grouped(self._stubs.get(definition.path) or self._beside(definition))
        )

    def _beside(self, definition: Definition) -> Definition | None:
        """The declaration of a definition in the stub beside the code."""
        stub = None if definition.module.is_stub else self.sources.stub(definition.module.name)
        return (
            self.scope.inside(stub, definition.path.removeprefix(f"{stub.name}.")) if stub else None
        )


def _is_inner(module: str) -> bool:
    return is_published(module.replace("._", "."))


def _grouped(definition: Definition | None) -> Api | None:
    """The Api of a definition; a function's overloads are grouped, with any docstring of theirs."""
    if definition is None or definition.item is None:
        return None
    if isinstance(definition.item, Function) and "." not in definition.item.qualname:
        return _function(
            definition.module, definition.module, definition.item.name, definition.path
        )
    return Api(definition.module, definition.item, definition.path)


def _function(module: Module, scope: Module | Class, name: str, path: str) -> Api:
    functions = functions_of(scope, name)
    overloads = tuple(each for each in functions if is_overload(each))
    return Api(module, implementation(functions), path, overloads)


def _members(module: Module, cls: object, path: str) -> Iterator[tuple[str, Api]]:
    if not isinstance(cls, Class):
        return
    for name, variables in variables_of(cls).items():
        says_something = any(each.value or each.annotation or each.doc for each in variables)
        if says_something and any(each.place == "body" for each in variables):
            yield name, Api(module, joined(variables), f"{path}.{name}")
    for inner in cls.classes:
        yield inner.name, Api(module, inner, f"{path}.{inner.name}")
    for name in dict.fromkeys(each.name for each in cls.functions):
        yield name, _function(module, cls, name, f"{path}.{name}")


def _set_by_methods(cls: object) -> set[str]:
    variables = cls.variables if isinstance(cls, Class) else ()
    return {each.name for each in variables if each.place == "instance"}


def _completed(api: Api, declaration: Api | None) -> Api:
    """An API completed with what its stub says and the code does not."""
    if declaration is None or declaration.item is api.item:
        return api
    item, stub = api.item, declaration.item
    if not item.doc and stub.doc:
        item = item.model_copy(update={"doc": stub.doc})
    if isinstance(item, Class) and isinstance(stub, Class):
        return replace(api, item=item, stub=Definition(declaration.module, stub))
    if isinstance(item, Variable) and not isinstance(stub, Variable) and not is_property(stub):
        # A plain assignment in the source may be a documented class in the stub.
        return replace(declaration, path=api.path)
    if isinstance(item, Variable) or isinstance(stub, Variable):
        return replace(api, item=completed_attribute(item, stub))
    if isinstance(item, Function) and isinstance(stub, Function):
        function, overloads = completed_function(item, api.overloads, stub, declaration.overloads)
        return replace(api, item=function, overloads=overloads)
    return replace(api, item=item)


def completed_function(
    code: Function, overloads: Overloads, stub: Function, stub_overloads: Overloads
) -> tuple[Function, Overloads]:
    """A function and its overloads, with the stub's types where the code has none."""
    has_types = code.returns or any(each.annotation for each in code.parameters)
    # One signature with defaults says more than overloads without them.
    if has_types or (stub_overloads and not is_opaque(code)):
        return code, overloads
    defaults = {each.name: each.default for each in code.parameters}
    parameters = tuple(_with_default(each, defaults.get(each.name)) for each in stub.parameters)
    update = {
        "parameters": parameters,
        "returns": stub.returns,
        "is_async": stub.is_async,
        # In a stub, no generator is asynchronous: its annotation says what it gives.
        "is_async_generator": False,
    }
    return code.model_copy(update=update), stub_overloads


def completed_attribute(code: Item, stub: Item) -> Item:
    """A variable or property with the stub's type, if the code gives none."""
    stub_type = stub.returns if isinstance(stub, Function) else getattr(stub, "annotation", None)
    if isinstance(code, Variable):
        return code.model_copy(update={"annotation": code.annotation or stub_type})
    if isinstance(code, Function) and is_property(code):
        return code.model_copy(update={"returns": code.returns or stub_type})
    return code


def _with_default(parameter: Parameter, default: str | None) -> Parameter:
    """A stub's parameter with the code's default in place of ``= ...``."""
    is_open = parameter.default == "..." and default is not None
    return parameter.model_copy(update={"default": default}) if is_open else parameter
