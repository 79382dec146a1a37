"""Reads a library's public APIs; what can only be learned by running it is run in a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.errors import EmptyLibrary, UnreadableSource
from exploracoder_retrieval.harvest.describe import Describer
from exploracoder_retrieval.harvest.docs.collect import collect
from exploracoder_retrieval.harvest.docs.pieces import Passage, Place
from exploracoder_retrieval.harvest.library_sources import LibrarySources
from exploracoder_retrieval.harvest.mentions import ApiNames, with_mentions
from exploracoder_retrieval.harvest.own_tests import find_tests, read_tests
from exploracoder_retrieval.harvest.public_names import Names
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo, SkippedSource, UsageExample
from exploracoder_retrieval.harvest.surface import Surface
from exploracoder_retrieval.harvest.target import Target, find_target
from exploracoder_retrieval.harvest.usage_sources import (
    MAX_OVERVIEW,
    collect_examples,
    read_overview,
)
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.progress import Progress

# How many unreadable files a library's info lists; a harvest has them all.
MAX_SKIPPED = 50
_TEXTS = ("summary", "doc", "url")


def harvest(
    target: str | Path, interpreter: Interpreter, progress: Progress | None = None
) -> Harvest:
    """The public APIs of a library, read statically with the interpreter's own search paths.

    Args:
        target: an import name, a distribution name, a source folder (``src`` layout too), a
            package folder or a ``.py`` file.
        interpreter: whose libraries to look in; compiled modules are imported in its sandbox.
        progress: called as ("read", definitions described, definitions found).

    Raises:
        LibraryNotFound: nothing matches the target.
        UnreadableSource: it exists but contains no readable Python.
        EmptyLibrary: it was read but publishes nothing.
    """
    return read(find_target(target, interpreter), interpreter, progress)


def read(target: Target, interpreter: Interpreter, progress: Progress | None = None) -> Harvest:
    """Like `harvest`, for a target that was already found."""
    # Each once, although several readers may report it.
    skipped_files: dict[SkippedSource, None] = {}

    def skip(name: str, reason: str) -> None:
        skipped_files[SkippedSource(name=name, reason=reason)] = None

    # A library known only from documentation has no names to look up.
    names = None
    if target.source != "docs":
        names = Names(LibrarySources(target, interpreter, skip))
    code_docs = _describe_all(target, names, progress) if names else []
    for name, reason in names.sources.finder.skip_reasons.items() if names else ():
        if Path(name).is_relative_to(target.root):
            skip(name, reason)
    import_name = target.import_name if names else None
    documentation = collect(target.docs, target.name, import_name, skip, progress)
    docs = joined(code_docs, documentation.apis)
    if not docs:
        raise _nothing_found(target, list(skipped_files))
    api_names = ApiNames(docs, names.lacks) if names else ApiNames(docs)
    about = documentation.about.overview[:MAX_OVERVIEW]
    overview = target.readme or (read_overview(target.tree, skip) if target.tree else "")
    overview = overview[:MAX_OVERVIEW] or (_docstring(target, names) if names else about)
    doc_examples = _examples(api_names, documentation.passages)
    info = LibraryInfo(
        name=target.name,
        import_name=documentation.import_name,
        version=target.version if names else documentation.about.version,
        source=target.source,
        root=str(target.root),
        overview=overview or about,
        examples=_judged(
            collect_examples(overview, target.tree, docs, doc_examples, skip), api_names
        ),
        docs=tuple(source.origin for source in target.docs),
        skipped=tuple(skipped_files)[:MAX_SKIPPED],
    )
    passages = list(documentation.passages)
    if names:
        tests = find_tests(target.tree, target.root, target.named, skip)
        passages += [*_passages(info, target.tree, docs), *read_tests(tests, target.named)]
    return Harvest(
        library=info,
        docs=tuple(with_mentions(docs, passages, api_names)),
        skipped=tuple(skipped_files),
    )


def _examples(names: ApiNames, passages: list[Passage]) -> Iterator[UsageExample]:
    """The documentation's code that uses the library."""
    for each in passages:
        if each.kind == "example" and names.used_in(each.text, each.context):
            origin = each.place.get("url") or each.place.get("file") or ""
            yield UsageExample(code=each.text, title=each.title, origin=origin)


def _judged(examples: Iterable[UsageExample], names: ApiNames) -> tuple[UsageExample, ...]:
    """Examples, each with the names in it that the library does not publish."""
    return tuple(
        each.model_copy(update={"missing": names.missing_in(each.code)}) for each in examples
    )


def _passages(info: LibraryInfo, tree: Path | None, docs: list[ApiDoc]) -> Iterator[Passage]:
    """The library's own examples, each with its location."""
    places = {doc.path: doc for doc in docs}
    for each in info.examples:
        if each.origin in places:
            doc = places[each.origin]
            place: Place = {"file": doc.file, "line": doc.line, "url": doc.url}
        else:
            file = tree / each.origin if tree is not None else None
            place = {"file": str(file)} if file is not None and file.is_file() else {}
        yield Passage("example", each.code, each.title, place)


def _describe_all(target: Target, names: Names, progress: Progress | None) -> list[ApiDoc]:
    describer = Describer(target.name, names)
    entries = Surface(names).collect(target.modules)
    docs: dict[str, ApiDoc] = {}
    for number, entry in enumerate(entries, start=1):
        for doc in describer.describe(entry):
            docs.setdefault(doc.path, doc)
        if progress is not None:
            progress("read", number, len(entries))
    return [docs[path] for path in sorted(docs)]


def _docstring(target: Target, names: Names) -> str:
    module = names.sources.module(target.import_name)
    return module.doc.strip() if module else ""


def _nothing_found(
    target: Target, skipped_files: list[SkippedSource]
) -> EmptyLibrary | UnreadableSource:
    if target.source == "docs" and not skipped_files:
        origins = ", ".join(source.origin for source in target.docs)
        return EmptyLibrary(
            f"The docs of {target.name} ({origins}) describe no API: they have no inventory, no"
            " description of a function or class, no operation."
        )
    if skipped_files:
        first = skipped_files[0]
        return UnreadableSource(
            f"{target.name} cannot be read: {first.name}: {first.reason}"
            + (f" (and {len(skipped_files) - 1} more)." if len(skipped_files) > 1 else ".")
        )
    return EmptyLibrary(
        f"{target.name} ({target.root}) publishes no function, class or constant. "
        "Is it the folder of the package itself?"
    )


def joined(code_docs: Sequence[ApiDoc], other_docs: Iterable[ApiDoc]) -> list[ApiDoc]:
    """All APIs, each once, ordered by path; the first to say something wins, others fill gaps.

    A name that is an alias of a known API, or a member under an alias, is that API.
    """
    docs = {doc.path: doc for doc in code_docs}
    aliases = {alias: doc.path for doc in code_docs for alias in doc.aliases}
    for doc in other_docs:
        path = _best_path(doc.path, docs, aliases)
        entry = doc if doc.path == path else doc.model_copy(update={"path": path})
        docs[path] = _filled(docs[path], doc) if path in docs else entry
    return [docs[path] for path in sorted(docs)]


def _best_path(path: str, docs: dict[str, ApiDoc], aliases: dict[str, str]) -> str:
    if path in docs:
        return path
    owner, _, name = path.rpartition(".")
    if path in aliases:
        return aliases[path]
    return f"{aliases[owner]}.{name}" if owner in aliases else path


def _filled(doc: ApiDoc, other: ApiDoc) -> ApiDoc:
    changes: dict[str, Any] = {
        name: getattr(other, name) for name in _TEXTS if not getattr(doc, name)
    }
    name = doc.path.rpartition(".")[2]
    if doc.signature in ("", name) and other.signature:
        changes["signature"] = other.signature
    if doc.file is None:
        changes |= {"file": other.file, "line": other.line}
    elif doc.file == other.file and doc.line is None:
        changes["line"] = other.line
    if not doc.examples:
        changes["examples"] = other.examples
    return doc.model_copy(update=changes)
