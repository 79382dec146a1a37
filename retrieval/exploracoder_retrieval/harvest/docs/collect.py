"""Collects everything that documentation sources say about one library."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urljoin

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.module_files import is_in_package
from exploracoder_retrieval.files import Skip, decode_python, read_bytes
from exploracoder_retrieval.harvest.docs import source as sources
from exploracoder_retrieval.harvest.docs.doc_lines import read_lines
from exploracoder_retrieval.harvest.docs.html import read_html
from exploracoder_retrieval.harvest.docs.inventory import Inventory, read_inventory
from exploracoder_retrieval.harvest.docs.markdown import read_markdown
from exploracoder_retrieval.harvest.docs.notebooks import read_notebook, read_script
from exploracoder_retrieval.harvest.docs.openapi import is_openapi, read_openapi
from exploracoder_retrieval.harvest.docs.pieces import About, Page, Passage, Piece, UnreadableDocs
from exploracoder_retrieval.harvest.docs.restructuredtext import read_rst
from exploracoder_retrieval.harvest.docs.source import DocsFile, DocsSource, is_address
from exploracoder_retrieval.progress import Progress

MAX_PAGE_BYTES = 8_000_000
_READERS: dict[str, Callable[[Page, str], Iterator[Piece]]] = {
    ".html": read_html,
    ".htm": read_html,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".rst": read_rst,
    ".ipynb": read_notebook,
    ".py": read_script,
}


@dataclass(slots=True)
class CollectedPieces:
    """The pieces of all files; ``import_name`` is the module that most of the APIs are in."""

    import_name: str
    apis: list[ApiDoc] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    about: About = field(default_factory=About)

    def add(self, piece: Piece) -> None:
        if isinstance(piece, ApiDoc):
            self.apis.append(piece)
        elif isinstance(piece, Passage):
            self.passages.append(piece)
        else:
            self.about = piece


def collect(
    docs_sources: Sequence[DocsSource],
    library: str,
    import_name: str | None,
    on_skip: Skip,
    progress: Progress | None = None,
) -> CollectedPieces:
    """Read all files of the sources; what cannot be read is skipped with a reason.

    Args:
        docs_sources: where the documentation is.
        library: the library name to give its APIs.
        import_name: the library's module; None: the one that most of the names begin with.
        on_skip: called with a file and the reason why it was left out.
        progress: called as ("docs", files read, files found).
    """
    files = [file for each in docs_sources for file in _found(each, on_skip)]
    lists = [file for file in files if file.suffix in sources.LISTS]
    inventories = _inventories(files, on_skip)
    start = import_name or "".join(char if char.isalnum() else "_" for char in library)
    pieces = CollectedPieces(start)
    for file in lists:
        _read(file, Page(file.path, library, start, file.url), pieces, on_skip)
    if import_name is None:
        paths = [doc.path for doc in pieces.apis]
        paths += [name.path for inventory in inventories.values() for name in inventory.names]
        tops = Counter(path.partition(".")[0] for path in paths)
        pieces.import_name = tops.most_common(1)[0][0] if tops else start
    rest = [file for file in files if file.suffix not in (*sources.LISTS, sources.INVENTORY)]
    for number, file in enumerate(rest, start=1):
        page = Page(file.path, library, pieces.import_name, file.url)
        _read(file, page, pieces, on_skip)
        if progress is not None:
            progress("docs", number, len(rest))
    for file, inventory in inventories.items():
        page = Page(file.path, library, pieces.import_name, file.url)
        pieces.apis += _listed(page, inventory)
        pieces.about = _or_else(pieces.about, About(inventory.project, inventory.version))
    return pieces


def _found(source: DocsSource, on_skip: Skip) -> tuple[DocsFile, ...]:
    files = sources.files_of(source, on_skip)
    if not files:
        there = (
            "holds no file that is documentation" if os.path.exists(source.path) else "is not there"
        )
        on_skip(source.origin, f"it {there}")
    if is_address(source.origin) and (note := sources.left_out(source)):
        on_skip(source.origin, note)
    return files


def _inventories(files: list[DocsFile], on_skip: Skip) -> dict[DocsFile, Inventory]:
    inventories = {}
    for file in files:
        if file.suffix == sources.INVENTORY:
            try:
                inventories[file] = read_inventory(file.path)
            except (UnreadableDocs, UnreadableSource) as error:
                on_skip(file.url or str(file.path), str(error))
    return inventories


def _listed(page: Page, inventory: Inventory) -> Iterator[ApiDoc]:
    """The public names of an inventory, each located at the page that describes it."""
    for name in inventory.names:
        parts = name.path.split(".")
        is_own = is_in_package(name.path, page.import_name)
        if not is_own or any(part.startswith("_") for part in parts):
            continue
        if page.url is not None:
            place = {"url": urljoin(page.url, name.uri)}
        else:
            file = page.path.parent / name.uri.partition("#")[0]
            place = {"file": str(file if file.is_file() else page.path)}
        yield ApiDoc.model_validate(
            {"path": name.path, "kind": name.kind, "library": page.library, **place}
            | {"signature": parts[-1]}
        )


def _read(file: DocsFile, page: Page, pieces: CollectedPieces, on_skip: Skip) -> None:
    try:
        if file.suffix in sources.LISTS:
            for doc in read_lines(page, on_skip):
                pieces.add(doc)
            return
        text = _text(file)
        if file.suffix in sources.SPECIFICATIONS:
            if not is_openapi(text):
                raise UnreadableDocs("it is no OpenAPI file")
            reader: Callable[[Page, str], Iterator[Piece]] = read_openapi
        else:
            reader = _READERS[file.suffix]
        for piece in reader(page, text):
            pieces.add(piece)
    except (UnreadableDocs, UnreadableSource, OSError, RecursionError, MemoryError) as error:
        on_skip(file.url or str(file.path), str(error) or type(error).__name__)


def _text(file: DocsFile) -> str:
    """The file's text; raises UnreadableSource if too large, UnreadableDocs if not text."""
    content = read_bytes(file.path, MAX_PAGE_BYTES)
    if file.suffix == ".py":
        return decode_python(content)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise UnreadableDocs("it is not UTF-8 text") from None


def _or_else(one: About, other: About) -> About:
    return About(
        one.name or other.name, one.version or other.version, one.overview or other.overview
    )
