"""All APIs of the libraries at hand, found by any name they go by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from exploracoder_retrieval.apidoc import ApiDoc


class KnownApis:
    """Looks ApiDocs up by path, by last name, and as members of a class."""

    def __init__(self, docs: Iterable[ApiDoc]) -> None:
        self.docs = tuple(docs)
        self._by_path: dict[str, ApiDoc] = {}
        self._by_name: dict[str, list[ApiDoc]] = defaultdict(list)
        for doc in self.docs:
            self._by_path.setdefault(doc.path, doc)
            self._by_name[doc.path.rpartition(".")[2]].append(doc)
            for alias in doc.aliases:
                self._by_path.setdefault(alias, doc)
                if alias.startswith("."):
                    self._by_name[alias[1:]].append(doc)

    def at(self, path: str) -> ApiDoc | None:
        """The API with this import path, or with this alias."""
        return self._by_path.get(path)

    def named(self, name: str) -> tuple[ApiDoc, ...]:
        """The APIs whose last name this is, methods and aliases included."""
        return tuple(self._by_name.get(name, ()))

    def importable(self, name: str) -> ApiDoc | None:
        """The one class or function which ``name`` can only mean; None when there are several."""
        docs = [doc for doc in self.named(name) if doc.kind in ("class", "function")]
        docs = [doc for doc in docs if doc.path.rpartition(".")[2] == name]
        return min(docs, key=lambda doc: doc.path.count(".")) if len(docs) == 1 else None

    def members(self, owner: str) -> tuple[ApiDoc, ...]:
        """The methods, properties and attributes of a class."""
        return tuple(doc for doc in self.docs if doc.path.rpartition(".")[0] == owner)
