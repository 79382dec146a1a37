"""The libraries that a server's clients have asked for, and what is known of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.shared_members import same, with_others

from exploracoder import prepare
from exploracoder.engine.knowing.source_lookup import SourceLookup
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.reading.value_text import clip, describe_api, listed
from exploracoder.errors import InputError, raised_as
from exploracoder.mapping import map_of
from exploracoder.mcp.folder import Folder, called
from exploracoder.state import Library
from exploracoder.workspace import Options

_DOC_CHARS = 600
_WHOLE_CHARS = 12_000
# Room for a note before an answer, and for the line that says how much is left out.
_NOTE_CHARS = 500
_LOOKED_AT = 6
_OTHERS = 3
_SAME_NAME = 3
_NAMED = 8


class Libraries:
    """The index and the interpreter, opened on first use. All methods block.

    Libraries asked for before are remembered, so that an API can be named without its library.
    """

    def __init__(self, folder: Folder, options: Options) -> None:
        self._folder = folder
        self._options = options
        self._stack = ExitStack()
        self._index: Index | None = None
        self._interpreter: Interpreter | None = None
        # By the name they were asked for: the folder of each, or None if it is installed.
        self._homes: dict[str, str | None] = {}
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the index."""
        self._stack.close()

    @property
    def index(self) -> Index:
        """The user's index. Raises SetupError when it cannot be opened."""
        with self._lock:
            if self._index is None:
                self._index = self._stack.enter_context(self._options.open_index())
            return self._index

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter that has the libraries. Raises InputError when it cannot be used."""
        with self._lock:
            if self._interpreter is None:
                self._interpreter = self._options.find_interpreter()
            return self._interpreter

    def use(self, targets: Sequence[str]) -> tuple[Library, ...]:
        """Bring the index up to date for libraries. Raises InputError if one is not available."""
        names = [self._folder.library(one) for one in targets]
        with self._lock:
            libraries = prepare.index_libraries(self.index, names, self.interpreter, option="")
            for name, one in zip(dict.fromkeys(names), libraries, strict=True):
                home = self.index.info(one.name).home
                self._homes[name] = str(home) if home is not None else None
        return libraries

    def homes(self) -> list[str]:
        """The folders of the libraries that are not installed."""
        self._use_given()
        return [home for home in dict.fromkeys(self._homes.values()) if home is not None]

    def find(self, task: str, targets: Sequence[str], k: int) -> str:
        """The APIs that do what the task says, best first; shared members appear once."""
        if not task.strip():
            raise InputError("The task is empty. Say in a few words what the APIs should do.")
        names = [one.name for one in self.use(targets)]
        groups = with_others(self.index.search(task, names, _LOOKED_AT * k), k, same)
        descriptions = []
        for hit, also in groups:
            others = f"\n  The same in {listed(also[:_OTHERS])}" if also else ""
            descriptions.append(describe_api(hit.doc, _DOC_CHARS) + others)
        return "\n".join(descriptions) or "Nothing was found."

    def map(self, target: str, task: str, budget: int) -> str:
        """List every public API of a library in a line."""
        return map_of(self.index, [one.name for one in self.use([target])], budget, task).text

    def doc(self, name: str) -> str:
        """The documentation of an API. Raises InputError when there is none."""
        apis = self._known_apis(name)
        docs = apis.meant(name)
        if not docs:
            raise InputError(f"There is no documentation of {name[:80]!r}. {self._how_to_name()}")
        text = "\n".join(_described(one, apis) for one in docs[:_SAME_NAME])
        return clip(_beside(name, docs[0].path, docs[_SAME_NAME:], apis) + text, _WHOLE_CHARS)

    def source(self, name: str) -> str:
        """The source code of an API. Raises InputError if there is none."""
        apis = self._known_apis(name)
        lookup = SourceLookup(
            str(self.interpreter.executable), [Path(home) for home in self.homes()]
        )
        with raised_as(InputError, RetrievalError, SyntaxError):
            for path in apis.places(name)[: 1 + _LOOKED_AT]:
                if code := lookup.source(path):
                    others = _others(path, apis.meant(name))
                    return clip(_beside(name, path, others, apis) + code, _WHOLE_CHARS)
            if code := lookup.module_source(name):
                return clip(code, _WHOLE_CHARS)
        raise InputError(
            f"There is no Python source of {name[:80]!r}; what is written in C has none."
            f" {self._how_to_name()}"
        )

    def _how_to_name(self) -> str:
        if not self._homes:
            return (
                "No library is known yet: name its library in a call of find_apis or library_map,"
                " or give the whole import path, package.Class.member."
            )
        return (
            f"Known are the libraries {listed(map(called, self._homes))}. Name an API as find_apis"
            " and library_map do: Class.member, or package.Class.member."
        )

    def _known_apis(self, name: str) -> KnownApis:
        """The APIs of the libraries asked for before, or else of the one that the path names."""
        top = name.partition(".")[0]
        with self._lock:
            apis = KnownApis(self._docs())
            if apis.meant(name) or top == name:
                return apis
            try:
                return KnownApis(self.index.docs(self.use([top])[0].name))
            except InputError:
                return apis

    def _docs(self) -> Iterator[ApiDoc]:
        """The docs of all libraries asked for before that are still available."""
        self._use_given()
        for target in tuple(self._homes):
            with suppress(InputError):
                yield from self.index.docs(self.use([target])[0].name)

    def _use_given(self) -> None:
        with self._lock:
            targets = [one for one in self._folder.libraries if one not in self._homes]
            if targets:
                self.use(targets)


def _described(doc: ApiDoc, apis: KnownApis) -> str:
    """All that is known of an API; of a class, its members' signatures, as many as have room."""
    text = describe_api(doc, _WHOLE_CHARS)
    has_source = (doc.file or "").endswith(".py") and doc.kind != "attribute"
    if has_source and not (doc.doc.strip() or doc.notes):
        text += "\n  It has no documentation; read_source shows how it is written."
    members = apis.members(doc.path)
    if members:
        text += "\n  Its members:"
    for number, member in enumerate(members):
        lines = (member.signature or member.path.rpartition(".")[2]).splitlines()
        signature = "".join(f"\n    {line}" for line in lines)
        if len(text) + len(signature) > _WHOLE_CHARS - _NOTE_CHARS:
            return f"{text}\n    and {len(members) - number} more; library_map names them"
        text += signature
    return text


def _others(path: str, docs: Sequence[ApiDoc]) -> list[ApiDoc]:
    """The docs that do not describe the API at ``path``, even if their names are alike."""
    marks = {mark for doc in docs if doc.path == path for mark in same(doc)}
    return [doc for doc in docs if doc.path != path and not same(doc) & marks]


def _beside(name: str, path: str, others: Sequence[ApiDoc], apis: KnownApis) -> str:
    """A note before an answer: that the exact name does not exist, or which others share it."""
    note = ""
    if "." in name and apis.at(name) is None and path.split(".")[-2:] != name.split(".")[-2:]:
        note += f"There is no `{name[:80]}`. Of that last name there is `{path}`:\n"
    if others:
        more = f", and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        note += f"Others of that name: {listed(doc.path for doc in others[:_NAMED])}{more}.\n"
    return note
