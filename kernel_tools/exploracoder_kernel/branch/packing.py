"""Writes chosen variables of a user's kernel to a file.

This is sent to the kernel as text and executed in a namespace of its own, as one silent request, so
that it leaves no name behind: ``REQUEST`` is given to it there. It may import nothing of ours. The
pickle library is our copy, loaded from a folder under its real name, which the pickles contain, and
forgotten again; ``sys.path`` is not touched.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
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
    "Condition": "a lock",
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
    """A value can't go; ``str()`` says what it is, ``kinds`` the types that are it themselves."""

    def __init__(self, words: str, kinds: tuple[type, ...]) -> None:
        super().__init__(words)
        self.kinds = kinds


class TooLarge(Exception):  # noqa: N818  # an answer about a value
    """There are more bytes than may be."""


class Counter:
    """A file that only counts, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.size = 0
        self._limit = limit

    def write(self, data: Any) -> int:
        """Count."""
        size = memoryview(data).nbytes
        self.size += size
        if self.size > self._limit:
            raise TooLarge
        return size

    def count(self, buffer: Any) -> None:
        """Count a large buffer without copying it."""
        self.write(buffer.raw())


class Names(dict):  # type: ignore[type-arg]  # subscripted, it would not load in Python 3.8
    """Stands for the kernel's own namespace, which becomes that of the branch."""


@contextlib.contextmanager
def library_from(folder: str) -> Iterator[Any]:
    """Our copy of the library under its real name; what was there under it comes back."""
    ours = [name for name in sys.modules if name.partition(".")[0] == _LIBRARY]
    before = {name: sys.modules.pop(name) for name in ours}
    home = os.path.join(folder, _LIBRARY)
    spec = importlib.util.spec_from_file_location(
        _LIBRARY, os.path.join(home, "__init__.py"), submodule_search_locations=[home]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_LIBRARY] = module
    try:
        spec.loader.exec_module(module)
        yield module.cloudpickle
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == _LIBRARY]:
            del sys.modules[name]
        sys.modules.update(before)


def packer_class(library: Any, main: dict[str, Any], hidden: set[str], code_note: str) -> Any:
    """The pickler: functions of the kernel's namespace become functions of the branch's.

    ``code_note`` says why code can't go, where it can't.
    """

    by_reference = library._should_pickle_by_reference

    class Packer(library.Pickler):  # type: ignore[misc]  # the class is known when this runs
        def __init__(self, file: Any, **options: Any) -> None:
            super().__init__(file, protocol=5, **options)
            self.globals_ref[id(main)] = Names(__name__="__main__")
            self.met: set[str] = set()
            self.modules: set[str] = set()

        def reducer_override(self, obj: Any) -> Any:
            if type(obj) is Names:
                return eval, ("__import__('sys').modules['__main__'].__dict__",)
            if isinstance(obj, io.IOBase) and not isinstance(obj, (io.BytesIO, io.StringIO)):
                raise Refusal("an open file", (io.IOBase,))
            if isinstance(obj, _CODE):
                self._meet(obj)
            elif isinstance(obj, types.ModuleType) and by_reference(obj):
                self.modules.add(obj.__name__.partition(".")[0])
            return super().reducer_override(obj)

        def _meet(self, obj: Any) -> None:
            name = str(getattr(obj, "__name__", ""))
            if main.get(name) is obj:
                self.met.add(name)
            if isinstance(obj, types.BuiltinFunctionType) or by_reference(obj):
                self.modules.add(str(getattr(obj, "__module__", None)).partition(".")[0])
            elif code_note:
                raise Refusal(code_note, _CODE)

        def _dynamic_function_reduce(self, func: Any) -> Any:
            reduced = super()._dynamic_function_reduce(func)
            if func.__globals__ is main:
                for name in hidden:
                    reduced[2][1]["__globals__"].pop(name, None)
            return reduced

    return Packer


class Packing:
    """One request: which names of ``main`` can go, and their pickles in one file."""

    def __init__(self, request: dict[str, Any], library: Any) -> None:
        self.main: dict[str, Any] = sys.modules["__main__"].__dict__
        self.hidden = _hidden(self.main)
        self.limit = int(request["limit_bytes"])
        self.refused: dict[str, str] = dict(request["refused"])
        note = _code_note(str(request["python"]))
        self.packer = packer_class(library, self.main, self.hidden, note)
        self.modules: dict[str, list[str]] = {}
        self.asked: list[str] = list(request["names"])

    def run(self, path: str) -> list[dict[str, Any]]:
        """Write the pickles of all that can go, one after another; what each of them is."""
        sizes: dict[str, int] = {}
        queue = [name for name in self.asked if name not in self.refused]
        for name in queue:
            met = self._probe(name, sizes)
            queue += sorted(met - set(queue) - set(self.refused) - self.hidden)
        while True:
            entries = self._write(path, sizes)
            if entries is not None:
                return entries

    def _probe(self, name: str, sizes: dict[str, int]) -> set[str]:
        """Whether a name can go by itself, and the functions and classes that go with it."""
        if name not in self.main or name in self.hidden:
            has_none = "the kernel has no variable of this name"
            self._refuse(name, "it is IPython's own" if name in self.main else has_none)
            return set()
        counter = Counter(self.limit)
        packer = self.packer(counter, buffer_callback=counter.count)
        try:
            packer.dump(self.main[name])
        except Exception as error:  # noqa: BLE001  # the user's classes may raise anything
            self._refuse(name, _reason(error, self.main[name], self.limit))
            return set()
        sizes[name] = counter.size
        self.modules[name] = sorted(packer.modules - {"None", "__main__"})
        return set(packer.met)

    def _write(self, path: str, sizes: dict[str, int]) -> Optional[list[dict[str, Any]]]:
        """All in one pickler, so that what they share stays shared; None: one more was refused."""
        entries = []
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            packer = self.packer(file)
            for name in sizes:
                start = file.tell()
                reason = None
                try:
                    packer.dump(self.main[name])
                except OSError:
                    raise
                except Exception as error:  # noqa: BLE001  # the user's classes may raise anything
                    reason = _reason(error, self.main[name], self.limit)
                size = file.tell() - start
                if start + size > self.limit:
                    reason = f"with the others it is over {self.limit:,} bytes"
                    self._refuse_larger(sizes, name, self.limit - start, reason)
                if reason is not None:
                    del sizes[name]
                    self._refuse(name, reason)
                    return None
                entries.append(self._entry(name, size))
        return entries

    def _refuse_larger(self, sizes: dict[str, int], name: str, room: int, reason: str) -> None:
        """Of the names after ``name``, those that can't fit in what room is left either."""
        names = list(sizes)
        for later in names[names.index(name) + 1 :]:
            if sizes[later] > room:
                del sizes[later]
                self._refuse(later, reason)

    def _entry(self, name: str, size: int) -> dict[str, Any]:
        modules = self.modules[name]
        is_asked = name in self.asked
        return {"name": name, "size": size, "asked": is_asked, "modules": modules}

    def _refuse(self, name: str, reason: str) -> None:
        self.refused[name] = reason

    def refusals(self) -> list[dict[str, str]]:
        """Of the names that were asked for."""
        missing = object()
        found = []
        for name in self.asked:
            if name not in self.refused:
                continue
            value = self.main.get(name, missing)
            kind = "" if value is missing else _type_name(type(value))
            found.append({"name": name, "type": kind, "reason": self.refused[name]})
        return found


def _hidden(main: dict[str, Any]) -> set[str]:
    """Names that IPython put there, and the user did not bind to something else."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    given = getattr(shell, "user_ns_hidden", {})
    own = {name for name, value in list(given.items()) if main.get(name) is value}
    return own | {"get_ipython", "__builtins__", "__builtin__"}


def _code_note(python: str) -> str:
    """Why functions and classes can't go to a branch of that Python; empty when they can."""
    here = sys.version_info[:2]
    there = tuple(int(part) for part in python.split(".")[:2])
    if here == there and sys.implementation.name == "cpython":
        return ""
    own = "{}.{}".format(*here)
    return f"code that was compiled by Python {own}, which Python {python} can't run"


def _reason(error: BaseException, value: Any, limit: int) -> str:
    if isinstance(error, TooLarge):
        return f"it is over {limit:,} bytes"
    if isinstance(error, Refusal):
        return _is_or_holds(str(error), isinstance(value, error.kinds))
    found = _UNPICKLABLE.search(str(error))
    if found is None:
        if isinstance(error, RecursionError) or "recursion" in str(error):
            return "it is nested too deeply"
        text = " ".join(str(error).split())
        return f"it can't be pickled: {type(error).__name__}: {text[:200]}"
    kind = found.group(1)
    short = kind.rpartition(".")[2]
    words = _WORDS.get(kind) or _WORDS.get(short)
    if words is None:
        words = f"an object of type {kind}, which can't be copied to another process"
    return _is_or_holds(words, type(value).__name__ == short)


def _is_or_holds(words: str, is_itself: bool) -> str:
    return f"it is {words}" if is_itself else f"it holds {words}"


def _type_name(kind: type) -> str:
    is_plain = kind.__module__ in ("builtins", "__main__")
    return kind.__qualname__ if is_plain else f"{kind.__module__}.{kind.__qualname__}"


def _say(folder: str, name: str, content: dict[str, Any]) -> None:
    """Write a file that is there whole or not at all."""
    path = os.path.join(folder, name)
    with open(os.open(path + ".part", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        json.dump(content, file)
    os.replace(path + ".part", path)


def main(request: dict[str, Any]) -> None:
    """Do what is asked; where nobody waits any more, the folder is gone, and nothing is done."""
    folder = str(request["folder"])
    if not os.path.isdir(folder):
        return
    try:
        _say(folder, "started.json", {"pid": os.getpid()})
        try:
            with library_from(folder) as library:
                packing = Packing(request, library)
                entries = packing.run(os.path.join(folder, "variables"))
            report = {"entries": entries, "refused": packing.refusals(), "paths": sys.path}
            report["prefix"] = sys.prefix
        except BaseException as error:  # noqa: BLE001  # an interrupt too must leave the kernel well
            report = {"failed": f"{type(error).__name__}: {error}"}
        _say(folder, "report.json", report)
    except OSError:
        return


if "REQUEST" in globals():
    main(globals()["REQUEST"])
