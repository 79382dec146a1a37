"""``get_imports``: the statements that would define a piece of code's undefined names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exploracoder_retrieval.facts.fact_types import Module
from exploracoder_retrieval.facts.kinds import functions_of
from exploracoder_retrieval.facts.scope import Definition
from exploracoder_retrieval.repotools.repository import Repository, is_test
from exploracoder_retrieval.repotools.standard import CONVENTIONS
from exploracoder_retrieval.repotools.undefined import Undefined


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """One statement. ``origin`` says where the name comes from; ``means`` is its full path."""

    statement: str
    origin: str
    means: str
    rank: tuple[object, ...]


def choices(repository: Repository, symbol: Undefined, here: str) -> list[ImportChoice]:
    """The statements for one name, best first; ``here`` is the module that the code is for.

    For the repository's own definitions, the shortest public path goes first, and the defining
    module is offered too. Candidates without the attributes that the code uses are left out, unless
    none has them.
    """
    candidates = [
        *_own(repository, symbol.name, here),
        *_foreign(repository, symbol.name),
        *_known(repository, symbol.name),
    ]
    matches = [one for one in candidates if _fits(repository, one, symbol)]
    by_statement: dict[str, ImportChoice] = {}
    for one in sorted(matches or candidates, key=lambda one: one.rank):
        by_statement.setdefault(one.statement, one)
    return list(by_statement.values())


def _own(repository: Repository, name: str, here: str) -> Iterator[ImportChoice]:
    """Imports of what the repository defines or re-exports at the top level of a module."""
    by_meaning: dict[str, list[tuple[tuple[object, ...], str]]] = {}
    for module in repository.binders(name):
        if module.name == here:
            continue
        meaning = _own_meaning(repository, module, name)
        if meaning is not None:
            by_meaning.setdefault(meaning, []).append((_distance(module.name), module.name))
    for meaning, places in by_meaning.items():
        home = meaning.rpartition(".")[0]
        shortest = min(places)[1]
        uses = sum(repository.usage[place, name] for _, place in places)
        for place in dict.fromkeys((shortest, home)):
            if place not in (one for _, one in places):
                continue
            rank = (is_test(place), 0, -uses, place != shortest, _distance(place), place)
            yield ImportChoice(f"from {place} import {name}", "repository", meaning, rank)


def _own_meaning(repository: Repository, module: Module, name: str) -> str | None:
    """The path of what a module binds to a name, if the repository provides it."""
    items = (*module.classes, *module.functions, *module.variables)
    if any(one.name == name for one in items):
        definition = repository.scope.member(module, name)
        # An assignment of something else counts as the module's own definition.
        return (
            definition.path
            if definition and definition.item is not None
            else f"{module.name}.{name}"
        )
    own = repository.sources.own
    is_typing = any(one.name == name and one.only == "types" for one in module.imports)
    if is_typing and not functions_of(module, "__getattr__"):
        return None
    aliases = [one for one in module.imports if one.name == name and one.attribute != name]
    if aliases and aliases[0].attribute is not None:
        return f"{module.name}.{name}"
    is_bound = any(one.name == name for one in module.imports)
    if is_bound or module.stars or f"{module.name}.{name}" in own:
        definition = repository.scope.member(module, name)
        if definition is not None and definition.module.name in own:
            return definition.path
    return None


def _foreign(repository: Repository, name: str) -> Iterator[ImportChoice]:
    """How the repository's own files import the name from elsewhere."""
    counts: dict[tuple[str, str], int] = {}
    for module in repository.binders(name):
        for one in module.imports:
            if one.name == name and one.module.partition(".")[0] not in repository.tops:
                statement = _statement(one.module, one.attribute, name)
                means = f"{one.module}.{one.attribute}" if one.attribute else one.module
                counts[statement, means] = counts.get((statement, means), 0) + 1
    for (statement, means), count in counts.items():
        # An import under another name is one file's own choice, so it goes later.
        order = 0 if means.rpartition(".")[2] == name or f"import {means} as" in statement else 1
        origin = (
            "stdlib" if repository.sources.installed_sources.is_standard(means) else "installed"
        )
        yield ImportChoice(statement, origin, means, (False, order, -count, False, (), statement))


def _known(repository: Repository, name: str) -> Iterator[ImportChoice]:
    """Imports from the standard library, installed modules, and conventional aliases."""
    installed_sources = repository.sources.installed_sources
    if installed_sources.is_standard(name):
        yield _choice(f"import {name}", "stdlib", name, 1)
    elif name not in repository.tops and name.isidentifier() and installed_sources.exists(name):
        yield _choice(f"import {name}", "installed", name, 2)
    for place, home in enumerate(repository.standard.homes(name)):
        yield _choice(f"from {home} import {name}", "stdlib", f"{home}.{name}", 1, place)
    if name in CONVENTIONS:
        module = CONVENTIONS[name]
        yield _choice(f"import {module} as {name}", "convention", module, 2)


def _choice(statement: str, origin: str, means: str, order: int, place: int = 0) -> ImportChoice:
    return ImportChoice(statement, origin, means, (False, order, place, False, (), statement))


def _fits(repository: Repository, choice: ImportChoice, symbol: Undefined) -> bool:
    if not symbol.attributes:
        return True
    definition = repository.scope.at(choice.means)
    if definition is None or definition.item is not None:
        return definition is not None
    return all(_has(repository, definition, name) for name in symbol.attributes)


def _has(repository: Repository, definition: Definition, name: str) -> bool:
    return repository.scope.member(definition.module, name) is not None


def _statement(module: str, attribute: str | None, name: str) -> str:
    if attribute is None:
        return f"import {module}" if module == name else f"import {module} as {name}"
    as_name = "" if attribute == name else f" as {name}"
    return f"from {module} import {attribute}{as_name}"


def _distance(module: str) -> tuple[object, ...]:
    """A sort key: tests last, then public before private, then by depth."""
    parts = module.split(".")
    return (is_test(module), any(one.startswith("_") for one in parts), len(parts))
