"""Reads a library and says what it offers; the library's own Python code is never run."""

from __future__ import annotations

from pathlib import Path

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.errors import EmptyLibrary, UnreadableSource
from exploracoder_retrieval.harvest.compiled import CompiledModules
from exploracoder_retrieval.harvest.describe import Describer
from exploracoder_retrieval.harvest.modules import ModuleFinder
from exploracoder_retrieval.harvest.names import Names
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo, Skipped
from exploracoder_retrieval.harvest.surface import Surface
from exploracoder_retrieval.harvest.target import Target, find_target
from exploracoder_retrieval.harvest.trees import ModuleTrees
from exploracoder_retrieval.harvest.usage import MAX_OVERVIEW, collect_examples, read_overview
from exploracoder_retrieval.interpreter import Interpreter
from exploracoder_retrieval.progress import Progress


def harvest(
    target: str | Path, interpreter: Interpreter, progress: Progress | None = None
) -> Harvest:
    """The public APIs of a library, read statically with the interpreter's own search paths.

    Args:
        target: an import name, a distribution name, a source folder (``src`` layout too), a
            package folder or a ``.py`` file.
        interpreter: whose libraries are meant; compiled modules are asked in a process of it.
        progress: called as ("read", definitions described, definitions found).

    Raises:
        LibraryNotFound: nothing answers to the target.
        UnreadableSource: it is there and holds no readable Python.
        EmptyLibrary: it was read and publishes nothing.
    """
    return read(find_target(target, interpreter), interpreter, progress)


def read(target: Target, interpreter: Interpreter, progress: Progress | None = None) -> Harvest:
    """As `harvest`, for a target that was already found."""
    skipped: list[Skipped] = []

    def skip(name: str, reason: str) -> None:
        skipped.append(Skipped(name=name, reason=reason))

    finder = ModuleFinder(target.search_paths, interpreter.builtin_modules)
    compiled = CompiledModules(interpreter, skip, alone=target.source != "installed")
    trees = ModuleTrees(target.import_name, finder, compiled, skip)
    docs = _describe_all(target, trees, progress)
    if not docs:
        raise _nothing_found(target, skipped)
    overview = target.readme or (read_overview(target.tree) if target.tree else "")
    overview = overview[:MAX_OVERVIEW] or _docstring(trees, target.import_name)
    info = LibraryInfo(
        name=target.name,
        import_name=target.import_name,
        version=target.version,
        source=target.source,
        root=str(target.root),
        overview=overview,
        examples=collect_examples(overview, target.tree, docs),
    )
    return Harvest(library=info, docs=tuple(docs), skipped=tuple(skipped))


def _describe_all(target: Target, trees: ModuleTrees, progress: Progress | None) -> list[ApiDoc]:
    names = Names(trees)
    describer = Describer(target.name, target.import_name, names)
    published = Surface(trees, names).collect(target.import_name)
    docs: dict[str, ApiDoc] = {}
    for number, entry in enumerate(published, start=1):
        for doc in describer.describe(entry):
            docs.setdefault(doc.path, doc)
        if progress is not None:
            progress("read", number, len(published))
    return [docs[path] for path in sorted(docs)]


def _docstring(trees: ModuleTrees, name: str) -> str:
    tree = trees.read(name)
    docstring = tree.code.docstring if tree else None
    return docstring.value.strip() if docstring else ""


def _nothing_found(target: Target, skipped: list[Skipped]) -> EmptyLibrary | UnreadableSource:
    if skipped:
        first = skipped[0]
        return UnreadableSource(
            f"{target.name} cannot be read: {first.name}: {first.reason}"
            + (f" (and {len(skipped) - 1} more)." if len(skipped) > 1 else ".")
        )
    return EmptyLibrary(
        f"{target.name} ({target.root}) publishes no function, class or constant. "
        "Is it the folder of the package itself?"
    )
