"""``get_signature`` and ``get_method_body``: how a function is called, and what it does."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from exploracoder_retrieval.facts.dataclass_fields import generated_init, overrides_elements
from exploracoder_retrieval.facts.fact_types import Function, Module, Parameter
from exploracoder_retrieval.facts.importable_modules import Sources
from exploracoder_retrieval.facts.kinds import functions_of, is_accessor
from exploracoder_retrieval.facts.lineage import Lineages, LocatedClass
from exploracoder_retrieval.facts.parameters import signature_text
from exploracoder_retrieval.repotools.tool_answers import MAX_DOC_CHARS, BodyAnswer, SignatureAnswer


@dataclass(frozen=True, slots=True)
class FoundCallable:
    """One definition, under the name that was asked for."""

    module: Module
    item: Function
    note: str = ""
    has_source: bool = True


def methods_of(cls: LocatedClass, name: str, lineages: Lineages) -> list[FoundCallable]:
    """All definitions of a method in the class where Python finds it, overloads included."""
    lineage = lineages.of(cls)
    for number, owner in enumerate(lineage.classes):
        functions = functions_of(owner.item, name)
        if functions:
            return [FoundCallable(owner.module, one) for one in functions]
        aliases = list(_aliased(owner, name))
        if aliases:
            return aliases
        if name == "__init__":
            if overrides_elements(lineage.of_base(number)):
                return []
            parameters = generated_init(lineage.of_base(number))
            if parameters is not None:
                return [_generated(owner, parameters)]
    return []


def signature_answer(definition: FoundCallable, sources: Sources) -> SignatureAnswer:
    """How one definition is called."""
    item = definition.item
    return SignatureAnswer(
        qualname=item.qualname,
        path=f"{definition.module.name}.{item.qualname}",
        file=sources.file(definition.module),
        line=item.line,
        params=item.parameters,
        returns=item.returns,
        decorators=item.decorators,
        is_async=item.is_async,
        signature=signature_text(item),
        doc=item.doc[:MAX_DOC_CHARS],
        note=definition.note,
    )


def body_answer(
    definition: FoundCallable, lines: Sequence[str] | None, sources: Sources, limit: int
) -> BodyAnswer:
    """The source of one definition, limited to ``limit`` lines."""
    item = definition.item
    file = sources.file(definition.module)
    is_stub = file is None or file.endswith(".pyi")
    source, left_out, note = "", 0, definition.note
    if lines is None or is_stub or not definition.has_source:
        note = note or "It is written in C, or has no source here; its signature stands for it."
    else:
        whole = lines[item.line - 1 : item.end_line]
        left_out = max(0, len(whole) - limit)
        source = textwrap.dedent("\n".join(whole[:limit]))
    return BodyAnswer(
        qualname=item.qualname,
        path=f"{definition.module.name}.{item.qualname}",
        file=file,
        def_line=item.line,
        first_line=item.first_line,
        end_line=item.end_line,
        decorators=item.decorators,
        signature=signature_text(item),
        source=source,
        left_out=left_out,
        note=note,
    )


def member_names(cls: LocatedClass, lineages: Lineages) -> list[str]:
    """The names of a class's functions and variables, for suggestions."""
    owners = [one.item for one in lineages.of(cls).classes]
    functions = {one.name for owner in owners for one in owner.functions if not is_accessor(one)}
    return sorted(functions | {one.name for owner in owners for one in owner.variables})


def _aliased(owner: LocatedClass, name: str) -> Iterator[FoundCallable]:
    """``name = other`` and ``name = partialmethod(other, …)`` in a class's body."""
    for variable in owner.item.variables:
        if variable.name != name or variable.place != "body" or variable.value is None:
            continue
        head, _, rest = variable.value.partition("(")
        target = variable.alias or rest.partition(",")[0].rstrip(")")
        for function in functions_of(owner.item, target):
            qualname = f"{owner.item.qualname}.{name}"
            note = f"{name} = {variable.value}" if head != target else f"{name} is {target}"
            alias = function.model_copy(update={"qualname": qualname, "name": name})
            yield FoundCallable(owner.module, alias, note=note)


def _generated(owner: LocatedClass, parameters: tuple[Parameter, ...]) -> FoundCallable:
    item = Function(
        name="__init__",
        qualname=f"{owner.item.qualname}.__init__",
        line=owner.item.line,
        first_line=owner.item.first_line,
        end_line=owner.item.line,
        parameters=(Parameter(name="self"), *parameters),
        returns="None",
    )
    return FoundCallable(
        owner.module, item, note="It is generated from the fields.", has_source=False
    )
