"""What is known about the exploration's libraries: their docs, and readers opened on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from exploracoder_retrieval.apisearch.web import WebSearch
from exploracoder_retrieval.index import Index

from exploracoder.engine.reading.known_apis import KnownApis, names_used
from exploracoder.engine.reading.name_grammar import grammar_of

if TYPE_CHECKING:
    from exploracoder.engine.knowing.source_lookup import SourceLookup
    from exploracoder.repositories import Repositories
    from exploracoder.state import Exploration


@dataclass
class Libraries:
    """The libraries of one exploration.

    ``source`` reads their source, ``repositories`` reads file trees, and ``web`` searches the web;
    each is created on first use.
    """

    index: Index
    exploration: Exploration
    source: SourceLookup | None = None
    web: WebSearch | None = None
    repositories: Repositories | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The libraries as the index names them."""
        return tuple(library.name for library in self.exploration.libraries)

    @property
    def words(self) -> str:
        """The libraries as a prompt names them."""
        return " and ".join(library.import_name for library in self.exploration.libraries)

    @cached_property
    def known(self) -> KnownApis:
        """All their APIs, by name."""
        return KnownApis([doc for name in self.names for doc in self.index.docs(name)])

    @cached_property
    def used_names(self) -> frozenset[str]:
        """The names that their own examples use."""
        infos = [self.index.info(name) for name in self.names]
        return names_used([example.code for info in infos for example in info.examples])

    @cached_property
    def code_grammar(self) -> str:
        """The grammar that restricts a block of code to names that exist."""
        task = self.exploration.task
        return grammar_of(self.known.docs, [task.text, task.context, task.stub])
