"""What the documentation's types say of a value: ``isinstance`` without the value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

# What a value of a documented type may be. An int may be given where a float is wanted.
_SCALARS: dict[str, tuple[type, ...]] = {
    "float": (float, int),
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
}


class _Thing:
    """Stands for the class of a library's objects, of which nothing else is known."""


def is_of(
    type_name: str, classinfo: object, library_of: Callable[[object], str | None]
) -> bool | None:
    """Whether a value of a documented type is an instance; None when it may be or not.

    Args:
        type_name: A scalar, or a class library's id.
        classinfo: What ``isinstance`` was given: a class, or a tuple of such.
        library_of: The id of the library whose class something is; None of all else.

    Raises:
        TypeError: ``classinfo`` is no class, as ``isinstance`` itself would say.
    """
    if type_name == "any":
        return None
    kinds: tuple[type, ...] = _SCALARS.get(type_name, (_Thing,))
    answers = set()
    for kind in kinds:
        matches = [_is(kind, type_name, one, library_of) for one in flat(classinfo)]
        answers.add(any(matches))
    return answers.pop() if len(answers) == 1 else None


def is_scalar(type_name: str) -> bool:
    """Whether values of the type are plain ones."""
    return type_name in _SCALARS


def flat(classinfo: object) -> Iterator[object]:
    """The classes of a tuple of tuples of classes."""
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
