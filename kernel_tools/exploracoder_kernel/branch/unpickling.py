"""Loads variables of the user's kernel into a branch, from a file that ``pickling`` wrote."""

from __future__ import annotations

import contextlib
import importlib.util
import mmap
import os
import pickle
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from .error_reports import brief
from .pickling import pickle_library
from .previews import type_name


def unpickle(request: Mapping[str, Any], fd: int, namespace: dict[str, Any]) -> dict[str, Any]:
    """Bind all the variables in ``request["names"]``, or none if one can't be loaded here.

    Returns:
        The fields of an ``UnpickleReport``: the types of what is bound, or why it could not be.
    """
    before = dict(namespace)
    if request["prefix"] == sys.prefix:
        # Additional entries in the kernel's path were put there by the user.
        sys.path += [path for path in request["paths"] if path not in sys.path]
    with _opened(fd) as stream:
        missing = [name for name in request["modules"] if not _is_here(str(name))]
        if missing:
            return {"missing_modules": missing}
        unpickler = pickle.Unpickler(stream)
        values: dict[str, Any] = {}
        with pickle_library(request["library"]):
            for name in request["names"]:
                try:
                    values[name] = unpickler.load()
                except Exception as error:  # noqa: BLE001  # a class of the user's may raise anything
                    # Functions bind names as soon as they load. Later pickles may need this one.
                    namespace.clear()
                    namespace.update(before)
                    return {"failures": {name: _reason(error)}}
    namespace.update(values)
    namespace["__builtins__"] = before["__builtins__"]
    names = [*values, *(name for name in namespace if name not in values and name not in before)]
    return {"types": {name: type_name(type(namespace[name])) for name in names}}


@contextlib.contextmanager
def _opened(fd: int) -> Iterator[mmap.mmap]:
    """The file from its start, independent of the position that others have read to."""
    try:
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as stream:
            yield stream
    finally:
        os.close(fd)


def _is_here(module: str) -> bool:
    if module in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"its library can't be imported by the branch's Python: {brief(error)}"
    if isinstance(error, AttributeError):
        return f"its library is not the same for the branch's Python: {brief(error)}"
    return f"the branch's Python can't make it: {brief(error)}"
