"""What documented types say about a value: ``isinstance`` without the value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

# The classes that a value of a documented type may have. An int may be passed as a float.
_SCALARS: dict[str, tuple[type, ...]] = {
    "float": (float, int),
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
}


class _LibraryObject:
    """Stands in for the class of a library's objects, about which nothing else is known."""


def is_of(
    type_name: str, classinfo: object, library_of: Callable[[object], str | None]
) -> bool | None:
    """Whether a value of a documented type is an instance; None if that is undecidable.

    Args:
        type_name: A scalar, or a class library's id.
        classinfo: What ``isinstance`` was given: a class, or a tuple of such.
        library_of: Maps a library's class to the library's id, and anything else to None.

    Raises:
        TypeError: ``classinfo`` is not a class, as with ``isinstance`` itself.
    """
    if type_name == "any":
        return None
    kinds: tuple[type, ...] = _SCALARS.get(type_name, (_LibraryObject,))
    answers = set()
    for kind in kinds:
        matches = [_is(kind, type_name, one, library_of) for one in flat(classinfo)]
        answers.add(any(matches))
    return answers.pop() if len(answers) == 1 else None


def is_scalar(type_name: str) -> bool:
    """Whether the type is a scalar."""
    return type_name in _SCALARS


def flat(classinfo: object) -> Iterator[object]:
    """The classes in nested tuples of classes."""
    if isinstance(classinfo, tuple):
        for one in classinfo:
            yield from flat(one)
    else:
        yield classinfo


def _is(
    kind: type, type_name: str, class_: object, library_of: Callable[[object], str | None]
) -> bool:
    library = library_of(class_)
    return library == type_name if library is not None else issubclass(kind, class_)  # type: ignore[arg-type] # it raises TypeError for what is no class
