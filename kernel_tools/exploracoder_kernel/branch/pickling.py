"""Pickles chosen variables of this process, a user's kernel, into a file.

The source of this file is sent to that kernel, in another process, and evaluated in a namespace of
its own, as one silent request, so that it leaves no name behind. It may import nothing of ours, and
runs in Python 3.8 too. The pickles name the pickle library by its real name; the kernel needs none.
"""

from __future__ import annotations

import contextlib
import io
import json
import keyword
import os
import re
import sys
import types
from collections.abc import Iterator
from typing import Any, Optional

_LIBRARY = "cloudpickle"
_WORDS = {
    "generator": "a generator, whose position can't be copied",
    "async_generator": "an asynchronous generator, whose position can't be copied",
    "coroutine": "a coroutine, which has started",
    "lock": "a lock",
    "RLock": "a lock",
    "socket": "a network connection",
    "SSLSocket": "a network connection",
    "SSLContext": "a network connection's context",
    "sqlite3.Connection": "a database connection",
    "sqlite3.Cursor": "a database cursor",
    "SimpleQueue": "a queue between threads",
    "frame": "a running frame",
    "traceback": "a traceback",
    "mmap": "a file mapped into memory",
    "weakref": "a weak reference",
    "ReferenceType": "a weak reference",
}
_CODE = (type, types.FunctionType, types.BuiltinFunctionType)
_UNPICKLABLE = re.compile(r"cannot pickle '([^']+)' (?:object|instances?)")


class Refusal(Exception):  # noqa: N818  # an answer about a value
    """Why a value can't be transferred, in words."""


class PickleFile:
    """Writes pickles of at most ``limit`` bytes in total to a file, from its start.

    Once a pickle is dropped, later ones are only counted: they may refer to it.
    """

    def __init__(self, file: Any, limit: int) -> None:
        file.seek(0)
        self.is_whole = True
        self.error: Optional[OSError] = None
        self._file = file
        self._limit = limit
        self._start = self._size = 0

    def write(self, data: Any) -> None:
        """Count the data, and write it if there is room."""
        self._size += memoryview(data).nbytes
        if self._size > self._limit:
            raise Refusal(f"it is over {self._limit:,} bytes")
        try:
            if self.is_whole and self._start + self._size <= self._limit:
                self._file.write(data)
        except OSError as error:
            self.error = error
            raise

    def end_pickle(self) -> int:
        """End the pickle and return its size in bytes. Raises Refusal if there was no room."""
        if self._start + self._size > self._limit:
            raise Refusal(f"with the others it is over {self._limit:,} bytes")
        size, self._size = self._size, 0
        self._start += size
        return size

    def drop_pickle(self) -> None:
        """Discard the pickle, which makes the file useless."""
        self.is_whole, self._size = False, 0


class MainNames(dict):  # type: ignore[type-arg]  # subscripted, it would not load in Python 3.8
    """Stands for the kernel's own namespace; unpickled, it is the branch's."""


@contextlib.contextmanager
def pickle_library(text: str) -> Iterator[Any]:
    """The library loaded from its source under its real name; restores what had that name."""
    before = _forget_library()
    module = types.ModuleType(f"{_LIBRARY}.{_LIBRARY}")
    # The package has the same functions. Whoever imports it now must be able to keep it.
    module.cloudpickle = module  # type: ignore[attr-defined]
    sys.modules.update({_LIBRARY: module, module.__name__: module})
    try:
        exec(compile(text, f"<{module.__name__}>", "exec"), module.__dict__)
        yield module
    finally:
        _forget_library()
        sys.modules.update(before)


def _forget_library() -> dict[str, types.ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] == _LIBRARY]
    return {name: sys.modules.pop(name) for name in names}


def pickler_class(library: Any) -> Any:
    """The pickler class, which moves functions from the kernel's namespace to the branch's."""
    by_reference = library._should_pickle_by_reference

    class VariablePickler(library.Pickler):  # type: ignore[misc]  # known when this runs
        def __init__(self, file: PickleFile, request: dict[str, Any]) -> None:
            super().__init__(file, protocol=5)
            self._main = sys.modules["__main__"].__dict__
            self._hidden = _hidden(self._main)
            self.globals_ref[id(self._main)] = MainNames(__name__="__main__")
            self.modules: set[str] = set()
            self._file = file
            self._value: Any = None
            self._code_names: set[str] = set()
            self._missing_modules = set(request["missing_modules"])
            self._code_obstacle = _code_obstacle(str(request["python"]))

        def pickle(self, value: Any) -> tuple[int, set[str]]:
            """Pickle a value; return its bytes and the names of functions and classes it needs."""
            self._value, self._code_names = value, set()
            self.dump(value)
            return self._file.end_pickle(), self._code_names - self._hidden

        def reducer_override(self, obj: Any) -> Any:
            if type(obj) is MainNames:
                return eval, ("__import__('sys').modules['__main__'].__dict__",)
            if isinstance(obj, io.IOBase) and not isinstance(obj, (io.BytesIO, io.StringIO)):
                raise Refusal(_is_or_holds("an open file", obj is self._value))
            if isinstance(obj, _CODE):
                self._note_code(obj)
            elif isinstance(obj, types.ModuleType) and by_reference(obj):
                self._note_module(obj.__name__)
            return super().reducer_override(obj)

        def _note_code(self, obj: Any) -> None:
            name = str(getattr(obj, "__name__", ""))
            if self._main.get(name) is obj:
                self._code_names.add(name)
            if isinstance(obj, types.BuiltinFunctionType) or by_reference(obj):
                self._note_module(str(getattr(obj, "__module__", None)))
            elif self._code_obstacle:
                raise Refusal(_is_or_holds(self._code_obstacle, obj is self._value))

        def _note_module(self, name: str) -> None:
            package = name.partition(".")[0]
            if package in self._missing_modules:
                raise Refusal(f"the branch's Python has no module {package!r}")
            self.modules.add(package)

        def _dynamic_function_reduce(self, func: Any) -> Any:
            reduction = super()._dynamic_function_reduce(func)
            if func.__globals__ is self._main:
                for name in self._hidden:
                    reduction[2][1]["__globals__"].pop(name, None)
            return reduction

    return VariablePickler


def pickle_variables(request: dict[str, Any], file: Any, library: Any) -> dict[str, Any]:
    """Pickle all variables that can be, one after another; return a ``PickleReport``'s fields.

    One pickler writes them all, so that what they share stays shared. Functions and classes of the
    notebook bring along those that they need.
    """
    main = sys.modules["__main__"].__dict__
    refusals = {name: _obstacle(name, main) for name in request["names"]}
    refusals = {name: reason for name, reason in refusals.items() if reason}
    refusals.update(request["refusals"])
    pickler_type = pickler_class(library)
    while True:
        output = PickleFile(file, int(request["limit_bytes"]))
        pickler = pickler_type(output, request)
        variables = _pickle_each(request["names"], main, pickler, output, refusals)
        if output.is_whole:
            break
    # Cuts off what a longer earlier attempt left, and flushes the buffer.
    file.truncate()
    return {
        "variables": variables,
        "refused": [
            {"name": name, "type": _type_name(main, name), "reason": refusals[name]}
            for name in request["names"]
            if name in refusals
        ],
        "modules": sorted(pickler.modules - {"None", "__main__", _LIBRARY}),
        "paths": [str(path) for path in sys.path],
        "prefix": sys.prefix,
    }


def _pickle_each(
    names: list[str],
    main: dict[str, Any],
    pickler: Any,
    output: PickleFile,
    refusals: dict[str, str],
) -> list[dict[str, Any]]:
    """The variables that were pickled; adds others to ``refusals``, which voids this attempt."""
    variables = []
    queue = list(names)
    for name in queue:
        if name in refusals:
            continue
        try:
            size, needs = pickler.pickle(main[name])
        except Exception as error:  # the user's classes may raise anything
            if output.error is not None:
                raise
            output.drop_pickle()
            refusals[name] = _reason(error, main[name])
            continue
        variables.append({"name": name, "size_bytes": size})
        queue += sorted(needs - set(queue))
    return variables


def answer(request: dict[str, Any]) -> str:
    """The report, in JSON; an empty one if the folder is gone, as nobody is waiting any more."""
    report: dict[str, Any] = {}
    path = str(request["path"])
    try:
        if os.path.isdir(os.path.dirname(path)):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file, pickle_library(request["library"]) as library:
                report = pickle_variables(request, file, library)
    except BaseException as error:  # noqa: BLE001  # an interrupt too must leave the kernel well
        report = {"failure": f"{type(error).__name__}: {error}"}
    # Paths may hold lone surrogates, which UTF-8 can't encode.
    return json.dumps(report, ensure_ascii=False).encode("utf-8", "replace").decode()


def _hidden(main: dict[str, Any]) -> set[str]:
    """Names that IPython defined and the user has not rebound."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    hidden_variables = getattr(shell, "user_ns_hidden", {})
    own = {name for name, value in list(hidden_variables.items()) if main.get(name) is value}
    return own | {"get_ipython", "__builtins__", "__builtin__"}


def _code_obstacle(python: str) -> str:
    """Why functions and classes can't go to a branch with that Python; empty if they can."""
    own = "{}.{}".format(*sys.version_info)
    if own.split(".") == python.split(".")[:2] and sys.implementation.name == "cpython":
        return ""
    return f"code that was compiled by Python {own}, which Python {python} can't run"


def _obstacle(name: str, main: dict[str, Any]) -> str:
    """Why there is nothing to pickle under a name; empty if there is."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return "it is not a name in Python"
    if name not in main:
        return "the kernel has no variable of this name"
    return "it is IPython's own" if name in _hidden(main) else ""


def _reason(error: BaseException, value: Any) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, Refusal):
        return text
    unpicklable = _UNPICKLABLE.search(text)
    if unpicklable:
        kind = unpicklable.group(1)
        short = kind.rpartition(".")[2]
        other = f"an object of type {kind}, which can't be copied to another process"
        words = _WORDS.get(kind) or _WORDS.get(short) or other
        return _is_or_holds(words, type(value).__name__ == short)
    if isinstance(error, RecursionError) or "recursion" in text:
        return "it is nested too deeply"
    return f"it can't be pickled: {type(error).__name__}: {text[:200]}"


def _is_or_holds(words: str, is_itself: bool) -> str:
    return f"it is {words}" if is_itself else f"it holds {words}"


def _type_name(main: dict[str, Any], name: str) -> str:
    """The name of a variable's type; empty if there is no such variable."""
    if name not in main:
        return ""
    kind = type(main[name])
    is_plain = kind.__module__ in ("builtins", "__main__")
    return kind.__qualname__ if is_plain else f"{kind.__module__}.{kind.__qualname__}"
