"""Which APIs code uses and prose names, and which of these mentions each API keeps."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from exploracoder_retrieval.apidoc import ApiDoc, Mention
from exploracoder_retrieval.facts.parameters import dotted
from exploracoder_retrieval.facts.reading import parse_or_none, uncollected
from exploracoder_retrieval.harvest.docs.pieces import Passage

MAX_MENTIONS = 4
MAX_TEXTS = 2
MAX_CHARS = 700
_ORDER = {"example": 0, "test": 1, "text": 2}
_QUOTED = re.compile(r"`([^`\n]{2,120})`")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+|[^\W\d]\w{3,}")


class ApiNames:
    """Finds a library's APIs by the names that code and prose use for them.

    ``lacks`` tells, for a module path and a name, whether it is a module of the library that does
    not have that name.
    """

    def __init__(
        self, docs: Iterable[ApiDoc], lacks: Callable[[str, str], bool] = lambda *_: False
    ) -> None:
        self._paths: dict[str, str] = {}
        names: dict[str, set[str]] = defaultdict(set)
        for doc in docs:
            self._paths[doc.path] = doc.path
            names[doc.path.rpartition(".")[2]].add(doc.path)
            for alias in doc.aliases:
                if alias.startswith("."):
                    names[alias[1:]].add(doc.path)
                else:
                    self._paths.setdefault(alias, doc.path)
        self._unique = {name: min(paths) for name, paths in names.items() if len(paths) == 1}
        self._names = names.keys()
        self._lacks = lacks
        self._scopes: dict[str, dict[str, str]] = {}
        self._tops = {path.partition(".")[0] for path in self._paths}
        self._missing_in: dict[tuple[str, str], tuple[str, ...]] = {}

    @uncollected()
    def used_in(self, code: str, context: str = "") -> list[str]:
        """The APIs that a snippet uses, in order; ``context`` are imports made before it.

        A member of a value of unknown type counts if only one API has its name. A snippet that
        imports nothing from the library, or does not parse, uses none.
        """
        own = _nodes(code)
        scope = self._scope(context) | self._imported(own)
        if not any(path.partition(".")[0] in self._tops for path in scope.values()):
            return []
        local = scope | dict(self._made(own, scope))
        paths: dict[str, None] = {}
        for node in own:
            if isinstance(node, ast.Attribute | ast.Name):
                path = self._meant(node, local)
                if path is not None:
                    paths[path] = None
        return list(paths)

    def named_in(self, text: str) -> list[str]:
        """The APIs that prose names in backticks, in full or by a name that only one API has."""
        paths: dict[str, None] = {}
        for quote in _QUOTED.findall(text):
            for name in _NAME.findall(quote.partition("(")[0]):
                path = self._paths.get(name) or self._unique.get(name.rpartition(".")[2])
                if path is not None and (name in self._paths or "." not in name):
                    paths[path] = None
        return list(paths)

    def missing_in(self, code: str, context: str = "") -> tuple[str, ...]:
        """Names that a snippet takes from the library's modules but that the library lacks.

        A name that the library publishes elsewhere counts as published.
        """
        if (code, context) not in self._missing_in:
            self._missing_in[code, context] = tuple(self._missing_names(code, context))
        return self._missing_in[code, context]

    def _missing_names(self, code: str, context: str) -> Iterable[str]:
        own = _nodes(code)
        imports = dict(_imports(own))
        scope = self._scope(context) | imports
        used_paths = list(imports.values())
        for node in own:
            if isinstance(node, ast.Attribute):
                root, dot, rest = (dotted(node) or "").partition(".")
                used_paths += [scope[root] + dot + rest] if root in scope else []
        return dict.fromkeys(filter(None, map(self._missing, used_paths)))

    def _missing(self, path: str) -> str:
        """The part of a path up to the first name that a module lacks; API members are not checked.

        Empty if that name is private or published elsewhere, or nothing is missing.
        """
        owner, *parts = path.split(".")
        for name in parts if owner in self._tops else ():
            if self._lacks(owner, name):
                is_known = name.startswith("_") or name in self._names
                return "" if is_known else f"{owner}.{name}"
            owner = f"{owner}.{name}"
            if owner in self._paths:
                break
        return ""

    def _scope(self, context: str) -> dict[str, str]:
        """The imports of a page or test file, which all of its pieces share."""
        if context not in self._scopes:
            self._scopes[context] = self._imported(_nodes(context))
        return self._scopes[context]

    def _imported(self, nodes: Sequence[ast.AST]) -> dict[str, str]:
        imports = dict(_imports(nodes))
        for module in [local for local in imports if local.endswith(".*")]:
            imports |= self._published_in(imports.pop(module))
        return imports

    def _published_in(self, module: str) -> dict[str, str]:
        """The APIs that ``from module import *`` binds, by name."""
        pairs = ((path.rpartition("."), path) for path in self._paths)
        return {name: path for (owner, _, name), path in pairs if owner == module}

    def _meant(self, node: ast.Attribute | ast.Name, local: dict[str, str]) -> str | None:
        chain = dotted(node)
        root, dot, rest = (chain or "").partition(".")
        if root in local:
            return self._paths.get(local[root] + dot + rest)
        return self._unique.get(node.attr) if isinstance(node, ast.Attribute) else None

    def _made(self, nodes: Sequence[ast.AST], imports: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Variables assigned from a call of a class, each with the class's path."""
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=callee)):
                    root, dot, rest = (dotted(callee) or "").partition(".")
                    path = self._paths.get(imports.get(root, root) + dot + rest)
                    if path is not None and path.rpartition(".")[2][:1].isupper():
                        yield name, path


def with_mentions(
    docs: Sequence[ApiDoc], passages: Iterable[Passage], names: ApiNames
) -> list[ApiDoc]:
    """The docs, each with a few of the passages that mention it and a count of those that use it.

    Examples go before tests, and tests before prose; within each, the shortest go first.
    """
    by_path: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        is_text = passage.kind == "text"
        paths = names.named_in(passage.text) if is_text else []
        for path in paths or names.used_in(passage.text, passage.context):
            by_path[path].append(passage)
    return [_with(doc, by_path[doc.path], names) if doc.path in by_path else doc for doc in docs]


def _with(doc: ApiDoc, passages: list[Passage], names: ApiNames) -> ApiDoc:
    others = {
        each.text: each
        for each in passages
        if each.text not in doc.examples and each.text not in doc.doc
    }.values()
    ranking = sorted(others, key=lambda each: (_ORDER[each.kind], len(each.text)))
    code = [each for each in ranking if each.kind != "text"]
    prose = [each for each in ranking if each.kind == "text"][:MAX_TEXTS]
    selection = [*code[: MAX_MENTIONS - len(prose)], *prose]
    name = doc.path.rpartition(".")[2]
    mentions = tuple(
        Mention(
            kind=each.kind,
            text=_around(name, each.text),
            title=each.title,
            missing=names.missing_in(each.text, each.context),
            **each.place,
        )
        for each in selection
    )
    uses = sum(each.kind != "text" for each in passages)
    return doc.model_copy(update={"mentions": mentions, "uses": uses})


def _around(name: str, text: str) -> str:
    """The part of a long text around the name, in whole lines."""
    if len(text) <= MAX_CHARS:
        return text
    start = max(0, text.find(name) - MAX_CHARS // 2)
    start = text.rfind("\n", 0, start) + 1
    part = text[start : start + MAX_CHARS]
    return part.rpartition("\n")[0] or part


def _nodes(code: str) -> Sequence[ast.AST]:
    """All AST nodes of a snippet; empty if it is not Python."""
    tree = parse_or_none(code)
    return list(ast.walk(tree)) if tree else ()


def _imports(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    local = alias.asname or alias.name.partition(".")[0]
                    yield local, alias.name if alias.asname else local
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                for alias in aliases:
                    if alias.name == "*":
                        yield f"{module}.*", module
                    else:
                        yield alias.asname or alias.name, f"{module}.{alias.name}"
