"""The repository tools for the user interfaces: one index per source tree, opened once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.six_tools import Limits, RepositoryTools
from exploracoder_retrieval.repotools.tool_answers import Answer
from exploracoder_retrieval.repotools.tool_questions import Question

from exploracoder.errors import InputError, raised_as
from exploracoder.folders import cache_folder

Progress = Callable[[str], None]


class Repositories:
    """Answers questions about source trees and libraries. Use it from one thread at a time."""

    def __init__(
        self,
        interpreter: Interpreter,
        progress: Progress | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._interpreter = interpreter
        self._progress = progress
        self._limits = limits
        self._tools: dict[str, RepositoryTools] = {}

    def ask(self, question: Question, root: str | Path) -> Answer:
        """Answer a question about the tree that a folder or a library's name stands for.

        Raises:
            InputError: There is no such tree, or nothing in it has the name asked for.
        """
        with raised_as(InputError, RetrievalError):
            return question.ask(self._open(root))

    def tools(self, root: str | Path | Target) -> RepositoryTools:
        """The tools for a tree as it is now: what has changed since the last call is read again.

        Raises:
            InputError: There is no such tree, or no source in it.
        """
        key = _key(root)
        with raised_as(InputError, RetrievalError):
            old_tools = self._tools.get(key)
            if old_tools is not None and not old_tools.is_current():
                del self._tools[key]
            return self._open(root)

    def _open(self, root: str | Path | Target) -> RepositoryTools:
        key = _key(root)
        if key not in self._tools:
            repository = Repository.open(
                root, self._interpreter, cache=tools_cache(), progress=self._progress
            )
            self._tools[key] = RepositoryTools(repository, self._limits)
        return self._tools[key]


def _key(root: str | Path | Target) -> str:
    return str(root.root if isinstance(root, Target) else root)


def tools_cache() -> Path:
    """The cache folder for what was read of repositories."""
    return cache_folder() / "repotools"
