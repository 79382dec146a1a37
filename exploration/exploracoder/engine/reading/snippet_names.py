"""The names in a snippet: which are undefined, which APIs they mean, which do not exist.

Nothing is run here. The sidecar tells whether a name exists in the installed library, by looking it
up and not by calling it.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from exploracoder_kernel.sidecar_answers import ResolvedName
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.reading import syntax
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.state import NameProblem

_IPYTHON_NAMES = {"In", "Out", "display", "get_ipython", "exit", "quit", "_", "__", "___"}
_CONVENTIONS = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot"}


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a snippet, with what is known of their origin.

    ``imports`` maps local names to the paths that were imported, ``earlier_imports`` does so for
    earlier code, and ``types`` maps local variables to the path of the class that was called to
    make them, if they are nothing else in the snippet.
    """

    imports: dict[str, str]
    types: dict[str, str]
    assignments: frozenset[str]
    loads: tuple[str, ...]
    attributes: tuple[str, ...]
    chains: tuple[str, ...]
    earlier_imports: Mapping[str, str] = field(default_factory=dict)

    def absolute(self, chain: str) -> str:
        """``doc.query`` as ``library.Document.query`` where the root's origin is known."""
        root, dot, rest = chain.partition(".")
        return (self._origin(root) or root) + dot + rest

    def _origin(self, name: str) -> str | None:
        if name in self.assignments:
            return self.types.get(name)
        return self.imports.get(name) or self.earlier_imports.get(name)

    @property
    def loaded_paths(self) -> set[str]:
        """The paths of the imports that are used."""
        loads = (name for name in self.loads if name not in self.types)
        names = {name: self.imports.get(name) or self._origin(name) for name in loads}
        return {path for path in names.values() if path is not None}


def read(code: str, apis: KnownApis, earlier_imports: Mapping[str, str] | None = None) -> Names:
    """Read a snippet's names; ``earlier_imports`` maps those of earlier code to what they import.

    Code that is not Python has none: running it will say what is wrong.
    """
    tree = syntax.tree(without_magics(code))
    imports = syntax.imports(tree)
    types: dict[str, str] = {}
    loaded_names: list[str] = []
    chains: list[str] = []
    attributes: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                loaded_names.append(name)
            case ast.Attribute(attr=name, ctx=ast.Load()):
                attributes.append(name)
                if chain := syntax.chain_of(node):
                    chains.append(chain)
    names = Names(
        imports,
        types,
        frozenset(syntax.assigned(tree) | syntax.parameters(tree)),
        tuple(loaded_names),
        tuple(attributes),
        tuple(chains),
        earlier_imports or {},
    )
    _infer_types(tree, names, apis)
    return names


def apis_used(names: Names, apis: KnownApis, shown_docs: Iterable[ApiDoc] = ()) -> tuple[str, ...]:
    """The import paths of the library's APIs that a snippet uses, sorted.

    An attribute of a value of unknown type counts if only one API has that name, or if the prompt
    has shown it.
    """
    used_paths = {names.absolute(chain) for chain in names.chains}
    used_paths |= names.loaded_paths
    api_paths = {doc.path for path in used_paths if (doc := apis.at(path))}
    shown_paths = {doc.path for doc in shown_docs}
    for attribute in names.attributes:
        docs = [doc for doc in apis.named(attribute) if doc.kind not in ("class", "function")]
        docs += [doc for doc in apis.named(attribute) if "." + attribute in doc.aliases]
        if len({doc.path for doc in docs}) == 1:
            api_paths.add(docs[0].path)
        else:
            api_paths |= {doc.path for doc in docs if doc.path in shown_paths}
    return tuple(sorted(api_paths))


def missing_imports(
    names: Names, apis: KnownApis, bound: Iterable[str], libraries: Iterable[str]
) -> tuple[str, ...]:
    """Import lines for names that are used, bound nowhere, and can only mean one thing.

    That is a class or function of the library, the library itself, a module of the standard
    library, or one of the field's usual short names.
    """
    there = (
        set(bound) | names.assignments | set(names.imports) | set(dir(builtins)) | _IPYTHON_NAMES
    )
    lines: dict[str, None] = {}
    for name in names.loads:
        if name in there:
            continue
        doc = apis.importable(name)
        if doc is not None:
            lines[f"from {doc.path.rpartition('.')[0]} import {name}"] = None
        elif name in libraries or name in sys.stdlib_module_names:
            lines[f"import {name}"] = None
        elif name in _CONVENTIONS:
            lines[f"import {_CONVENTIONS[name]} as {name}"] = None
    return tuple(lines)


def with_imports(code: str, import_lines: Sequence[str]) -> str:
    """Code with import lines at its beginning, but after what has to stay first: a cell's magic,
    and imports from ``__future__``."""
    if not import_lines:
        return code
    lines, body = syntax.lines_of(code), syntax.tree(without_magics(code)).body
    future = (n for n in body if isinstance(n, ast.ImportFrom) and n.module == "__future__")
    place = max([int(code.startswith("%%")), *(node.end_lineno or 0 for node in future)])
    return "\n".join([*lines[:place], *import_lines, *lines[place:]])


async def problems(
    names: Names,
    resolve: Callable[[Sequence[str]], Awaitable[Sequence[ResolvedName]]],
    bound: Iterable[str],
    libraries: Iterable[str],
) -> tuple[NameProblem, ...]:
    """The names that the installed library, or a live variable's type, does not have.

    ``resolve`` says whether names exist where the snippet is to run.
    """
    imports = set(libraries)
    roots = imports.union(bound)
    # A name that the snippet binds itself is none of those, but an import always means the module.
    others = roots - (names.assignments - set(names.types))
    chains = map(names.absolute, names.chains)
    used_paths = [path for path in names.imports.values() if _root(path) in roots]
    used_paths += [path for path in chains if _root(path) in others]
    paths = dict.fromkeys(path.removesuffix(".*") for path in used_paths)
    resolutions = await resolve(list(paths)) if paths else ()
    name_problems = [
        NameProblem(
            name=one.name.removeprefix(f"{one.owner}."),
            owner=one.owner if one.owner_type in ("", "module", "type") else one.owner_type,
            # A library that is not installed, known only from its docs, has no near name.
            nearest=tuple(one.nearest) if one.owner or _root(one.name) not in imports else (),
        )
        for one in resolutions
        if one.exists is False
    ]
    return tuple({(p.owner, p.name.partition(".")[0]): p for p in reversed(name_problems)}.values())


def _root(path: str) -> str:
    return path.partition(".")[0]


def _infer_types(tree: ast.Module, names: Names, apis: KnownApis) -> None:
    """Record the variables that are only ever bound by calling one class of the library."""
    times = Counter([*syntax.assignments(tree), *syntax.parameters(tree), *names.imports])
    classes: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(func=func)):
                chain = syntax.chain_of(func)
                doc = apis.at(names.absolute(chain)) if chain else None
                if doc is not None and doc.kind == "class":
                    classes.setdefault(target, []).append(doc.path)
    for target, paths in classes.items():
        if len(set(paths)) == 1 and len(paths) == times[target]:
            names.types[target] = paths[0]


def without_magics(code: str) -> str:
    """Code of as many lines, with those that only IPython understands left out."""
    lines = syntax.lines_of(code)
    return "\n".join("pass" if line.startswith(("%", "!")) else line for line in lines)
