"""Takes variables of the user's kernel into a branch, from a file that ``packing`` wrote."""

from __future__ import annotations

import contextlib
import importlib.util
import mmap
import os
import pickle
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from .failures import brief
from .previews import type_name

_LIBRARY = "cloudpickle"


@contextlib.contextmanager
def _library(text: str) -> Iterator[None]:
    """The pickle library under its real name, from its text; what was there under it comes back.

    The branch may not be able to read where the owner has it installed.
    """
    before = _forget()
    package, module = ModuleType(_LIBRARY), ModuleType(f"{_LIBRARY}.{_LIBRARY}")
    package.__path__ = []
    sys.modules[_LIBRARY] = package
    sys.modules[module.__name__] = package.cloudpickle = module  # type: ignore[attr-defined]
    try:
        exec(compile(text, f"<{module.__name__}>", "exec"), module.__dict__)
        yield
    finally:
        _forget()
        sys.modules.update(before)


@contextlib.contextmanager
def _opened(fd: int) -> Iterator[mmap.mmap]:
    """The file from its start, whoever else has it open reads where."""
    try:
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as stream:
            yield stream
    finally:
        os.close(fd)


def _forget() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] == _LIBRARY]
    return {name: sys.modules.pop(name) for name in names}


def unpack(request: Mapping[str, Any], fd: int, namespace: dict[str, Any]) -> dict[str, Any]:
    """Bind the names of ``request["entries"]``, or none of them when one can't be made here.

    Returns:
        ``{"bound": [{"name", "type"}]}`` with what came along too, or
        ``{"unmade": [{"name", "reason"}]}``.
    """
    before = dict(namespace)
    if request["prefix"] == sys.prefix:
        # What is more in the kernel's path was put there by the user.
        sys.path += [path for path in request["paths"] if path not in sys.path]
    with _opened(fd) as stream, _library(request["library"]):
        values, failed = _load_all(stream, request["entries"])
    if failed:
        namespace.clear()
        namespace.update(before)
        return {"unmade": failed}
    namespace.update(values)
    namespace["__builtins__"] = before["__builtins__"]
    bound = [name for name in namespace if name in values or name not in before]
    return {"bound": [{"name": name, "type": type_name(type(namespace[name]))} for name in bound]}


def _without_module(entries: list[Any]) -> list[Any]:
    """Those that need a module which is not here; all of them, so that they go at once."""
    found = []
    for entry in entries:
        missing = next((name for name in entry["modules"] if not _is_here(str(name))), None)
        if missing is not None:
            reason = f"the branch's Python has no module {missing!r}"
            found.append({"name": str(entry["name"]), "reason": reason})
    return found


def _is_here(module: str) -> bool:
    if module in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _load_all(stream: mmap.mmap, entries: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """The values, or else those that can't be made, as far as that can be told now.

    It ends at the first that fails: those after it may build on it.
    """
    lacking = _without_module(entries)
    if lacking:
        return {}, lacking
    unpickler = pickle.Unpickler(stream)
    values: dict[str, Any] = {}
    for entry in entries:
        try:
            values[str(entry["name"])] = unpickler.load()
        except Exception as error:  # noqa: BLE001  # a class of the user's may raise anything
            return {}, [{"name": str(entry["name"]), "reason": _reason(error)}]
    return values, []


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"its library can't be imported by the branch's Python: {brief(error)}"
    if isinstance(error, AttributeError):
        return f"its library is not the same for the branch's Python: {brief(error)}"
    return f"the branch's Python can't make it: {brief(error)}"
