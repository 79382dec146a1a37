"""The six repository tools: a question by name and arguments, and its answer."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from exploracoder_retrieval.errors import NameNotFound
from exploracoder_retrieval.facts.lineage import LocatedClass
from exploracoder_retrieval.repotools import callables
from exploracoder_retrieval.repotools.callables import FoundCallable
from exploracoder_retrieval.repotools.classes import class_answer
from exploracoder_retrieval.repotools.imports import choices
from exploracoder_retrieval.repotools.python_files import module_name
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.searching import SnippetSearch, snippet_answer
from exploracoder_retrieval.repotools.tool_answers import (
    Answer,
    BodiesAnswer,
    ClassesAnswer,
    ImportsAnswer,
    SignaturesAnswer,
    SkippedFile,
    SnippetsAnswer,
)
from exploracoder_retrieval.repotools.undefined import undefined_names

AnswerT = TypeVar("AnswerT", bound=Answer)

_RELATED = 5
_RELEVANT = 3
_NEAR = 3
_MAX_SKIPPED = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an answer may hold; the rest is counted in ``left_out``."""

    results: int = 20
    members: int = 400
    lines: int = 400
    statements: int = 10


class RepositoryTools:
    """The tools on one repository or installed library.

    Every answer says how much it left out, and which files could not be read.

    Source: RepoClassBench, table 1 and appendix D.
    """

    def __init__(self, repository: Repository, limits: Limits | None = None) -> None:
        self._repository = repository
        self._limits = limits or Limits()

    def is_current(self) -> bool:
        """Whether the answers are still valid: no file was added, changed or removed."""
        return self._repository.is_current()

    def path(self, file: str) -> Path | None:
        """The path of a file named in an answer; None for one outside the repository."""
        path = self._repository.tree.base / file
        return path if path.is_file() else None

    def has_class(self, name: str) -> bool:
        """Whether `get_class_info` knows a class by this name."""
        return bool(self._repository.classes(name))

    def get_class_info(self, class_name: str) -> ClassesAnswer:
        """A class with all members, those inherited included; each one of that name.

        Raises:
            NameNotFound: there is no such class; the message names the nearest.
        """
        repository = self._repository
        classes = self._classes(class_name)
        own = repository.sources.own
        answers = tuple(
            class_answer(
                one,
                repository.lineages,
                repository.sources,
                own=one.module.name in own,
                limit=self._limits.members,
            )
            for one in classes[: self._limits.results]
        )
        return self._said(ClassesAnswer(classes=answers), classes)

    def get_signature(self, class_name: str | None, method_name: str) -> SignaturesAnswer:
        """All definitions of a method, overloads included, or of a function without a class.

        Raises:
            NameNotFound: there is no such class or method; the message names the nearest.
        """
        definitions = self._callables(class_name, method_name)
        sources = self._repository.sources
        selection = definitions[: self._limits.results]
        answers = tuple(callables.signature_answer(one, sources) for one in selection)
        return self._said(SignaturesAnswer(signatures=answers), definitions)

    def get_method_body(self, class_name: str | None, method_name: str) -> BodiesAnswer:
        """The source of a method or function; where there is none, its signature.

        Raises:
            NameNotFound: there is no such class or method; the message names the nearest.
        """
        definitions = self._callables(class_name, method_name)
        repository = self._repository
        answers = tuple(
            callables.body_answer(
                one, repository.text(one.module.name), repository.sources, self._limits.lines
            )
            for one in definitions[: self._limits.results]
        )
        return self._said(BodiesAnswer(bodies=answers), definitions)

    def get_imports(self, code: str, file: str = "") -> ImportsAnswer:
        """For each name that ``code`` does not define, the statements that would define it.

        ``file`` is where in the repository the code is to stand.

        Raises:
            UnreadableSource: the code is not Python.
        """
        here = module_name(file) if file else ""
        most = self._limits.statements
        symbols: dict[str, tuple[str, ...]] = {}
        origins: dict[str, str] = {}
        left_out = 0
        for symbol in undefined_names(code, file):
            candidates = choices(self._repository, symbol, here)
            symbols[symbol.name] = tuple(one.statement for one in candidates[:most])
            left_out += max(0, len(candidates) - most)
            if candidates:
                origins[symbol.name] = candidates[0].origin
        answer = ImportsAnswer(symbols=symbols, origins=origins, left_out=left_out)
        return self._said(answer, ())

    def get_related_snippets(self, query: str) -> SnippetsAnswer:
        """The five pieces of code that are most like a description of what is to be written."""
        return self._search(query, _RELATED)

    def get_relevant_code(self, query: str) -> SnippetsAnswer:
        """The three classes, functions or snippets that fit a question best."""
        return self._search(query, _RELEVANT)

    def _search(self, query: str, k: int) -> SnippetsAnswer:
        pieces = self._snippets.find(query, k)
        texts: dict[str, list[str] | None] = {}
        for file, _, _ in pieces:
            texts.setdefault(file, self._repository.text(module_name(file)))
        answers = (
            snippet_answer(file, piece, score, texts[file], self._limits.lines)
            for file, piece, score in pieces
        )
        return self._said(SnippetsAnswer(snippets=tuple(answers)), ())

    @cached_property
    def _snippets(self) -> SnippetSearch:
        return SnippetSearch(self._repository)

    def _classes(self, name: str) -> list[LocatedClass]:
        classes = self._repository.classes(name)
        if not classes:
            raise NameNotFound(
                f"There is no class {name!r} in {self._place}."
                f"{_near(name, self._repository.class_names())}"
            )
        return classes

    def _callables(self, class_name: str | None, name: str) -> list[FoundCallable]:
        if class_name:
            return self._methods(class_name, name)
        repository = self._repository
        functions = repository.functions(name) or repository.methods(name)
        if functions:
            return functions
        classes = repository.classes(name)
        constructors = [one for each in classes for one in self._called(each, "__init__")]
        if constructors:
            return constructors
        names = repository.function_names()
        raise NameNotFound(f"There is no function {name!r} in {self._place}.{_near(name, names)}")

    def _methods(self, class_name: str, name: str) -> list[FoundCallable]:
        classes = self._classes(class_name)
        methods = [one for each in classes for one in self._called(each, name)]
        if methods:
            return methods
        lineages = self._repository.lineages
        names = [one for each in classes for one in callables.member_names(each, lineages)]
        unknown = [base for each in classes for base in lineages.of(each).unknown]
        hint = f" Its base {unknown[0]} could not be found." if unknown else ""
        paths = " or ".join(one.path for one in classes[:_NEAR])
        raise NameNotFound(f"{paths} has no method {name!r}.{hint}{_near(name, names)}")

    def _called(self, cls: LocatedClass, name: str) -> list[FoundCallable]:
        return callables.methods_of(cls, name, self._repository.lineages)

    @property
    def _place(self) -> str:
        return str(self._repository.tree.start)

    def _said(self, answer: AnswerT, results: Sequence[object]) -> AnswerT:
        """The answer, completed with counts of what it leaves out."""
        problems = self._repository.skipped_files
        entries = tuple(SkippedFile(file=file, reason=why) for file, why in problems[:_MAX_SKIPPED])
        more = {
            "skipped": entries,
            "skipped_left_out": len(problems) - len(entries),
            "left_out": answer.left_out + max(0, len(results) - self._limits.results),
        }
        return answer.model_copy(update=more)


def _near(name: str, candidates: Iterable[str]) -> str:
    """The nearest names, as a sentence; one that differs only in case comes first."""
    names = {one.lower(): one for one in candidates}
    close = difflib.get_close_matches(name.rpartition(".")[2].lower(), names, n=_NEAR, cutoff=0.5)
    return f" The nearest: {', '.join(names[one] for one in close)}." if close else ""
