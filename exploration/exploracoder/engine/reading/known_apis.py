"""Finds the APIs of the libraries at hand by any name they go by."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from exploracoder_retrieval.apidoc import ApiDoc


class KnownApis:
    """Looks ApiDocs up by path, by last name, and as members of a class."""

    def __init__(self, docs: Iterable[ApiDoc]) -> None:
        self.docs = tuple(docs)
        self._by_path: dict[str, ApiDoc] = {}
        self._by_name: dict[str, list[ApiDoc]] = defaultdict(list)
        self._members: dict[str, list[ApiDoc]] = defaultdict(list)
        for doc in self.docs:
            self._by_path.setdefault(doc.path, doc)
            owner, _, name = doc.path.rpartition(".")
            self._by_name[name].append(doc)
            if doc.kind in ("method", "property", "attribute"):
                self._members[owner].append(doc)
            for alias in doc.aliases:
                self._by_path.setdefault(alias, doc)
                if alias.startswith("."):
                    self._by_name[alias[1:]].append(doc)

    def at(self, path: str) -> ApiDoc | None:
        """The API with this import path, or with this alias."""
        return self._by_path.get(path)

    def named(self, name: str) -> tuple[ApiDoc, ...]:
        """The APIs with this last name, including methods and aliases."""
        return tuple(self._by_name.get(name, ()))

    def ending(self, name: str) -> tuple[ApiDoc, ...]:
        """The APIs whose path or alias ends with these names: ``Kettle.boil``."""
        return tuple(
            doc
            for doc in self.named(name.rpartition(".")[2])
            if any(f".{path}".endswith(f".{name}") for path in (doc.path, *doc.aliases))
        )

    def meant(self, name: str) -> tuple[ApiDoc, ...]:
        """The API at this path, or else those sharing its longest suffix, if only the last name."""
        doc = self.at(name)
        if doc:
            return (doc,)
        parts = name.split(".")
        ends = (self.ending(".".join(parts[start:])) for start in range(len(parts)))
        return next(filter(None, ends), ())

    def places(self, name: str) -> tuple[str, ...]:
        """The paths at which to look up a name, likeliest first.

        A member of the class that the name begins with comes before others of that name, even if
        it has no docs.
        """
        owner, _, last = name.rpartition(".")
        classes = [doc for doc in self.meant(owner) if doc.kind == "class"] if owner else []
        members = [f"{doc.path}.{last}" for doc in classes]
        return tuple(dict.fromkeys([name, *members, *(doc.path for doc in self.meant(name))]))

    def importable(self, name: str) -> ApiDoc | None:
        """The only class or function that ``name`` can mean: the one nearest to the library's top.
        None if there is none, or several at the same depth."""
        docs = [doc for doc in self.named(name) if doc.kind in ("class", "function")]
        docs = [doc for doc in docs if doc.path.rpartition(".")[2] == name]
        depth = min((doc.path.count(".") for doc in docs), default=0)
        nearest = [doc for doc in docs if doc.path.count(".") == depth]
        return nearest[0] if len(nearest) == 1 else None

    def members(self, owner: str) -> tuple[ApiDoc, ...]:
        """The methods, properties and attributes of a class."""
        return tuple(self._members.get(owner, ()))

    def classes_in(self, type_: str) -> tuple[ApiDoc, ...]:
        """The library's classes that a type's text names: ``list[lib.Row]`` names ``Row``."""
        classes: dict[str, ApiDoc] = {}
        for path in re.findall(r"[\w.]+", type_):
            if "." in path:
                docs = [doc for doc in self.named(path.rpartition(".")[2]) if doc.kind == "class"]
                classes |= {doc.path: doc for doc in docs[:1]}
        return tuple(classes.values())


def names_used(codes: Iterable[str]) -> frozenset[str]:
    """The identifiers in example code."""
    return frozenset(name for code in codes for name in re.findall(r"[A-Za-z_]\w*", code))
