"""``get_class_info``: what a class is and offers, inherited members included."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from exploracoder_retrieval.embedded_words import split_identifier
from exploracoder_retrieval.facts.dataclass_fields import generated_init
from exploracoder_retrieval.facts.importable_modules import Sources
from exploracoder_retrieval.facts.lineage import Lineage, Lineages, LocatedClass
from exploracoder_retrieval.repotools.members import members
from exploracoder_retrieval.repotools.tool_answers import MAX_DOC_CHARS, ClassAnswer, MemberInfo

_SHOWN_DUNDERS = frozenset({"__init__", "__new__", "__call__", "__enter__", "__aenter__"})


def class_answer(
    cls: LocatedClass, lineages: Lineages, sources: Sources, *, own: bool, limit: int
) -> ClassAnswer:
    """Everything known about a class, with at most ``limit`` members.

    ``own`` classes show all their members; those of installed ones that begin with an underscore
    are left out, except those that say how an instance is created and called.
    """
    lineage = lineages.of(cls)
    first = cls.path if own else ""
    infos = [one for one in members(lineage) if _is_shown(one, lineage, first)]
    return ClassAnswer(
        qualname=cls.path,
        file=sources.file(cls.module),
        line=cls.item.line,
        bases=cls.item.bases,
        lineage=tuple(one.path for one in lineage.classes),
        unknown_bases=lineage.unknown,
        problem=lineage.problem,
        decorators=cls.item.decorators,
        doc=cls.item.doc[:MAX_DOC_CHARS],
        init=generated_init(lineage),
        members=tuple(infos[:limit]),
        left_out=max(0, len(infos) - limit),
    )


def ranked_members(infos: Sequence[MemberInfo], name: str) -> list[MemberInfo]:
    """Members by how similar their names are to ``name``, in spelling and in words."""
    words = set(split_identifier(name))
    matcher = SequenceMatcher(None, b=name.lower())

    def likeness(member: MemberInfo) -> float:
        matcher.set_seq1(member.name.lower())
        overlap = len(words & set(split_identifier(member.name)))
        return matcher.ratio() + overlap - member.name.startswith("_")

    return sorted(infos, key=lambda member: -likeness(member))


def _is_shown(member: MemberInfo, lineage: Lineage, first: str) -> bool:
    if not member.name.startswith("_"):
        return True
    inner = {one.path for one in lineage.classes if _same_top(one.path, first)} if first else set()
    if member.defined_in in inner:
        return True
    return member.name in _SHOWN_DUNDERS and member.defined_in == lineage.classes[0].path


def _same_top(path: str, first: str) -> bool:
    return path.partition(".")[0] == first.partition(".")[0]
