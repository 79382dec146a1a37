"""The tools' answers: values that are printed as JSON or as text."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from exploracoder_retrieval.facts.fact_types import Parameter
from exploracoder_retrieval.facts.kinds import FunctionKind

MAX_DOC_CHARS = 2000
MemberKind = Literal[FunctionKind, "field", "initvar", "class_var", "instance_var", "class"]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MemberInfo(_Answer):
    """One member of a class, its own or inherited.

    ``defined_in`` is the path of the class that defines it. Callables have ``params`` and a
    ``signature``, an overloaded one all of them in ``overloads``. ``default`` is source text.
    """

    name: str
    kind: MemberKind
    defined_in: str
    line: int
    annotation: str | None = None
    default: str | None = None
    is_async: bool = False
    settable: bool = False
    is_abstract: bool = False
    params: tuple[str, ...] | None = None
    signature: str | None = None
    overloads: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    summary: str = ""


class ClassAnswer(_Answer):
    """One class. ``bases`` are as written, ``lineage`` has it and all of them by path.

    ``unknown_bases`` could not be found, so that what they bring is missing. ``problem`` says why
    Python would not make the class at all.
    ``init`` has the parameters of the ``__init__`` that a dataclass generates.
    """

    qualname: str
    file: str | None
    line: int
    bases: tuple[str, ...]
    lineage: tuple[str, ...]
    unknown_bases: tuple[str, ...] = ()
    problem: str = ""
    decorators: tuple[str, ...] = ()
    doc: str = ""
    init: tuple[Parameter, ...] | None = None
    members: tuple[MemberInfo, ...]
    left_out: int = 0


class SignatureAnswer(_Answer):
    """One definition of a function or method; ``path`` is where it is defined."""

    qualname: str
    path: str
    file: str | None
    line: int
    params: tuple[Parameter, ...]
    returns: str | None
    decorators: tuple[str, ...] = ()
    is_async: bool = False
    signature: str
    doc: str = ""
    note: str = ""


class BodyAnswer(_Answer):
    """The source of one definition, from its ``def`` on; ``left_out`` counts lines cut off.

    Where there is no source to show, ``source`` is empty and ``signature`` stands for it.
    """

    qualname: str
    path: str
    file: str | None
    def_line: int
    first_line: int
    end_line: int
    decorators: tuple[str, ...] = ()
    signature: str
    source: str
    left_out: int = 0
    note: str = ""


class SnippetAnswer(_Answer):
    """A piece of a file that a search found; ``left_out`` counts lines cut off."""

    kind: Literal["class", "function", "snippet"]
    name: str
    file: str
    start_line: int
    end_line: int
    score: float
    source: str
    left_out: int = 0


class SkippedFile(_Answer):
    """A file that could not be read, and why."""

    file: str
    reason: str


class Answer(_Answer):
    """What every answer says: results left out, and files of the repository that were not read."""

    left_out: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    skipped_left_out: int = 0


class ClassesAnswer(Answer):
    """``get_class_info``."""

    classes: tuple[ClassAnswer, ...]


class SignaturesAnswer(Answer):
    """``get_signature``."""

    signatures: tuple[SignatureAnswer, ...]


class BodiesAnswer(Answer):
    """``get_method_body``."""

    bodies: tuple[BodyAnswer, ...]


class ImportsAnswer(Answer):
    """``get_imports``: for each undefined name the statements that would define it, best first."""

    symbols: dict[str, tuple[str, ...]]
    origins: dict[str, str]


class SnippetsAnswer(Answer):
    """``get_related_snippets`` and ``get_relevant_code``."""

    snippets: tuple[SnippetAnswer, ...]
