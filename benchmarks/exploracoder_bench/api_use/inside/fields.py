"""``dataclasses`` for candidates: Python's own makes its methods from text, which it evaluates."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass
from dataclasses import field as own_field
from typing import Any

_MISSING: Any = object()
_ORDERS = ("lt", "le", "gt", "ge")


class Field:
    """A field of a candidate's class: its name, and what it is when it is not given."""

    __slots__ = ("compare", "default", "default_factory", "init", "name", "repr")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
        **_: object,
    ) -> None:
        self.name = ""
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare


@dataclass(frozen=True)
class Fields:
    """What classes of one run have been made with. It lies here and not in them."""

    known: dict[type, dict[str, Field]] = own_field(default_factory=dict)

    def names(self) -> dict[str, object]:
        """What the module gives."""
        return {
            "FrozenInstanceError": FrozenInstanceError,
            "asdict": self.asdict,
            "astuple": self.astuple,
            "dataclass": self.dataclass,
            "field": Field,
            "fields": lambda made: tuple(self.of(made).values()),
            "is_dataclass": lambda made: self._found(made) is not None,
            "replace": self.replace,
        }

    def dataclass(self, made: type | None = None, /, **options: bool) -> Any:
        """The class with its methods; without a class, what does that to one."""
        if made is None:
            return lambda later: self.dataclass(later, **options)
        fields = self._inherited(made)
        for name in vars(made).get("__annotations__") or {}:
            if not _is_of_the_class(vars(made)["__annotations__"][name]):
                fields[name] = _field(made, name)
        self.known[made] = fields
        _refuse_order(fields, is_keyword=options.get("kw_only", False))
        _add_methods(made, fields, options)
        return made

    def of(self, made: object) -> dict[str, Field]:
        """The fields of a class or of an object of it. Raises TypeError when it has none."""
        found = self._found(made)
        if found is None:
            raise TypeError("must be called with a dataclass type or instance")
        return found

    def asdict(self, made: object) -> dict[str, object]:
        """A dictionary of an object's fields, and of those of objects in it."""
        return {name: self._plain(getattr(made, name), self.asdict) for name in self.of(made)}

    def astuple(self, made: object) -> tuple[object, ...]:
        """The same without the names."""
        return tuple(self._plain(getattr(made, name), self.astuple) for name in self.of(made))

    def replace(self, made: Any, /, **changes: object) -> object:
        """An object like this one with other fields."""
        kept = {name: getattr(made, name) for name, one in self.of(made).items() if one.init}
        return type(made)(**{**kept, **changes})

    def _found(self, made: object) -> dict[str, Field] | None:
        kind = made if isinstance(made, type) else type(made)
        found = (self.known[one] for one in type.mro(kind) if one in self.known)
        return next(found, None)

    def _inherited(self, made: type) -> dict[str, Field]:
        bases = reversed(type.mro(made)[1:])
        return {name: one for base in bases for name, one in self.known.get(base, {}).items()}

    def _plain(self, value: Any, inner: Callable[[Any], object]) -> object:
        if type(value) in self.known:
            return inner(value)
        if type(value) in (list, tuple):
            return type(value)(self._plain(one, inner) for one in value)
        if type(value) is dict:
            return {key: self._plain(one, inner) for key, one in value.items()}
        return value


def _field(made: type, name: str) -> Field:
    given = vars(made).get(name, _MISSING)
    found = given if type(given) is Field else Field(default=given)
    found.name = name
    if type(given) is Field and found.default is not _MISSING:
        setattr(made, name, found.default)
    elif type(given) is Field:
        delattr(made, name)
    if type(found.default) in (list, dict, set):
        raise ValueError(f"mutable default for field {name}: use default_factory")
    return found


def _is_of_the_class(annotation: object) -> bool:
    return "ClassVar" in str(annotation)


def _refuse_order(fields: Mapping[str, Field], *, is_keyword: bool) -> None:
    has_default = False
    for name, one in fields.items():
        is_optional = one.default is not _MISSING or one.default_factory is not _MISSING
        if one.init and has_default and not is_optional and not is_keyword:
            raise TypeError(f"non-default argument {name} follows default argument")
        has_default = has_default or (one.init and is_optional)


def _add_methods(made: Any, fields: Mapping[str, Field], options: Mapping[str, bool]) -> None:
    def values(self: object) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name, one in fields.items() if one.compare)

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(self) is type(other) else NotImplemented

    def show(self: object) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name, one in fields.items() if one.repr)
        return f"{made.__qualname__}({', '.join(shown)})"

    def refuse(self: object, name: str, *_: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    is_frozen = options.get("frozen", False)
    if options.get("init", True) and "__init__" not in vars(made):
        made.__init__ = _maker(fields, is_keyword=options.get("kw_only", False))
    if options.get("repr", True) and "__repr__" not in vars(made):
        made.__repr__ = show
    if options.get("eq", True) and "__eq__" not in vars(made):
        made.__eq__ = equal
        made.__hash__ = (lambda self: hash(values(self))) if is_frozen else None
    for name in _ORDERS if options.get("order", False) else ():
        setattr(made, f"__{name}__", _comparison(name, values))
    if is_frozen:
        made.__setattr__ = made.__delattr__ = refuse


def _comparison(name: str, values: Callable[[object], object]) -> Callable[[object, object], Any]:
    def compare(self: object, other: object) -> Any:
        is_alike = type(self) is type(other)
        return getattr(operator, name)(values(self), values(other)) if is_alike else NotImplemented

    return compare


def _maker(fields: Mapping[str, Field], *, is_keyword: bool) -> Callable[..., None]:
    def make(self: Any, *given: object, **named: object) -> None:
        taken = [name for name, one in fields.items() if one.init]
        if len(given) > (0 if is_keyword else len(taken)):
            raise TypeError(f"{type(self).__name__}() takes {len(taken)} fields, got {len(given)}")
        bound = dict(zip(taken, given, strict=False))
        for name, value in named.items():
            if name not in taken or name in bound:
                raise TypeError(f"{type(self).__name__}() got a field {name} it does not take")
            bound[name] = value
        for name, value in _with_defaults(fields, bound):
            object.__setattr__(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return make


def _with_defaults(
    fields: Mapping[str, Field], bound: Mapping[str, object]
) -> Iterator[tuple[str, object]]:
    for name, one in fields.items():
        if name in bound:
            yield name, bound[name]
        elif one.default_factory is not _MISSING:
            yield name, one.default_factory()
        elif one.default is not _MISSING:
            yield name, one.default
        elif one.init:
            raise TypeError(f"the call misses {name}")
