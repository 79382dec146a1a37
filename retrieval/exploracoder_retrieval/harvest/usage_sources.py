"""What shows how a library is used: its README, its examples, the code in its docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.files import Skip, decode_python, entries, is_folder, read_bytes, walk
from exploracoder_retrieval.harvest.docs.code import notebook_cells, without_magics
from exploracoder_retrieval.harvest.docstrings import code_fences, strip_markup
from exploracoder_retrieval.harvest.result import UsageExample

MAX_OVERVIEW = 40_000
MAX_EXAMPLES = 200
MAX_EXAMPLE_FILES = 60
MAX_FILE_SIZE_BYTES = 200_000

_README = re.compile(r"^readme(\.(md|rst|txt))?$", re.IGNORECASE)
_EXAMPLE_FOLDERS = ("examples", "example", "docs", "doc", "tutorials", "notebooks")
_HEADING = re.compile(r"^#+\s*(.+?)\s*#*$")


def read_overview(folder: Path, on_skip: Skip) -> str:
    """The README at the top of a source tree; empty if there is none that can be read."""
    for entry in entries(folder):
        if _README.match(entry.name) and not is_folder(entry):
            return _read(Path(entry.path), folder, on_skip)[:MAX_OVERVIEW]
    return ""


def collect_examples(
    overview: str,
    root: Path | None,
    docs: Iterable[ApiDoc],
    doc_examples: Iterable[UsageExample] = (),
    on_skip: Skip = lambda _name, _reason: None,
) -> tuple[UsageExample, ...]:
    """Collect examples, those meant for readers first; ``root`` is a source tree's top folder.

    ``doc_examples`` are those from documentation given beside the library.
    """
    examples: dict[str, UsageExample] = {}
    sources = (
        overview_examples(overview),
        _tree_examples(root, on_skip),
        doc_examples,
        _docstring_examples(docs),
    )
    for source in sources:
        for example in source:
            examples.setdefault(example.code, example)
            if len(examples) >= MAX_EXAMPLES:
                return tuple(examples.values())
    return tuple(examples.values())


def overview_examples(overview: str) -> Iterator[UsageExample]:
    """The Python code fences of a README, each with the prose before it as its title."""
    for start, code in code_fences(overview):
        yield UsageExample(code=code, title=_title_before(overview, start), origin="README")


def _title_before(text: str, offset: int) -> str:
    for line in reversed(text[:offset].splitlines()):
        line = line.strip()
        if line.startswith("```"):
            return ""
        if line and not line.startswith(("|", "<", "[!", "!")):
            heading = _HEADING.match(line)
            return " ".join(strip_markup(heading[1] if heading else line).split()).rstrip(":")[:200]
    return ""


def _tree_examples(root: Path | None, on_skip: Skip) -> Iterator[UsageExample]:
    if root is None:
        return
    for file in islice(example_files(root, on_skip), MAX_EXAMPLE_FILES):
        text = _read(file, root, on_skip)
        code = _notebook_code(text) if file.suffix == ".ipynb" else text.strip()
        if code:
            title = file.stem.replace("_", " ").replace("-", " ")
            yield UsageExample(code=code, title=title, origin=str(file.relative_to(root)))


def example_files(root: Path, on_skip: Skip | None = None) -> Iterator[Path]:
    """The scripts and notebooks in a source tree's example folders."""
    for name in _EXAMPLE_FOLDERS:
        top = root / name
        if top.is_dir() and not top.is_symlink():
            for entry in walk(top, _is_example, _is_hidden, inside=root, on_skip=on_skip):
                yield Path(entry.path)


def _is_example(name: str) -> bool:
    return name.endswith((".py", ".ipynb")) and name not in {"conf.py", "setup.py"}


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _docstring_examples(docs: Iterable[ApiDoc]) -> Iterator[UsageExample]:
    for doc in docs:
        for code in doc.examples:
            yield UsageExample(code=code, title=doc.summary, origin=doc.path)


def _notebook_code(text: str) -> str:
    try:
        cells = notebook_cells(text, only_code=True)
    except UnreadableSource:
        return ""
    return without_magics("\n\n".join(source for kind, source in cells if kind == "code"))


def _read(file: Path, root: Path, on_skip: Skip) -> str:
    try:
        content = read_bytes(file, MAX_FILE_SIZE_BYTES, inside=root)
        return decode_python(content) if file.suffix == ".py" else content.decode(errors="replace")
    except UnreadableSource as error:
        on_skip(str(file), str(error))
        return ""
