"""What can go wrong while documents are read, indexed and searched.

Every message is a sentence for the person at the keyboard: what happened, to what, what to do.
"""

from __future__ import annotations


class RetrievalError(Exception):
    """Any failure of this package that a person can do something about."""


class InterpreterError(RetrievalError):
    """The chosen interpreter is missing, is not Python, or is older than 3.9."""


class NotConfined(RetrievalError):  # noqa: N818 - named for the person's situation
    """There is no strict sandbox to run a library's code in, so none was run."""


class LibraryNotFound(RetrievalError):  # noqa: N818 - named for the person's situation
    """The name matches neither an installed library nor a path."""


class UnreadableSource(RetrievalError):  # noqa: N818 - named for the person's situation
    """The library's source exists but cannot be read."""


class NameNotFound(RetrievalError):  # noqa: N818 - named for the person's situation
    """A repository has no class, method or function of that name; the message gives near ones."""


class QuestionError(RetrievalError):
    """A question to a repository tool names no known tool, or an argument is missing or wrong."""


class EmptyLibrary(RetrievalError):  # noqa: N818 - named for the person's situation
    """The library was read but offers no public API."""


class DocsUnavailable(RetrievalError):  # noqa: N818 - named for the person's situation
    """Documentation given for a library is missing, unreadable or cannot be fetched."""


class IndexCorrupt(RetrievalError):  # noqa: N818 - named for the person's situation
    """The index on disk is damaged; it holds nothing user-made and can be rebuilt."""


class IndexUnavailable(RetrievalError):  # noqa: N818 - named for the person's situation
    """The index folder cannot be used (full, read-only), or the chroma server cannot be reached."""


class EmbeddingError(RetrievalError):
    """The embedding model or endpoint gave no usable vectors."""


class QueryRefused(RetrievalError):  # noqa: N818 - named for the person's situation
    """A query is empty, too long, or must not be sent to the web."""


class WebSearchError(RetrievalError):
    """A search engine is not installed, cannot be reached, or gives an unusable answer."""
