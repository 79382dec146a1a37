"""What can go wrong while documents are read, indexed and searched.

Every message is a sentence for the person at the keyboard: what happened, to what, what to do.
"""

from __future__ import annotations


class RetrievalError(Exception):
    """Any failure of this package that a person can do something about."""


class InterpreterError(RetrievalError):
    """The chosen interpreter is missing, is no Python, or is older than 3.9."""


class NotConfined(RetrievalError):  # noqa: N818 - named for the person's situation
    """There is no strict sandbox in which a library's code could run, so that none ran."""


class LibraryNotFound(RetrievalError):  # noqa: N818 - named for the person's situation
    """Neither an installed library nor a path answers to the name."""


class UnreadableSource(RetrievalError):  # noqa: N818 - named for the person's situation
    """The library's source exists and cannot be read."""


class NameNotFound(RetrievalError):  # noqa: N818 - named for the person's situation
    """A repository has no class, method or function of that name; the nearest are named."""


class QuestionError(RetrievalError):
    """A question to a repository tool names no tool, or lacks an argument or has a wrong one."""


class EmptyLibrary(RetrievalError):  # noqa: N818 - named for the person's situation
    """The library was read and offers no public API."""


class DocsUnavailable(RetrievalError):  # noqa: N818 - named for the person's situation
    """Documentation beside the library's source is not there, or the web does not give it."""


class IndexCorrupt(RetrievalError):  # noqa: N818 - named for the person's situation
    """The index on disk is damaged; it holds nothing user-made and can be built again."""


class IndexUnavailable(RetrievalError):  # noqa: N818 - named for the person's situation
    """The index folder cannot be written or the chroma server cannot be reached."""


class EmbeddingError(RetrievalError):
    """The embedding model or endpoint gave no usable vectors."""


class QueryRefused(RetrievalError):  # noqa: N818 - named for the person's situation
    """A query is empty, or what it says must not be sent to the web."""


class WebSearchError(RetrievalError):
    """A search engine is not installed, cannot be reached, or answers something else."""
