"""Looks up the names in the line that failed in the libraries' source.

It answers as the repository tools do, and reads only the modules that those names lead to, without
indexing the whole library.

Source: RepoClassBench (RRR): tools' answers beside an error.
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Observation, Variable
from exploracoder_retrieval.errors import RetrievalError, UnreadableSource
from exploracoder_retrieval.facts.fact_types import Class, Function, Module
from exploracoder_retrieval.facts.importable_modules import InstalledSources
from exploracoder_retrieval.facts.lineage import Lineages, LocatedClass
from exploracoder_retrieval.facts.parameters import signature_text
from exploracoder_retrieval.facts.scope import Scope
from exploracoder_retrieval.facts.store import FactStore
from exploracoder_retrieval.files import read_python
from exploracoder_retrieval.repotools.callables import FoundCallable, methods_of
from exploracoder_retrieval.repotools.classes import class_answer, ranked_members

from exploracoder import confined_interpreter
from exploracoder.engine.reading import snippet_names, syntax
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.reading.value_text import clip
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import InputError
from exploracoder.repositories import tools_cache

_MAX_NAMES = 4
_MAX_MEMBERS = 24
_MAX_BODY_LINES = 12
_MAX_ASSIGNMENT_CHARS = 400
_MAX_ASSIGNMENT_LINES = 40
# Errors in a call or a name: the signature explains them, and the body does not.
_CALL_ERRORS = {"TypeError", "AttributeError", "NameError", "ImportError", "ModuleNotFoundError"}


class SourceLookup:
    """Looks things up in the source that an interpreter would import; its methods block."""

    def __init__(self, python: str, homes: Sequence[Path]) -> None:
        interpreter = confined_interpreter.find_interpreter(python)
        store = FactStore(tools_cache(), interpreter.version)
        self._sources = InstalledSources(interpreter, store, tuple(homes))
        self._scope = Scope(self._sources)
        self._lineages = Lineages(self._scope)

    def describe(self, path: str, *, with_body: bool) -> str:
        """How the API at a dotted path is called; empty if the source does not tell.

        For a member that its class lacks, the members that the class has are listed.
        """
        definition = self._scope.at(path)
        if definition is not None and isinstance(definition.item, Class):
            return self._constructor(LocatedClass(definition.module, definition.item))
        if (
            definition is not None
            and isinstance(definition.item, Function)
            and "." not in definition.item.qualname
        ):
            same = [one for one in definition.module.functions if one.name == definition.item.name]
            return self._written(
                [FoundCallable(definition.module, one) for one in same], path, with_body
            )
        owner_path, _, name = path.rpartition(".")
        owner = self._scope.at(owner_path) if owner_path else None
        if owner is None or not isinstance(owner.item, Class):
            return ""
        class_ = LocatedClass(owner.module, owner.item)
        methods = methods_of(class_, name, self._lineages)
        if methods:
            return self._written(methods, path, with_body)
        return self._members(class_, name)

    def source(self, path: str) -> str:
        """The source of the class, function or method at a dotted path, with the assignments of its
        module that it reads; empty if it is not available. Raises RetrievalError."""
        definition = self._scope.at(path)
        if definition is not None and isinstance(definition.item, Class | Function):
            return self._text(definition.module, definition.item)
        owner_path, _, name = path.rpartition(".")
        owner = self._scope.at(owner_path) if owner_path else None
        if owner is None or not isinstance(owner.item, Class):
            return ""
        methods = methods_of(LocatedClass(owner.module, owner.item), name, self._lineages)
        return "\n\n".join(self._text(one.module, one.item) for one in methods if one.has_source)

    def module_source(self, path: str) -> str:
        """The source of the module at a dotted path; empty if it is not available. Raises
        RetrievalError."""
        definition = self._scope.at(path)
        if definition is None or definition.item is not None:
            return ""
        file = self._python_file(definition.module)
        return f"# {definition.module.name}: {file.name}\n{read_python(file)}" if file else ""

    def _python_file(self, module: Module) -> Path | None:
        file = self._sources.path(module.name)
        return file if file is not None and file.suffix == ".py" and not module.is_stub else None

    def _text(self, module: Module, item: Class | Function) -> str:
        file = self._python_file(module)
        if file is None:
            return ""
        text = read_python(file)
        lines = text.split("\n")[item.first_line - 1 : item.end_line]
        assignments = _assignments(text, item)
        if assignments:
            assignments.insert(0, f"\n# It reads from {module.name}:")
        head = f"# {item.qualname}: {file.name}, line {item.first_line}"
        return "\n".join([head, *lines, *assignments])

    def _constructor(self, class_: LocatedClass) -> str:
        methods = methods_of(class_, "__init__", self._lineages)
        if not methods:
            return f"class {class_.item.qualname}: takes no arguments of its own"
        lines = [signature_text(one.item, class_.item.name) for one in methods]
        return "\n".join(f"class {line.partition('def ')[2]}" for line in lines)

    def _written(self, callables: Sequence[FoundCallable], path: str, with_body: bool) -> str:
        parts = []
        for one in callables:
            parts += [f"@{decorator}" for decorator in one.item.decorators]
            parts.append(signature_text(one.item) + f"  # {path}")
        body = self._body(callables[-1]) if with_body else ""
        return "\n".join([*parts, body] if body else parts)

    def _body(self, function: FoundCallable) -> str:
        item, path = function.item, self._sources.path(function.module.name)
        if path is None or path.suffix != ".py" or function.module.is_stub:
            return ""
        try:
            lines = read_python(path).split("\n")[item.line - 1 : item.end_line]
        except UnreadableSource:
            return ""
        if item.doc:
            node = ast.parse("\n".join(line[_indent(lines[0]) :] for line in lines)).body[0]
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            lines = lines[(node.body[0].end_lineno or 1) :]
        else:
            lines = lines[1:]
        more = len(lines) - _MAX_BODY_LINES
        return "\n".join(
            [*lines[:_MAX_BODY_LINES], *([f"    … {more} more lines"] if more > 0 else [])]
        )

    def _members(self, class_: LocatedClass, name: str) -> str:
        answer = class_answer(class_, self._lineages, self._sources, own=False, limit=400)
        if answer.unknown_bases or any(one.name == name for one in answer.members):
            return ""
        members = ranked_members(answer.members, name)
        listing = ", ".join(one.name for one in members[:_MAX_MEMBERS])
        more = f", and {len(members) - _MAX_MEMBERS} more" if len(members) > _MAX_MEMBERS else ""
        return f"{class_.item.name} has no {name}. It has: {listing}{more}"


def _assignments(text: str, item: Class | Function) -> list[str]:
    """The lines of those assignments of a module that a definition reads, cut to size."""
    module = syntax.tree(text)
    definitions = (node for node in ast.walk(module) if isinstance(node, syntax.DEFINITIONS))
    node = next((one for one in definitions if syntax.first_line(one) == item.first_line), None)
    if node is None:
        return []
    loads = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    names = {one.id for one in loads if isinstance(one.ctx, ast.Load)}
    names -= syntax.assigned(node) | syntax.parameters(node)
    lines: list[str] = []
    for one in module.body:
        if isinstance(one, ast.Assign | ast.AnnAssign):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            if names & {target.id for target in targets if isinstance(target, ast.Name)}:
                own = ast.get_source_segment(text, one) or ""
                lines += clip(own, _MAX_ASSIGNMENT_CHARS).splitlines()
    return lines[:_MAX_ASSIGNMENT_LINES]


async def look_up(
    bench: Workbench,
    code: str,
    observation: Observation | None,
    *,
    branch: str,
    earlier: Sequence[str] = (),
    variables: Sequence[Variable] = (),
) -> str:
    """What the source says about the libraries' names in the line that failed, cut to size.

    ``earlier`` are cells that ran before; their imports count. If the source does not tell, the
    live object in ``branch`` is inspected. Empty if nothing is found, or if the setting is 0.
    """
    chars, error = bench.settings.source_chars, observation.error if observation else None
    if not chars or error is None:
        return ""
    paths = names_in_line(code, error.line, bench.libraries.known, earlier, variables)
    tops = {library.import_name.partition(".")[0] for library in bench.exploration.libraries}
    own = {chain: path for chain, path in paths.items() if path.partition(".")[0] in tops}
    with_body = error.ename not in _CALL_ERRORS
    answers: list[str] = []
    for chain, path in list(own.items())[:_MAX_NAMES]:
        answer = await asyncio.to_thread(describe_source, bench, path, with_body)
        answer = answer or await _ask_live(bench, branch, chain)
        if answer and answer not in answers:
            answers.append(answer)
    # The prompt adds the fences.
    return clip("\n".join(answers), chars)


def names_in_line(
    code: str,
    line: int | None,
    apis: KnownApis,
    earlier: Sequence[str] = (),
    variables: Sequence[Variable] = (),
) -> dict[str, str]:
    """The dotted names in the statement at a line, as written, with the absolute paths they mean.

    Callees come first. Empty if the code is not Python.
    """
    bound = {variable.name: variable.type for variable in variables}
    for cell in (*earlier, code):
        cell_names = snippet_names.read(cell, apis)
        bound |= cell_names.imports | cell_names.types
    nodes = list(_at_line(syntax.tree(code), line))
    callees = [node.func for node in nodes if isinstance(node, ast.Call)]
    paths: dict[str, str] = {}
    for node in (*callees, *nodes):
        chain = syntax.chain_of(node)
        if not chain or any(longer.startswith(f"{chain}.") for longer in paths):
            continue
        root, dot, rest = chain.partition(".")
        if root in bound:
            paths[chain] = bound[root] + dot + rest
    return paths


def _at_line(tree: ast.Module, line: int | None) -> Iterator[ast.AST]:
    """The nodes of the statement at a line; of a loop or block, only those of its head."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        children = list(ast.iter_child_nodes(node))
        inner = [one.lineno for one in children if isinstance(one, ast.stmt)]
        end = min(inner) - 1 if inner else node.end_lineno or node.lineno
        if line is None or node.lineno <= line <= max(end, node.lineno):
            for child in children:
                if not isinstance(child, ast.stmt):
                    yield from ast.walk(child)


def describe_source(bench: Workbench, path: str, with_body: bool) -> str:
    """What the source says about the API at a dotted path; empty if nothing. Blocks."""
    try:
        if bench.libraries.source is None:
            bench.libraries.source = SourceLookup(bench.exploration.python, library_homes(bench))
        return bench.libraries.source.describe(path, with_body=with_body)
    except (RetrievalError, InputError, SyntaxError):
        # This is only an aid: the repair goes on without it.
        return ""


async def _ask_live(bench: Workbench, branch: str, chain: str) -> str:
    try:
        inspection = await bench.sidecar.inspect(branch, chain)
    except SidecarError:
        # The branch may have ended with the failure.
        return ""
    doc = (inspection.documentation or "").strip().split("\n\n")[0]
    if not inspection.found or not (inspection.signature or doc):
        return ""
    last = chain.rpartition(".")[2]
    signature = f"def {last}{inspection.signature}" if inspection.signature else last
    return f"{signature}\n    {doc}" if doc else signature


def library_homes(bench: Workbench) -> list[Path]:
    """The folders that contain libraries which are not installed."""
    infos = [bench.libraries.index.info(name) for name in bench.libraries.names]
    return [Path(info.root).parent for info in infos if info.source != "installed"]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
